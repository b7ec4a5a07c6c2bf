/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of PEBS records, as far as it takes more than the structures in
 * asm/perf_event.h to describe it, and how long they are.
 *
 * The drain functions have a record measured before anything in it is read. In
 * most records the length follows from the header alone. The header of the last
 * one that was found right is kept in cpu_hw_events::pebs_measured: a record with
 * the same header need not be measured again. That is what the drain functions
 * compare first, and all that most records cost.
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

/* The header of an adaptive record, without the bits that vary. */
static inline u64 adaptive_pebs_header(const struct pebs_basic *basic)
{
	return *(const u64 *)basic & ~GENMASK_ULL(47, 32);
}

/* Headers that stand for no measured record: no adaptive record has this one. */
#define ADAPTIVE_PEBS_UNMEASURED	BIT_ULL(32)

/* For the others, that of a record which is as long as this says. */
#define ARCH_PEBS_UNMEASURED		(BIT_ULL(63) | (sizeof(struct arch_pebs_header) + \
							sizeof(struct arch_pebs_basic)))

unsigned int arch_pebs_xer_bytes(const struct arch_pebs_header *header);
unsigned int arch_pebs_config_bytes(u64 cfg);
unsigned int arch_pebs_fragment_bytes(const void *at, const void *top);
unsigned long arch_pebs_record_bytes(const void *at, const void *top);
unsigned long arch_pebs_measure(const void *at, const void *top, u64 *measured);
bool adaptive_pebs_measure(const struct pebs_basic *basic, u64 *measured);

#endif /* _X86_EVENTS_INTEL_PEBS_RECORD_H */
