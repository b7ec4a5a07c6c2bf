/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the arm64 registers. To be had from simd_regs_pattern.h.
 */
#ifndef SIMD_REGS_PARTS_ARM64_H
#define SIMD_REGS_PARTS_ARM64_H

/* Where a word belongs: P0-P15, then FFR */
#define SIMD_REG_P		SIMD_REG_PRED
#define SIMD_REG_FFR		(SIMD_REG_P + 16)

/* Marker flags: the register parts that hold the pattern. */
#define SIMD_MARK_V		0x0001	/* words 0-1 of registers 0-31 */
#define SIMD_MARK_Z		0x0002	/* their further words */
#define SIMD_MARK_P		0x0008
#define SIMD_MARK_FFR		0x0010
/* No part: a program of 32 bits, which has registers 0-15 */
#define SIMD_MARK_32BIT		0x0020
/* No part: a signal handler has returned to where the marker was set. */
#define SIMD_MARK_RESUMED	0x4000
/* The vector length in units of 16 bytes */
#define SIMD_MARK_VQ(vq)	(((vq) - 1) << 9)

static inline unsigned int simd_marker_vq(__u64 marker)
{
	return (marker >> 9 & 15) + 1;
}

/* The part of the register file that @reg, @word belongs to. */
static inline unsigned int simd_part(__u8 reg, __u8 word)
{
	if (reg >= SIMD_REG_FFR)
		return SIMD_MARK_FFR;
	if (reg >= SIMD_REG_P)
		return SIMD_MARK_P;
	return word >= 2 ? SIMD_MARK_Z : SIMD_MARK_V;
}

/*
 * What @reg, @word has to be while @marker is live. False if the marker does
 * not say, or the register is too short to have it. FFR is what a faulting load
 * leaves of it: ones, and from some bit on zeros.
 */
static inline bool simd_expect(__u64 marker, __u8 reg, __u8 word,
			       __u64 *value)
{
	unsigned int bits = simd_marker_vq(marker) * (reg >= SIMD_REG_P ? 16 : 128);
	unsigned int first = word * 64, ones = bits;
	__u64 seed = simd_word(simd_marker_seed(marker), simd_marker_phase(marker),
			       reg, reg >= SIMD_REG_FFR ? 0 : word);

	if (!(marker & simd_part(reg, word)) || first >= bits)
		return false;

	if (reg >= SIMD_REG_FFR) {
		ones = seed % (bits + 1);
		seed = ~0ULL;
	}
	if (marker & SIMD_MARK_ZERO || ones <= first)
		*value = 0;
	else if (ones - first < 64)
		*value = seed & ~0ULL >> (64 - (ones - first));
	else
		*value = seed;
	return true;
}

#endif /* SIMD_REGS_PARTS_ARM64_H */
