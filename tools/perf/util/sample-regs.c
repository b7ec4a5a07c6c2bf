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

static const char * const simd_header_names[] = {
	[SIMD_NR_VECTORS]	= "nr_vectors",
	[SIMD_VECTOR_QWORDS]	= "vector_qwords",
	[SIMD_NR_PRED]		= "nr_pred",
	[SIMD_PRED_QWORDS]	= "pred_qwords",
};

/* The layout of a block with any other bit is not known. */
#define KNOWN_ABI	(PERF_SAMPLE_REGS_ABI_32 | PERF_SAMPLE_REGS_ABI_64 | \
			 PERF_SAMPLE_REGS_ABI_SIMD)

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

/* cur->pos is at the field that is wrong, or that is missing. */
__printf(2, 3)
static const __u64 *cursor__bad_field(const struct cursor *cur, const char *fmt, ...)
{
	char msg[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(msg, sizeof(msg), fmt, args);
	va_end(args);

	pr_err("ERROR: malformed %s registers at byte %zu of a sample of %u bytes: %s\n", cur->side,
	       (size_t)((const void *)cur->pos - (const void *)cur->event),
	       cur->event->header.size, msg);
	return NULL;
}

/*
 * The numbers in the header are those of as many registers as the event asked
 * for: its masks tell which registers these are.
 */
static bool check_simd_header(const __u64 *header, const struct simd_regs *simd,
			      struct cursor *cur)
{
	const unsigned int asked[] = {
		[SIMD_NR_VECTORS]	= hweight64(simd->vec_mask),
		[SIMD_NR_PRED]		= hweight64(simd->pred_mask),
	};

	for (int i = 0; i < SIMD_HEADER_QWORDS; i++) {
		bool is_nr = i == SIMD_NR_VECTORS || i == SIMD_NR_PRED;
		unsigned long long word = header[i];

		cur->pos = header + i;
		if (word > SIMD_HEADER_WORD_MAX) {
			cursor__bad_field(cur, "%s is %#llx, the maximum is %#zx",
					  simd_header_names[i], word, SIMD_HEADER_WORD_MAX);
			return false;
		}
		if (is_nr && word > asked[i]) {
			cursor__bad_field(cur, "%s is %llu, the event asked for %u",
					  simd_header_names[i], word, asked[i]);
			return false;
		}
		/* Each number is right before its width. */
		if (!is_nr && !word && header[i - 1]) {
			cursor__bad_field(cur, "%s is 0 with %s %llu", simd_header_names[i],
					  simd_header_names[i - 1],
					  (unsigned long long)header[i - 1]);
			return false;
		}
	}
	return true;
}

/* cur->pos is at the SIMD header. Returns the place after the data. */
static const __u64 *parse_simd(struct simd_regs *simd, struct cursor *cur)
{
	const __u64 *header = cur->pos;
	size_t left = cursor__left(cur), size;

	if (left < SIMD_HEADER_QWORDS)
		return cursor__bad_field(cur, "the SIMD header needs %d words, %zu left",
					 SIMD_HEADER_QWORDS, left);

	if (!check_simd_header(header, simd, cur))
		return NULL;

	simd->nr_vectors = header[SIMD_NR_VECTORS];
	simd->vector_qwords = header[SIMD_VECTOR_QWORDS];
	simd->nr_pred = header[SIMD_NR_PRED];
	simd->pred_qwords = header[SIMD_PRED_QWORDS];
	simd->data = (const u64 *)header + SIMD_HEADER_QWORDS;

	cur->pos = header + SIMD_HEADER_QWORDS;
	left = cursor__left(cur);
	size = simd_regs__qwords(simd);
	if (size <= left)
		return cur->pos + size;

	return cursor__bad_field(cur, "the data of %u * %u and %u * %u words needs %zu, %zu left",
				 simd->nr_vectors, simd->vector_qwords, simd->nr_pred,
				 simd->pred_qwords, size, left);
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
		return cursor__bad_field(&cur, "abi needs 1 word, 0 left");

	regs->abi = *cur.pos;
	if (regs->abi & ~(u64)KNOWN_ABI)
		return cursor__bad_field(&cur, "abi is %#llx, with bits other than %#x",
					 (unsigned long long)regs->abi, KNOWN_ABI);

	cur.pos++;
	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return cur.pos;

	regs->mask = intr ? attr->sample_regs_intr : attr->sample_regs_user;
	nr = hweight64(regs->mask);
	if (nr > cursor__left(&cur))
		return cursor__bad_field(&cur, "regs of mask %#llx needs %zu words, %zu left",
					 (unsigned long long)regs->mask, nr, cursor__left(&cur));

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

/**
 * perf_event_attr__save_simd_regs - save the SIMD fields
 * @attr: an attr of the full size
 * @saved: is filled in
 */
void perf_event_attr__save_simd_regs(const struct perf_event_attr *attr,
				     struct attr_simd_regs *saved)
{
	memcpy(saved->fields, (const void *)attr + PERF_ATTR_SIZE_VER9, sizeof(saved->fields));
}

/**
 * perf_event_attr__restore_simd_regs - set the SIMD fields to what they were
 * @attr: an attr of the full size
 * @saved: from perf_event_attr__save_simd_regs()
 */
void perf_event_attr__restore_simd_regs(struct perf_event_attr *attr,
					const struct attr_simd_regs *saved)
{
	memcpy((void *)attr + PERF_ATTR_SIZE_VER9, saved->fields, sizeof(saved->fields));
}

/**
 * perf_event_attr__clear_simd_regs - ask for no registers that need the SIMD fields
 * @attr: an attr of the full size
 */
void perf_event_attr__clear_simd_regs(struct perf_event_attr *attr)
{
	memset((void *)attr + PERF_ATTR_SIZE_VER9, 0, sizeof(struct attr_simd_regs));
}

/* A width goes with a mask. */
static void attr__drop_unused_widths(struct perf_event_attr *attr)
{
	if (!attr->sample_simd_vec_reg_intr && !attr->sample_simd_vec_reg_user)
		attr->sample_simd_vec_reg_qwords = 0;
	if (!attr->sample_simd_pred_reg_intr && !attr->sample_simd_pred_reg_user)
		attr->sample_simd_pred_reg_qwords = 0;
}

/**
 * perf_event_attr__drop_user_simd_regs - take the user side out of the SIMD fields
 * @attr: of an event that has no PERF_SAMPLE_REGS_USER any more
 */
void perf_event_attr__drop_user_simd_regs(struct perf_event_attr *attr)
{
	attr->sample_simd_vec_reg_user = 0;
	attr->sample_simd_pred_reg_user = 0;
	attr__drop_unused_widths(attr);
	/* It still selects the numbering of what is left. */
	if (!(attr->sample_type & PERF_SAMPLE_REGS_INTR))
		attr->sample_simd_regs_enabled = 0;
}

/**
 * perf_event_attr__drop_intr_simd_regs - take the interrupt side out of the SIMD fields
 * @attr: of an event whose sample_regs_intr has no bit that needs them any more
 */
void perf_event_attr__drop_intr_simd_regs(struct perf_event_attr *attr)
{
	attr->sample_simd_vec_reg_intr = 0;
	attr->sample_simd_pred_reg_intr = 0;
	attr__drop_unused_widths(attr);
}
