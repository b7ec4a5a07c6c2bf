// SPDX-License-Identifier: GPL-2.0
/*
 * Check the SIMD part of a perf_event_attr. Invalid values are refused when the
 * event is opened, so that a bit that gets a meaning later can never have been
 * set by accident, and no sample can be too large.
 */
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>

#include "simd_regs.h"

/* What perf_event_validate_size() allows PERF_SAMPLE_READ of a group. */
#define READ_GROUP_MAX_BYTES	(16 * 1024)

/* The value, both times, the ID and what was lost */
#define READ_MAX_BYTES		(5 * sizeof(u64))

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

/* The ABI and the registers of @mask */
static u64 gpr_bytes(u64 mask)
{
	return (1 + hweight64(mask)) * sizeof(u64);
}

/* The largest block of registers that a side can have, 0 if it is not sampled */
static u64 side_max_bytes(const struct perf_event_attr *attr, enum perf_simd_side side)
{
	bool user = side == PERF_SIMD_USER;
	u64 mask = user ? attr->sample_regs_user : attr->sample_regs_intr;
	u64 vec = user ? attr->sample_simd_vec_reg_user : attr->sample_simd_vec_reg_intr;
	u32 pred = user ? attr->sample_simd_pred_reg_user : attr->sample_simd_pred_reg_intr;
	u64 size = gpr_bytes(mask);

	if (!(attr->sample_type & (user ? PERF_SAMPLE_REGS_USER : PERF_SAMPLE_REGS_INTR)))
		return 0;

	if (vec || pred)
		size += sizeof_field(struct perf_simd_layout, head) +
			hweight64(vec) * attr->sample_simd_vec_reg_qwords * sizeof(u64) +
			hweight32(pred) * attr->sample_simd_pred_reg_qwords * sizeof(u64);

	return size;
}

/*
 * The largest sample that an event can have. Not counted are user stack and AUX
 * data, which get the space that is left, and raw data, whose size is not in
 * the attr.
 */
static u64 sample_max_bytes(const struct perf_event_attr *attr)
{
	u64 size = sizeof(struct perf_event_header);
	u64 type = attr->sample_type;

	/* Every bit stands for one word at least, be it a count or a size. */
	size += hweight64(type) * sizeof(u64);

	if (type & PERF_SAMPLE_READ)
		size += attr->read_format & PERF_FORMAT_GROUP ? READ_GROUP_MAX_BYTES :
								READ_MAX_BYTES;
	if (type & PERF_SAMPLE_CALLCHAIN)
		size += (attr->sample_max_stack + PERF_MAX_CONTEXTS_PER_STACK) *
			sizeof(u64);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		size += sizeof(u64) + BRANCH_MAX_ENTRIES *
			(sizeof(struct perf_branch_entry) + sizeof(u64));

	return size + side_max_bytes(attr, PERF_SIMD_USER) +
	       side_max_bytes(attr, PERF_SIMD_INTR);
}

/**
 * perf_simd_regs_set_bounds - work out how large the blocks of a sample can be
 * @attr: the event's attribute, for which perf_simd_regs_validate() returned 0
 * @simd: gets the bounds
 *
 * Context: any.
 */
void perf_simd_regs_set_bounds(const struct perf_event_attr *attr,
			       struct perf_simd_event *simd)
{
	u64 tail = 0;

	simd->gpr_bytes[PERF_SIMD_USER] = gpr_bytes(attr->sample_regs_user);
	simd->gpr_bytes[PERF_SIMD_INTR] = gpr_bytes(attr->sample_regs_intr);

	/* The user stack and AUX data get what space is left, but their sizes need some. */
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		tail += 2 * sizeof(u64);
	if (attr->sample_type & PERF_SAMPLE_AUX)
		tail += sizeof(u64);
	simd->max_bytes[PERF_SIMD_USER] = side_max_bytes(attr, PERF_SIMD_USER) + tail;
	simd->max_bytes[PERF_SIMD_INTR] = side_max_bytes(attr, PERF_SIMD_INTR) + tail;
	/* The vectors of the user side do not drive out the words of the other one. */
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		simd->max_bytes[PERF_SIMD_USER] += simd->gpr_bytes[PERF_SIMD_INTR];
	simd->check_sample = attr->sample_type & PERF_SAMPLE_RAW ||
			     attr->type == PERF_TYPE_TRACEPOINT;
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

	/* A width needs registers, and registers need a width. */
	if (vec != !!attr->sample_simd_vec_reg_qwords ||
	    pred != !!attr->sample_simd_pred_reg_qwords)
		return -EINVAL;

	if (sample_max_bytes(attr) > U16_MAX)
		return -EINVAL;

	if (!IS_ENABLED(CONFIG_PERF_SIMD_REGS))
		return -EOPNOTSUPP;

	return arch_perf_simd_regs_validate(attr);
}
