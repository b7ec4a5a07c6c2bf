// SPDX-License-Identifier: GPL-2.0
/*
 * How long PEBS records are: what the bits of the header's format say has to fit
 * into the size that the header says, and that into what has been written of the
 * buffer. A record is measured as a whole before anything in it is read, so the
 * code that reads it need not look out for its end.
 *
 * Architectural PEBS:
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
static_assert(sizeof(struct arch_pebs_cntr_header) == sizeof(struct pebs_cntr_header));

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

/**
 * arch_pebs_config_bytes - size of the longest record of some counters
 * @cfg: CFG_C of the counter, or of several: a record can serve all of them
 *
 * Return: bytes of a record with all groups, branches and counters in one fragment.
 */
unsigned int arch_pebs_config_bytes(u64 cfg)
{
	struct arch_pebs_header header = { .format = cfg };
	unsigned int bytes = sizeof(struct arch_pebs_header) + sizeof(struct arch_pebs_basic);

	if (cfg & ARCH_PEBS_AUX)
		bytes += sizeof(struct arch_pebs_aux);
	if (cfg & ARCH_PEBS_GPR)
		bytes += sizeof(struct arch_pebs_gprs);
	bytes += arch_pebs_xer_bytes(&header);
	if (cfg & ARCH_PEBS_LBR)
		bytes += sizeof(struct arch_pebs_lbr_header) +
			 x86_pmu.lbr_nr * sizeof(struct lbr_entry);
	if (cfg & ARCH_PEBS_CNTR_MASK)
		bytes += sizeof(struct arch_pebs_cntr_header) +
			 (INTEL_PMC_MAX_GENERIC + INTEL_PMC_MAX_FIXED + 2) * sizeof(u64);

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

/* So is the counters', in both kinds of records. */
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

/**
 * arch_pebs_measure - size of what begins in the buffer
 * @at: where the last record, or one that is not read, ends
 * @top: the end of what has been written
 * @measured: gets the header if its size follows from that alone
 *
 * Only a record that begins with the basic group can be read.
 *
 * Context: any, NMI included.
 * Return: bytes of a record if it can be read, else of the fragment; 0 if that is
 * not whole.
 */
unsigned long arch_pebs_measure(const void *at, const void *top, u64 *measured)
{
	const struct arch_pebs_header *header = at;
	unsigned long bytes;

	if (top - at < (long)sizeof(*header))
		return 0;

	if (!header->basic)
		return arch_pebs_fragment_bytes(at, top);

	bytes = arch_pebs_record_bytes(at, top);
	if (bytes && !arch_pebs_record_continued(header) && !header->lbr && !header->cntr)
		*measured = header->format;

	return bytes;
}

/**
 * adaptive_pebs_measure - does an adaptive record have what it says?
 * @basic: the record, of which format_size bytes can be read
 * @measured: gets the header if that alone tells
 *
 * Context: any, NMI included.
 */
bool adaptive_pebs_measure(const struct pebs_basic *basic, u64 *measured)
{
	const void *at = basic + 1, *end = (const void *)basic + basic->format_size;
	u64 groups = basic->format_group;

	if (groups & PEBS_DATACFG_MEMINFO)
		at += sizeof(struct pebs_meminfo);
	if (groups & PEBS_DATACFG_GP)
		at += sizeof(struct pebs_gprs);
	if (groups & PEBS_DATACFG_XMMS)
		at += sizeof(struct pebs_xmm);
	if (groups & PEBS_DATACFG_LBRS)
		at += (((groups >> PEBS_DATACFG_LBR_SHIFT) & 0xff) + 1) * sizeof(struct lbr_entry);
	if (at > end)
		return false;
	if (groups & (PEBS_DATACFG_CNTR | PEBS_DATACFG_METRICS))
		return skip_cntr(at, end);

	*measured = adaptive_pebs_header(basic);

	return true;
}
