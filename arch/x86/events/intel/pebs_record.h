/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of architectural PEBS records, as far as it takes more than the
 * structures in asm/perf_event.h to describe it.
 */
#ifndef _X86_EVENTS_INTEL_PEBS_RECORD_H
#define _X86_EVENTS_INTEL_PEBS_RECORD_H

#include <linux/types.h>

#include <asm/perf_event.h>

/* A group of registers in an architectural PEBS record. */
struct arch_pebs_xer {
	u64	format;		/* its bit in the format, the same as in CFG_C */
	u16	bytes;
	u8	xfeature;	/* the XSAVE component that has the same layout */
};

#define ARCH_PEBS_NR_XER	6

extern const struct arch_pebs_xer arch_pebs_xer[ARCH_PEBS_NR_XER];

/* Continue bit or null PEBS record indicates fragment follows. */
static inline bool arch_pebs_record_continued(const struct arch_pebs_header *header)
{
	return header->cont || !(header->format & GENMASK_ULL(63, 16));
}

unsigned int arch_pebs_xer_bytes(const struct arch_pebs_header *header);
unsigned int arch_pebs_fragment_bytes(const void *at, const void *top);
unsigned long arch_pebs_record_bytes(const void *at, const void *top);

#endif /* _X86_EVENTS_INTEL_PEBS_RECORD_H */
