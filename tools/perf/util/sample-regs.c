// SPDX-License-Identifier: GPL-2.0
/*
 * The register block of a sample. The kernel writes
 *
 *	u64 abi;
 *	u64 regs[weight(mask)];				unless abi is 0
 *	u64 nr_vectors, vector_qwords, nr_pred, pred_qwords;	if abi has ABI_SIMD
 *	u64 data[nr_vectors * vector_qwords + nr_pred * pred_qwords];
 *
 * Nothing in a file can be trusted: each part is checked against the end of the
 * event before it is looked at, in whole words that are left. A sample of the
 * other byte order has been swapped as an array of u64 before it gets here,
 * which is right for every part of the block.
 */
#include <string.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <perf/event.h>

#include "debug.h"
#include "sample.h"
#include "sample-regs.h"

enum {
	SIMD_NR_VECTORS,
	SIMD_VECTOR_QWORDS,
	SIMD_NR_PRED,
	SIMD_PRED_QWORDS,
	SIMD_HEADER_QWORDS,
};

/*
 * header.size is a u16: no word of a valid SIMD header is larger than this, and
 * the product of two that are not fits easily.
 */
#define SIMD_HEADER_WORD_MAX	(UINT16_MAX / sizeof(u64))

/* The place in an event that is being parsed. */
struct cursor {
	const union perf_event *event;
	const __u64 *pos;
	const char *side;
};

static size_t cursor__left(const struct cursor *cur)
{
	const void *end = (const void *)cur->event + cur->event->header.size;

	if ((const void *)cur->pos >= end)
		return 0;
	return (end - (const void *)cur->pos) / sizeof(u64);
}

