// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SIMD fields of an attribute: nearly right. What makes sense is drawn first, and
 * then, in one of six, something is changed in it.
 */
#include <asm/perf_regs.h>
#include <linux/const.h>

#include "attr.h"
#include "simd_regs_record.h"

/* A mask with one bit, some or all of @all */
static __u64 some_mask(struct rand *r, __u64 all)
{
	switch (below(r, 4)) {
	case 0:
		return all;
	case 1:
		return some_of(r, all, 16) ?: 1;
	default:
		return some_of(r, all, 2) ?: all;
	}
}

#ifdef __aarch64__

static void draw_vectors(struct rand *r, struct perf_event_attr *attr, __u64 *all)
{
	static const __u16 widths[] = { 2, 2, 4, 8, 16, 32 };

	attr->sample_simd_vec_reg_qwords = pick(r, widths);
	*all = 0xffffffff;
}

static void draw_predicates(struct rand *r, struct perf_event_attr *attr, __u64 *all)
{
	unsigned int vec = attr->sample_simd_vec_reg_qwords;

	attr->sample_simd_pred_reg_qwords = vec ? (vec + 7) / 8 : 1;
	*all = one_in(r, 4) ? 0x10000 : 0x1ffff;
}

static void draw_words(struct rand *r, __u64 *regs)
{
	(void)r;
	(void)regs;
}

#else

static void draw_vectors(struct rand *r, struct perf_event_attr *attr, __u64 *all)
{
	static const __u16 widths[] = { 2, 2, 4, 8 };

	attr->sample_simd_vec_reg_qwords = pick(r, widths);
	*all = attr->sample_simd_vec_reg_qwords == 8 ? 0xffffffff : 0xffff;
}

static void draw_predicates(struct rand *r, struct perf_event_attr *attr, __u64 *all)
{
	(void)r;
	attr->sample_simd_pred_reg_qwords = 1;
	*all = 0xff;
}

/* R16-R31 and SSP have the place of the old bits for XMM. */
static void draw_words(struct rand *r, __u64 *regs)
{
	*regs &= _BITULL(PERF_REG_X86_R16) - 1;
	if (one_in(r, 4))
		*regs |= some_mask(r, SIMD_EGPR_REGS);
	if (one_in(r, 4))
		*regs |= SIMD_SSP_REG;
}

#endif

static void spoil(struct rand *r, struct perf_event_attr *attr)
{
	switch (below(r, 8)) {
	case 0:
		attr->sample_simd_regs_enabled = below(r, 4);
		break;
	case 1:
		attr->sample_simd_vec_reg_qwords += below(r, 5) - 2;
		break;
	case 2:
		attr->sample_simd_pred_reg_qwords += below(r, 3) - 1;
		break;
	case 3:
		attr->sample_simd_vec_reg_user ^= 1ULL << below(r, 64);
		break;
	case 4:
		attr->sample_simd_vec_reg_intr ^= 1ULL << below(r, 64);
		break;
	case 5:
		attr->sample_simd_pred_reg_user ^= 1U << below(r, 32);
		break;
	case 6:
		attr->sample_simd_pred_reg_intr ^= 1U << below(r, 32);
		break;
	case 7:
		attr->sample_regs_intr ^= 1ULL << below(r, 64);
		break;
	}
}

/* sample_type and sample_regs_* are there. */
void make_simd(struct rand *r, struct perf_event_attr *attr)
{
	bool user, intr;
	__u64 all;

	/* With the marker of a task each word of it is known. */
	if (one_in(r, 2)) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
		attr->sample_regs_user |= SIMD_MARKER_REGS;
	}
	user = attr->sample_type & PERF_SAMPLE_REGS_USER;
	intr = attr->sample_type & PERF_SAMPLE_REGS_INTR;
	if (!user && !intr && !one_in(r, 32))
		return;
	attr->sample_simd_regs_enabled = 1;
	draw_words(r, &attr->sample_regs_user);
	draw_words(r, &attr->sample_regs_intr);
	if (!one_in(r, 8)) {
		draw_vectors(r, attr, &all);
		if (user && !one_in(r, 4))
			attr->sample_simd_vec_reg_user = some_mask(r, all);
		if (intr && !one_in(r, 4))
			attr->sample_simd_vec_reg_intr = some_mask(r, all);
		if (!attr->sample_simd_vec_reg_user && !attr->sample_simd_vec_reg_intr)
			attr->sample_simd_vec_reg_qwords = 0;
	}
	if (one_in(r, 3)) {
		draw_predicates(r, attr, &all);
		if (user && !one_in(r, 4))
			attr->sample_simd_pred_reg_user = some_mask(r, all);
		if (intr && !one_in(r, 4))
			attr->sample_simd_pred_reg_intr = some_mask(r, all);
		if (!attr->sample_simd_pred_reg_user && !attr->sample_simd_pred_reg_intr)
			attr->sample_simd_pred_reg_qwords = 0;
	}
	if (one_in(r, 6))
		spoil(r, attr);
}
