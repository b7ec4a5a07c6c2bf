// SPDX-License-Identifier: GPL-2.0
/*
 * The registers that x86 samples have, for the judging of them.
 */
#include "simd_regs_check_arch.h"
#include "simd_regs_pattern.h"
#include "simd_regs_run.h"

const unsigned int simd_arch_pred_class = SIMD_OPMASK;

unsigned int simd_arch_vector_class(__u64 qwords)
{
	return qwords > 4 ? SIMD_ZMM : qwords > 2 ? SIMD_YMM : SIMD_XMM;
}

void simd_attr_parts(struct perf_event_attr *attr, unsigned int parts)
{
	if (parts & SIMD_MARK_ZMM)
		simd_attr_vectors(attr, 8, 0xffffffff, 0xffffffff);
	else
		simd_attr_vectors(attr, parts & SIMD_MARK_YMM ? 4 : 2, 0xffff, 0xffff);
	if (parts & SIMD_MARK_OPMASK) {
		attr->sample_simd_pred_reg_qwords = 1;
		attr->sample_simd_pred_reg_intr = 0xff;
		attr->sample_simd_pred_reg_user = 0xff;
	}
	if (parts & SIMD_MARK_EGPR) {
		attr->sample_regs_intr |= SIMD_EGPR_REGS;
		attr->sample_regs_user |= SIMD_EGPR_REGS;
	}
}

/* In 32-bit code there is no R8. */
bool simd_arch_marker(const struct simd_block *b, __u64 *marker)
{
	__u64 low, high;

	if (!(b->abi & PERF_SAMPLE_REGS_ABI_32))
		return simd_block_reg(b, SIMD_REG_MARKER, marker);
	if (!simd_block_reg(b, PERF_REG_X86_SI, &low) ||
	    !simd_block_reg(b, PERF_REG_X86_DI, &high))
		return false;
	*marker = high << 32 | (__u32)low;
	return true;
}

/* By the old bits too */
bool simd_arch_asks(const struct perf_event_attr *attr, bool user)
{
	if (!attr->sample_simd_regs_enabled)
		return (user ? attr->sample_regs_user : attr->sample_regs_intr) >>
		       PERF_REG_X86_XMM0;

	return user ? attr->sample_simd_vec_reg_user || attr->sample_simd_pred_reg_user :
		      attr->sample_simd_vec_reg_intr || attr->sample_simd_pred_reg_intr;
}

bool simd_arch_whole(const struct perf_event_attr *attr, const struct simd_sample *s,
		     const struct subject *who, const struct simd_block *b)
{
	(void)s;
	(void)who;
	return b->nr_vectors == (unsigned int)__builtin_popcountll(b->vec_mask) &&
	       b->nr_pred == (unsigned int)__builtin_popcountll(b->pred_mask) &&
	       (!attr->sample_simd_regs_enabled || !b->nr_vectors ||
		b->vector_qwords == attr->sample_simd_vec_reg_qwords);
}

bool simd_arch_asks_for_gprs(const struct perf_event_attr *attr, bool user)
{
	__u64 gprs = user ? attr->sample_regs_user : attr->sample_regs_intr;

	return attr->sample_simd_regs_enabled && gprs & SIMD_EGPR_REGS;
}

/* R16-R31 */
static enum verdict check_egprs(struct simd_check *check, const struct simd_sample *s,
				const struct subject *who, bool user)
{
	const struct simd_block *b = user ? &s->user : &s->intr;
	__u64 mask = b->gpr_mask & SIMD_EGPR_REGS;
	const __u64 *data;

	if (!check->attr->sample_simd_regs_enabled || !mask)
		return MATCH;
	data = b->regs + __builtin_popcountll(b->gpr_mask & ((1ULL << PERF_REG_X86_R16) - 1));
	return simd_check_regs(check, s, who, user ? "user" : "intr", data, SIMD_REG_EGPR,
			       mask >> PERF_REG_X86_R16, __builtin_popcountll(mask), 1);
}

/* The shadow stack pointer is in R9 as well; the kernel runs without one. */
static enum verdict check_ssp(struct simd_check *check, const struct simd_sample *s,
			      const struct subject *who, bool user)
{
	bool kernel = !user && !simd_in_user_mode(s);
	const struct simd_block *b = user ? &s->user : &s->intr;
	__u64 ssp, expected = 0;

	if (!check->attr->sample_simd_regs_enabled ||
	    !simd_block_reg(b, PERF_REG_X86_SSP, &ssp))
		return MATCH;
	if (!kernel &&
	    (!who->marked || !simd_block_reg(&s->user, PERF_REG_X86_R9, &expected)))
		return UNMARKED;
	if (ssp == expected)
		return MATCH;
	simd_report(check, s, who, user ? "user" : "intr", "wrong", SIMD_REG_SSP, 0, ssp);
	return WRONG;
}

enum verdict simd_arch_check_gprs(struct simd_check *check, const struct simd_sample *s,
				  const struct subject *who, bool user,
				  struct simd_side_count *n)
{
	const struct simd_block *b = user ? &s->user : &s->intr;
	enum verdict egprs = check_egprs(check, s, who, user);
	enum verdict ssp = check_ssp(check, s, who, user);

	simd_count_class(n, SIMD_EGPRS, simd_arch_asks_for_gprs(check->attr, user), egprs);
	simd_count_class(n, SIMD_SSP, check->attr->sample_simd_regs_enabled &&
			 b->gpr_mask & SIMD_SSP_REG, ssp);
	return egprs > ssp ? egprs : ssp;
}
