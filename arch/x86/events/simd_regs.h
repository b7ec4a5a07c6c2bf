/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SIMD registers in samples, what the files of the x86 part know of each other:
 * simd_classes.c has which registers there are, simd_regs.c where a sample's
 * are, and intel/pebs_simd.c what PEBS records have of them.
 */
#ifndef _X86_EVENTS_SIMD_REGS_H
#define _X86_EVENTS_SIMD_REGS_H

#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/types.h>

#include <asm/fpu/types.h>

/* A piece of a register: its XSAVE component, and its size in a sample. */
struct simd_piece {
	u8	xfeature;
	u8	bytes;
};

/* Registers first..first+nr-1 of a class, stored alike. */
struct simd_bank {
	u8			first;
	u8			nr;
	u8			nr_pieces;
	struct simd_piece	piece[PERF_SIMD_MAX_PARTS];
};

struct perf_simd_class {
	u8			qwords;
	u8			nr;
	u8			nr_banks;
	struct simd_bank	bank[2];
};

#ifdef CONFIG_X86_64
#define SIMD_NR_XMM	PERF_X86_SIMD_XMM_REGS
#else
#define SIMD_NR_XMM	8
#endif

/* The bits of sample_regs_* that are not in pt_regs, and where they are. */
#define SIMD_EGPRS	GENMASK_ULL(PERF_REG_X86_R31, PERF_REG_X86_R16)
#define SIMD_SSP	BIT_ULL(PERF_REG_X86_SSP)

extern const struct simd_bank simd_egpr_bank;
extern const struct simd_bank simd_xmm_word_bank;

static inline u32 simd_bank_mask(const struct simd_bank *bank, u64 mask)
{
	return (mask >> bank->first) & GENMASK_ULL(bank->nr - 1, 0);
}

u64 simd_wanted_state(const struct perf_event_attr *attr, enum perf_simd_side side);

/**
 * struct perf_simd_record - registers that the PMU recorded for a sample
 * @state: the XSAVE components that are there
 * @fresh: it was recorded right before this interrupt, so what is known of
 *	current and the FPU is true for it as well
 * @component: for each bit of @state, the registers of the component, in the
 *	layout that they have in the component; for XFEATURE_CET_USER it is the
 *	shadow stack pointer
 */
struct perf_simd_record {
	u64		state;
	bool		fresh;
	const void	*component[XFEATURE_MAX];
};

#endif /* _X86_EVENTS_SIMD_REGS_H */
