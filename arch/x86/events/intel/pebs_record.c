// SPDX-License-Identifier: GPL-2.0
/*
 * How long architectural PEBS records are: what the bits of the header's format
 * say has to fit into the size that the header says, and that into what has been
 * written of the buffer. A record is measured as a whole before anything in it
 * is read, so the code that reads it need not look out for its end.
 *
 *	record		one or more fragments, all but the last "continued"
 *	fragment	header, basic, aux, gpr, xer, lbr, cntr
 *	xer		a header, and arrays of registers in the order of
 *			arch_pebs_xer[]
 *
 * Each but the header of a fragment is there only if the format says so.
 */
#include <linux/build_bug.h>
#include <linux/perf_event.h>

#include <asm/fpu/types.h>
#include <asm/msr-index.h>

#include "../perf_event.h"
#include "pebs_record.h"

const struct arch_pebs_xer arch_pebs_xer[ARCH_PEBS_NR_XER] = {
	{ ARCH_PEBS_VECR_XMM,		16 * 16,	XFEATURE_SSE },
	{ ARCH_PEBS_VECR_YMMH,		16 * 16,	XFEATURE_YMM },
	{ ARCH_PEBS_VECR_EGPRS,		16 * 8,		XFEATURE_APX },
	{ ARCH_PEBS_VECR_OPMASK,	8 * 8,		XFEATURE_OPMASK },
	{ ARCH_PEBS_VECR_ZMMH,		16 * 32,	XFEATURE_ZMM_Hi256 },
	{ ARCH_PEBS_VECR_H16ZMM,	16 * 64,	XFEATURE_Hi16_ZMM },
};

static_assert(sizeof(struct pebs_xmm) == 16 * 16);

/**
 * arch_pebs_xer_bytes - size of a fragment's vector and extended registers
 * @header: the fragment's
 *
 * Return: bytes, including the header of the group; 0 if there is no such group.
 */
unsigned int arch_pebs_xer_bytes(const struct arch_pebs_header *header)
{
	unsigned int bytes = sizeof(struct arch_pebs_xer_header);
	int i;

	if (likely(!(header->format & ARCH_PEBS_VECR_MASK)))
		return 0;

	for (i = 0; i < ARRAY_SIZE(arch_pebs_xer); i++) {
		if (header->format & arch_pebs_xer[i].format)
			bytes += arch_pebs_xer[i].bytes;
	}

	return bytes;
}

/* The branches' size is in their own header, which has to be there first. */
static const void *skip_lbr(const struct arch_pebs_header *header,
			    const void *at, const void *end)
{
	const struct arch_pebs_lbr_header *lbr = at;
	u64 nr;

	if (end - at < sizeof(*lbr))
		return NULL;

	at += sizeof(*lbr);
	nr = header->lbr == ARCH_PEBS_LBR_NUM_VAR ? lbr->depth :
	     header->lbr * ARCH_PEBS_BASE_LBR_ENTRIES;
	if (nr > (end - at) / sizeof(struct lbr_entry))
		return NULL;

	return at + nr * sizeof(struct lbr_entry);
}

/* So is the counters'. */
static const void *skip_cntr(const void *at, const void *end)
{
	const struct arch_pebs_cntr_header *cntr = at;
	unsigned int nr;

	if (end - at < sizeof(*cntr))
		return NULL;

	nr = hweight32(cntr->cntr) + hweight32(cntr->fixed);
	if (cntr->metrics == INTEL_CNTR_METRICS)
		nr += 2;
	at += sizeof(*cntr) + nr * sizeof(u64);

	return at <= end ? at : NULL;
}

/**
 * arch_pebs_fragment_bytes - size of a fragment, if it is whole
 * @at: where it begins
 * @top: the end of what has been written
 *
 * Context: any, NMI included.
 * Return: bytes, or 0 if it cannot be what its header says.
 */
unsigned int arch_pebs_fragment_bytes(const void *at, const void *top)
{
	const struct arch_pebs_header *header = at;
	const void *end;

	if (top - at < (long)sizeof(*header) || header->size < sizeof(*header) ||
	    header->size > top - at)
		return 0;

	end = at + header->size;
	at += sizeof(*header) + arch_pebs_xer_bytes(header);
	if (header->basic)
		at += sizeof(struct arch_pebs_basic);
	if (header->aux)
		at += sizeof(struct arch_pebs_aux);
	if (header->gpr)
		at += sizeof(struct arch_pebs_gprs);
	if (at > end)
		return 0;

	if (header->lbr)
		at = skip_lbr(header, at, end);
	if (at && header->cntr)
		at = skip_cntr(at, end);

	return at ? header->size : 0;
}

/**
 * arch_pebs_record_bytes - size of a record, if it is whole
 * @at: where it begins
 * @top: the end of what has been written
 *
 * Context: any, NMI included.
 * Return: bytes of all its fragments, or 0 if one of them is not what its header
 * says, or is missing.
 */
unsigned long arch_pebs_record_bytes(const void *at, const void *top)
{
	const struct arch_pebs_header *header;
	const void *record = at;
	unsigned int bytes;

	do {
		header = at;
		bytes = arch_pebs_fragment_bytes(at, top);
		if (!bytes)
			return 0;
		at += bytes;
	} while (arch_pebs_record_continued(header));

	return at - record;
}
