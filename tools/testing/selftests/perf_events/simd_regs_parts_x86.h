/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the x86 registers. To be had from simd_regs_pattern.h.
 */
#ifndef SIMD_REGS_PARTS_X86_H
#define SIMD_REGS_PARTS_X86_H

/* Where a word belongs; OPMASK is SIMD_REG_PRED. */
#define SIMD_REG_OPMASK		SIMD_REG_PRED
#define SIMD_REG_EGPR		0x60
#define SIMD_REG_SSP		0x80

/* Marker flags: the register parts that hold the pattern. */
#define SIMD_MARK_XMM		0x0001	/* words 0-1 of registers 0-15 */
#define SIMD_MARK_YMM		0x0002	/* words 2-3 of registers 0-15 */
#define SIMD_MARK_ZMM		0x0004	/* words 4-7, registers 16-31 */
#define SIMD_MARK_OPMASK	0x0008
#define SIMD_MARK_EGPR		0x0010
/* Marker flags: what else the test has to know. */
#define SIMD_MARK_REST_ZERO	0x0200	/* the other parts are all zero */
#define SIMD_MARK_32BIT		0x0400	/* a 32-bit program: registers 0-7 only */

/* The part of the register file that @reg, @word belongs to. */
static inline unsigned int simd_part(__u8 reg, __u8 word)
{
	if (reg >= SIMD_REG_EGPR)
		return SIMD_MARK_EGPR;
	if (reg >= SIMD_REG_OPMASK)
		return SIMD_MARK_OPMASK;
	if (reg >= 16 || word >= 4)
		return SIMD_MARK_ZMM;
	return word >= 2 ? SIMD_MARK_YMM : SIMD_MARK_XMM;
}

/*
 * What @reg, @word has to be while @marker is live. False if the marker does
 * not say.
 */
static inline bool simd_expect(__u64 marker, __u8 reg, __u8 word,
			       __u64 *value)
{
	bool pattern = marker & simd_part(reg, word) &&
		       !(marker & SIMD_MARK_32BIT && reg >= 8);

	if (!pattern && !(marker & SIMD_MARK_REST_ZERO))
		return false;

	*value = !pattern || marker & SIMD_MARK_ZERO ? 0 :
		 simd_word(simd_marker_seed(marker), simd_marker_phase(marker),
			   reg, word);
	return true;
}

#endif /* SIMD_REGS_PARTS_X86_H */
