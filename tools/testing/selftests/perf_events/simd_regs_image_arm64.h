/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a word of a register is in the images that simd_live_run() loads on arm64, and
 * what system calls leave of them. Inline, for programs without a C library as well.
 */
#ifndef SIMD_REGS_IMAGE_ARM64_H
#define SIMD_REGS_IMAGE_ARM64_H

#include <linux/types.h>
#include <stddef.h>

#include "simd_regs_live.h"
#include "simd_regs_pattern.h"

#define SIMD_NR_VECTORS		32
#define SIMD_V_STRIDE		32	/* in an image of V registers */
#define SIMD_MAX_VL		256	/* bytes */

/* The size of an image of vectors of @vl bytes, predicates and FFR */
#define SIMD_SVE_SIZE(vl)	(((vl) * (8 * SIMD_NR_VECTORS + 17) / 8 + 63) & ~63UL)

/*
 * The place of @reg, @word with vectors of @vl bytes. A predicate need not be as
 * long as a word: @bytes is how much of it there is.
 */
static inline size_t simd_image_place(unsigned int load, unsigned int vl, unsigned int reg,
				      unsigned int word, unsigned int *bytes)
{
	unsigned int left;

	*bytes = sizeof(__u64);
	if (load == SIMD_LOAD_V)
		return reg * SIMD_V_STRIDE + word * sizeof(__u64);
	if (reg < SIMD_REG_P)
		return reg * vl + word * sizeof(__u64);

	left = vl / 8 - word * sizeof(__u64);
	if (left < *bytes)
		*bytes = left;
	return SIMD_NR_VECTORS * vl + (reg - SIMD_REG_P) * vl / 8 + word * sizeof(__u64);
}

/*
 * What a marker has to be from a system call on: the V registers stay, the others may
 * be there, with any values; from streaming mode nothing stays.
 */
static inline __u64 simd_call_marker(unsigned int load, __u64 marker)
{
	const __u64 sve = SIMD_MARK_Z | SIMD_MARK_P | SIMD_MARK_FFR;

	switch (load) {
	case SIMD_LOAD_SVE:
		return (marker & ~sve) | SIMD_MARK_MORE;
	case SIMD_LOAD_STREAMING:
		return 0;
	default:
		return marker;
	}
}

#endif /* SIMD_REGS_IMAGE_ARM64_H */
