/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SIMD registers in samples, what the files of the x86 part know of each other:
 * simd_classes.c has which registers there are, simd_regs.c where a sample's
 * are, and intel/pebs_simd.c what PEBS records have of them.
 */
#ifndef _X86_EVENTS_SIMD_REGS_H
#define _X86_EVENTS_SIMD_REGS_H

#include <linux/build_bug.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/types.h>

#include <asm/fpu/types.h>

#ifdef CONFIG_X86_64
#define SIMD_NR_XMM	PERF_X86_SIMD_XMM_REGS
#else
#define SIMD_NR_XMM	8
#endif

/* The bits of sample_regs_* that are not in pt_regs. */
#define SIMD_EGPRS	GENMASK_ULL(PERF_REG_X86_R31, PERF_REG_X86_R16)
#define SIMD_SSP	BIT_ULL(PERF_REG_X86_SSP)

/* A source of a sample is an XSAVE component, by its number. */
static_assert(XFEATURE_MAX <= PERF_SIMD_MAX_SOURCES);
static_assert(PERF_SIMD_HEAD == XFEATURE_FP);	/* which has no registers of ours */

u64 simd_wanted_state(const struct perf_event_attr *attr, enum perf_simd_side side);

/**
 * struct perf_simd_record - registers that the PMU recorded for a sample
 * @state: the XSAVE components that are there
 * @fresh: it was recorded right before this interrupt, so what is known of
 *	current and the FPU is true for it as well
 * @component: for each bit of @state, where the component's registers are, in
 *	the layout that they have in the component
 */
struct perf_simd_record {
	u64		state;
	bool		fresh;
	const void	*component[XFEATURE_MAX];
};

#endif /* _X86_EVENTS_SIMD_REGS_H */
