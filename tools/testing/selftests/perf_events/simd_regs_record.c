// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes PERF_RECORD_SAMPLE with its register blocks, after the description in
 * the UAPI header and nothing else.
 */
#include <stdint.h>
#include <string.h>

#include "simd_regs_record.h"

/* What is left of a record, in words: every field of a sample is made of them. */
struct cursor {
	const __u64 *pos, *end;
};

static bool get(struct cursor *c, __u64 *value)
{
	if (c->pos >= c->end)
		return false;
	*value = *c->pos++;
	return true;
}

/* Takes @nr words, or NULL if there are fewer. */
static const __u64 *take(struct cursor *c, __u64 nr)
{
	const __u64 *start = c->pos;

	if (nr > (__u64)(c->end - c->pos))
		return NULL;
	c->pos += nr;
	return start;
}

static unsigned int weight(__u64 mask)
{
	return __builtin_popcountll(mask);
}

static const char *decode_simd(struct cursor *c, struct simd_block *b,
			       __u16 vec_qwords, __u16 pred_qwords)
{
	if (!get(c, &b->nr_vectors) || !get(c, &b->vector_qwords) ||
	    !get(c, &b->nr_pred) || !get(c, &b->pred_qwords))
		return "SIMD header beyond the end";
	b->has_simd = true;

	if (b->nr_vectors > weight(b->vec_mask))
		return "more vectors than asked for";
	if (b->nr_pred > weight(b->pred_mask))
		return "more predicates than asked for";
	if (b->nr_vectors && (!b->vector_qwords || b->vector_qwords > vec_qwords))
		return "vectors of a width not asked for";
	if (b->nr_pred && (!b->pred_qwords || b->pred_qwords > pred_qwords))
		return "predicates of a width not asked for";

	b->vectors = take(c, b->nr_vectors * b->vector_qwords);
	b->preds = take(c, b->nr_pred * b->pred_qwords);
	if (!b->vectors || !b->preds)
		return "SIMD data beyond the end";
	return NULL;
}

#ifdef __aarch64__

/* Without sample_simd_regs_enabled there are GPRs only. */
static void decode_legacy(struct simd_block *b)
{
	(void)b;
}

#else

/* Without sample_simd_regs_enabled, two bits from 32 up are an XMM register. */
static void decode_legacy(struct simd_block *b)
{
	unsigned int reg;

	for (reg = 0; reg < 16; reg++) {
		if ((b->gpr_mask >> (PERF_REG_X86_XMM0 + 2 * reg) & 3) == 3)
			b->vec_mask |= 1ULL << reg;
	}
	if (!b->vec_mask)
		return;
	b->has_simd = true;
	b->nr_vectors = weight(b->vec_mask);
	b->vector_qwords = 2;
	b->vectors = b->regs + weight(b->gpr_mask & UINT32_MAX);
}

#endif

static const char *decode_block(struct cursor *c, struct simd_block *b,
				const struct perf_event_attr *attr, bool user)
{
	const __u64 width = PERF_SAMPLE_REGS_ABI_32 | PERF_SAMPLE_REGS_ABI_64;
	__u64 gprs = user ? attr->sample_regs_user : attr->sample_regs_intr;

	if (!get(c, &b->abi))
		return "register ABI beyond the end";
	if (b->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return NULL;
	if (b->abi & ~(width | PERF_SAMPLE_REGS_ABI_SIMD) || weight(b->abi & width) != 1)
		return "not a register ABI";

	b->gpr_mask = gprs;
	b->regs = take(c, weight(gprs));
	if (!b->regs)
		return "registers beyond the end";

	if (!attr->sample_simd_regs_enabled)
		decode_legacy(b);
	if (!(b->abi & PERF_SAMPLE_REGS_ABI_SIMD))
		return NULL;
	if (!attr->sample_simd_regs_enabled)
		return "SIMD block that nobody asked for";

	b->vec_mask = user ? attr->sample_simd_vec_reg_user :
			     attr->sample_simd_vec_reg_intr;
	b->pred_mask = user ? attr->sample_simd_pred_reg_user :
			      attr->sample_simd_pred_reg_intr;
	return decode_simd(c, b, attr->sample_simd_vec_reg_qwords,
			   attr->sample_simd_pred_reg_qwords);
}

/* The user's stack: size, data, and how much of it is real if there is any */
static bool skip_stack(struct cursor *c)
{
	__u64 size;

	if (!get(c, &size) || size % 8)
		return false;
	return !size || take(c, size / 8 + 1);
}

/* The values of the event, or of its group */
static bool skip_values(struct cursor *c, __u64 format)
{
	const __u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	unsigned int words = 1 + weight(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	__u64 nr = 1;

	if (format & PERF_FORMAT_GROUP && !get(c, &nr))
		return false;
	return nr < 1024 && take(c, weight(format & times) + nr * words);
}

const char *simd_decode(const struct perf_event_header *header,
			const struct perf_event_attr *attr,
			struct simd_sample *s)
{
	/* Only what lies before or between the register blocks in these tests */
	const __u64 known = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR;
	struct cursor c = {
		.pos = (const __u64 *)(header + 1),
		.end = (const __u64 *)((const char *)header + header->size),
	};
	__u64 type = attr->sample_type, value;
	const char *error;

	memset(s, 0, sizeof(*s));
	s->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (header->size % 8)
		return "size is not a multiple of 8";
	if (type & ~known)
		return "sample_type that this decoder does not know";
	if (type & PERF_SAMPLE_IDENTIFIER && !get(&c, &value))
		return "identifier beyond the end";
	if (type & PERF_SAMPLE_IP && !get(&c, &s->ip))
		return "IP beyond the end";
	if (type & PERF_SAMPLE_TID) {
		if (!get(&c, &value))
			return "TID beyond the end";
		s->pid = value;
		s->tid = value >> 32;
	}
	if (type & PERF_SAMPLE_TIME && !get(&c, &value))
		return "time beyond the end";
	if (type & PERF_SAMPLE_CPU) {
		if (!get(&c, &value))
			return "CPU beyond the end";
		s->cpu = value;
	}
	if (type & PERF_SAMPLE_PERIOD && !get(&c, &value))
		return "period beyond the end";
	if (type & PERF_SAMPLE_READ && !skip_values(&c, attr->read_format))
		return "values beyond the end";
	if (type & PERF_SAMPLE_CALLCHAIN && (!get(&c, &value) || !take(&c, value)))
		return "callchain beyond the end";
	if (type & PERF_SAMPLE_REGS_USER) {
		error = decode_block(&c, &s->user, attr, true);
		if (error)
			return error;
	}
	if (type & PERF_SAMPLE_STACK_USER && !skip_stack(&c))
		return "user stack beyond the end";
	if (type & PERF_SAMPLE_REGS_INTR) {
		error = decode_block(&c, &s->intr, attr, false);
		if (error)
			return error;
	}
	return c.pos == c.end ? NULL : "bytes left over";
}

bool simd_block_reg(const struct simd_block *b, unsigned int reg, __u64 *value)
{
	__u64 bit = 1ULL << reg;

	if (!(b->gpr_mask & bit))
		return false;
	*value = b->regs[weight(b->gpr_mask & (bit - 1))];
	return true;
}