__printf(2, 3)
static const __u64 *bad_block(const struct cursor *cur, const char *fmt, ...)
{
	char msg[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(msg, sizeof(msg), fmt, args);
	va_end(args);

	pr_err("ERROR: malformed %s registers at byte %zu of a sample of %u: %s\n", cur->side,
	       (size_t)((const void *)cur->pos - (const void *)cur->event),
	       cur->event->header.size, msg);
	return NULL;
}

/* cur->pos is at the SIMD header. Returns the place after the data. */
static const __u64 *parse_simd(struct simd_regs *simd, struct cursor *cur)
{
	const __u64 *header = cur->pos;
	size_t left = cursor__left(cur), size;

	if (left < SIMD_HEADER_QWORDS)
		return bad_block(cur, "the SIMD header needs %d words, %zu left",
				 SIMD_HEADER_QWORDS, left);

	for (int i = 0; i < SIMD_HEADER_QWORDS; i++) {
		if (header[i] > SIMD_HEADER_WORD_MAX)
			return bad_block(cur, "word %d of the SIMD header is %#llx",
					 i, (unsigned long long)header[i]);
	}

	simd->nr_vectors = header[SIMD_NR_VECTORS];
	simd->vector_qwords = header[SIMD_VECTOR_QWORDS];
	simd->nr_pred = header[SIMD_NR_PRED];
	simd->pred_qwords = header[SIMD_PRED_QWORDS];

	size = simd_regs__qwords(simd);
	if (size > left - SIMD_HEADER_QWORDS)
		return bad_block(cur, "%u * %u and %u * %u words need %zu, %zu left",
				 simd->nr_vectors, simd->vector_qwords, simd->nr_pred,
				 simd->pred_qwords, size, left - SIMD_HEADER_QWORDS);

	/* The masks tell which registers these are. */
	if (simd->nr_vectors > hweight64(simd->vec_mask) ||
	    simd->nr_pred > hweight64(simd->pred_mask))
		return bad_block(cur, "%u vectors and %u predicates, asked for were %lu and %lu",
				 simd->nr_vectors, simd->nr_pred,
				 hweight64(simd->vec_mask), hweight64(simd->pred_mask));

	if ((simd->nr_vectors && !simd->vector_qwords) || (simd->nr_pred && !simd->pred_qwords))
		return bad_block(cur, "registers without a width");

	simd->data = (const u64 *)header + SIMD_HEADER_QWORDS;
	return header + SIMD_HEADER_QWORDS + size;
}

/**
 * regs_dump__parse - find the registers in a sample
 * @regs: what to fill in; it points into the event afterwards
 * @attr: the event's attr, which says what has been asked for
 * @intr: PERF_SAMPLE_REGS_INTR, else PERF_SAMPLE_REGS_USER
 * @event: the sample, in the byte order of this machine
 * @pos: the register block's place in it
 *
 * Returns the place after the block, or NULL after saying what is wrong with it.
 */
const __u64 *regs_dump__parse(struct regs_dump *regs, const struct perf_event_attr *attr, bool intr,
			      const union perf_event *event, const __u64 *pos)
{
	struct cursor cur = {
		.event	= event,
		.pos	= pos,
		.side	= intr ? "intr" : "user",
	};
	size_t nr;

	if (!regs)
		return NULL;

	if (!cursor__left(&cur))
		return bad_block(&cur, "the sample ends before them");

	regs->abi = *cur.pos++;
	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return cur.pos;

	regs->mask = intr ? attr->sample_regs_intr : attr->sample_regs_user;
	nr = hweight64(regs->mask);
	if (nr > cursor__left(&cur))
		return bad_block(&cur, "they need %zu words, %zu left", nr, cursor__left(&cur));

	regs->regs = (u64 *)cur.pos;
	cur.pos += nr;

	if (!(regs->abi & PERF_SAMPLE_REGS_ABI_SIMD))
		return cur.pos;

	if (intr) {
		regs->simd.vec_mask = attr->sample_simd_vec_reg_intr;
		regs->simd.pred_mask = attr->sample_simd_pred_reg_intr;
	} else {
		regs->simd.vec_mask = attr->sample_simd_vec_reg_user;
		regs->simd.pred_mask = attr->sample_simd_pred_reg_user;
	}
	return parse_simd(&regs->simd, &cur);
}

/**
 * regs_dump__size - the bytes that a register block takes in a sample
 * @regs: the registers, or NULL if the sample has none
 */
size_t regs_dump__size(const struct regs_dump *regs)
{
	size_t qwords = 1;

	if (!regs || !regs->abi)
		return qwords * sizeof(u64);

	qwords += hweight64(regs->mask);
	if (regs->abi & PERF_SAMPLE_REGS_ABI_SIMD)
		qwords += SIMD_HEADER_QWORDS + simd_regs__qwords(&regs->simd);

	return qwords * sizeof(u64);
}

/**
 * regs_dump__synthesize - write a register block
 * @regs: the registers, or NULL if the sample has none
 * @pos: where to, with room for regs_dump__size()
 *
 * Returns the place after the block.
 */
__u64 *regs_dump__synthesize(const struct regs_dump *regs, __u64 *pos)
{
	size_t nr;

	if (!regs || !regs->abi) {
		*pos++ = PERF_SAMPLE_REGS_ABI_NONE;
		return pos;
	}

	*pos++ = regs->abi;
	nr = hweight64(regs->mask);
	memcpy(pos, regs->regs, nr * sizeof(u64));
	pos += nr;

	if (!(regs->abi & PERF_SAMPLE_REGS_ABI_SIMD))
		return pos;

	pos[SIMD_NR_VECTORS] = regs->simd.nr_vectors;
	pos[SIMD_VECTOR_QWORDS] = regs->simd.vector_qwords;
	pos[SIMD_NR_PRED] = regs->simd.nr_pred;
	pos[SIMD_PRED_QWORDS] = regs->simd.pred_qwords;
	pos += SIMD_HEADER_QWORDS;

	nr = simd_regs__qwords(&regs->simd);
	/* A source without data has nothing to copy, which memcpy() wants a pointer for. */
	if (nr)
		memcpy(pos, regs->simd.data, nr * sizeof(u64));
	return pos + nr;
}
