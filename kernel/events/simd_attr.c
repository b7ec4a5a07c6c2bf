// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether the SIMD part of a perf_event_attr makes sense. What does
 * not is refused when the event is opened, so that a bit that gets a meaning
 * later can never have been set by accident, and no sample can be too large.
 */
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>

/* What perf_event_validate_size() allows PERF_SAMPLE_READ of a group. */
#define READ_MAX_BYTES		(16 * 1024)

/* No PMU's branch stack is deeper. An entry is followed by a counter word. */
#define BRANCH_MAX_ENTRIES	64

static bool has_simd_fields(const struct perf_event_attr *attr)
{
	return attr->sample_simd_pred_reg_qwords ||
	       attr->sample_simd_vec_reg_qwords ||
	       attr->sample_simd_pred_reg_intr ||
	       attr->sample_simd_pred_reg_user ||
	       attr->sample_simd_vec_reg_intr ||
	       attr->sample_simd_vec_reg_user;
}

static u64 regs_max_bytes(const struct perf_event_attr *attr,
			  u64 mask, u64 vec, u32 pred)
{
	u64 words = 1 + hweight64(mask);

	if (vec || pred)
		words += sizeof_field(struct perf_simd_layout, head) / sizeof(u64) +
			 hweight64(vec) * attr->sample_simd_vec_reg_qwords +
			 hweight32(pred) * attr->sample_simd_pred_reg_qwords;

	return words * sizeof(u64);
}

/* The largest sample an event can have, but for raw and AUX data. */
static u64 sample_max_bytes(const struct perf_event_attr *attr)
{
	u64 size = sizeof(struct perf_event_header);
	u64 type = attr->sample_type;

	/* Every bit stands for one word at least, be it a count or a size. */
	size += hweight64(type) * sizeof(u64);

	if (type & PERF_SAMPLE_READ)
		size += READ_MAX_BYTES;
	if (type & PERF_SAMPLE_CALLCHAIN)
		size += (attr->sample_max_stack + PERF_MAX_CONTEXTS_PER_STACK) *
			sizeof(u64);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		size += sizeof(u64) + BRANCH_MAX_ENTRIES *
			(sizeof(struct perf_branch_entry) + sizeof(u64));
	if (type & PERF_SAMPLE_STACK_USER)
		size += sizeof(u64) + attr->sample_stack_user;
	if (type & PERF_SAMPLE_REGS_USER)
		size += regs_max_bytes(attr, attr->sample_regs_user,
				       attr->sample_simd_vec_reg_user,
				       attr->sample_simd_pred_reg_user);
	if (type & PERF_SAMPLE_REGS_INTR)
		size += regs_max_bytes(attr, attr->sample_regs_intr,
				       attr->sample_simd_vec_reg_intr,
				       attr->sample_simd_pred_reg_intr);

	return size;
}

/**
 * perf_simd_regs_validate - check the SIMD fields of an attribute
 * @attr: as copied from user space, sample_max_stack filled in
 *
 * With sample_simd_regs_enabled this stands in for perf_reg_validate() too, as
 * the bits of sample_regs_user and sample_regs_intr then have other meanings.
 *
 * Context: task.
 * Return: 0, -EINVAL for what no kernel of this architecture can accept,
 * -EOPNOTSUPP for what this kernel or CPU lacks.
 */
int perf_simd_regs_validate(const struct perf_event_attr *attr)
{
	bool user = attr->sample_type & PERF_SAMPLE_REGS_USER;
	bool intr = attr->sample_type & PERF_SAMPLE_REGS_INTR;
	bool vec = attr->sample_simd_vec_reg_user || attr->sample_simd_vec_reg_intr;
	bool pred = attr->sample_simd_pred_reg_user || attr->sample_simd_pred_reg_intr;

	if (attr->__reserved_4)
		return -EINVAL;

	if (!attr->sample_simd_regs_enabled)
		return has_simd_fields(attr) ? -EINVAL : 0;

	if (attr->sample_simd_regs_enabled != 1)
		return -EINVAL;

	/* Registers need a side to be sampled on. */
	if (!user && !intr)
		return -EINVAL;
	if (!user && (attr->sample_simd_vec_reg_user || attr->sample_simd_pred_reg_user))
		return -EINVAL;
	if (!intr && (attr->sample_simd_vec_reg_intr || attr->sample_simd_pred_reg_intr))
		return -EINVAL;

	/* A width says nothing without registers, nor they without it. */
	if (vec != !!attr->sample_simd_vec_reg_qwords ||
	    pred != !!attr->sample_simd_pred_reg_qwords)
		return -EINVAL;

	if (sample_max_bytes(attr) > U16_MAX)
		return -EINVAL;

	if (!IS_ENABLED(CONFIG_PERF_SIMD_REGS))
		return -EOPNOTSUPP;

	return arch_perf_simd_regs_validate(attr);
}
