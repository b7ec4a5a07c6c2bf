// SPDX-License-Identifier: GPL-2.0
/*
 * The registers that arm64 samples have, for the judging of them. How many there
 * are, and how wide, is up to what the task was doing.
 */
#include <stdint.h>

#include "simd_regs_check_arch.h"
#include "simd_regs_pattern.h"
#include "simd_regs_run.h"

#define FFR	0x10000

/* What a program of 32 bits has of them */
#define VECTORS_32	0xffff

const unsigned int simd_arch_pred_class = SIMD_P_FFR;

unsigned int simd_arch_vector_class(__u64 qwords)
{
	return qwords > 2 ? SIMD_Z : SIMD_V;
}

static unsigned int pred_qwords(unsigned int vq)
{
	return (vq + 3) / 4;
}

void simd_attr_parts(struct perf_event_attr *attr, unsigned int parts)
{
	unsigned int vq = parts & SIMD_MARK_Z ? simd_marker_vq(parts) : 1;
	__u32 preds = (parts & SIMD_MARK_P ? FFR - 1 : 0) |
		      (parts & SIMD_MARK_FFR ? FFR : 0);

	simd_attr_vectors(attr, 2 * vq, UINT32_MAX, UINT32_MAX);
	attr->sample_simd_pred_reg_qwords = preds ? pred_qwords(vq) : 0;
	attr->sample_simd_pred_reg_intr = preds;
	attr->sample_simd_pred_reg_user = preds;
}

/* In 32-bit code there is no X28. */
bool simd_arch_marker(const struct simd_block *b, __u64 *marker)
{
	__u64 low, high;

	if (!(b->abi & PERF_SAMPLE_REGS_ABI_32))
		return simd_block_reg(b, SIMD_REG_MARKER, marker);
	if (!simd_block_reg(b, PERF_REG_ARM64_X10, &low) ||
	    !simd_block_reg(b, PERF_REG_ARM64_X11, &high))
		return false;
	*marker = high << 32 | (__u32)low;
	return true;
}

bool simd_arch_asks(const struct perf_event_attr *attr, bool user)
{
	return user ? attr->sample_simd_vec_reg_user || attr->sample_simd_pred_reg_user :
		      attr->sample_simd_vec_reg_intr || attr->sample_simd_pred_reg_intr;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * All that the task has in the mode that it is in, as far as it was asked for. The
 * kernel may be saving FFR: then there are no predicates.
 */
bool simd_arch_whole(const struct perf_event_attr *attr, const struct simd_sample *s,
		     const struct subject *who, const struct simd_block *b)
{
	unsigned int vectors = __builtin_popcountll(b->vec_mask), preds = 0, vq = 1;
	bool kernel = s->cpumode != PERF_RECORD_MISC_USER;

	if (!who->marked || who->marker & SIMD_MARK_MORE)
		return true;
	if (who->marker & SIMD_MARK_32BIT)
		vectors = __builtin_popcountll(b->vec_mask & VECTORS_32);
	if (who->marker & SIMD_MARK_Z) {
		vq = simd_marker_vq(who->marker);
		preds = __builtin_popcountll(who->marker & SIMD_MARK_FFR ?
					     b->pred_mask : b->pred_mask & ~FFR);
	}
	if (kernel && !b->nr_pred)
		preds = 0;

	return b->nr_vectors == vectors && b->nr_pred == preds &&
	       (!vectors ||
		b->vector_qwords == least(2 * vq, attr->sample_simd_vec_reg_qwords)) &&
	       (!preds ||
		b->pred_qwords == least(pred_qwords(vq), attr->sample_simd_pred_reg_qwords));
}

/* VG is a GPR like others. */
bool simd_arch_asks_for_gprs(const struct perf_event_attr *attr, bool user)
{
	(void)attr;
	(void)user;
	return false;
}

enum verdict simd_arch_check_gprs(struct simd_check *check, const struct simd_sample *s,
				  const struct subject *who, bool user,
				  struct simd_side_count *n)
{
	(void)check;
	(void)s;
	(void)who;
	(void)user;
	(void)n;
	return MATCH;
}
