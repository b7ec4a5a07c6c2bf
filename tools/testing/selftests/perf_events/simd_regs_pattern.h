/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The register contents that the simd_regs tests load and expect.
 *
 * Every 64-bit word of a register is a tag that says whose it is (seed), when
 * it was loaded (phase) and where it belongs (register and word), scrambled by
 * a bijection. A test computes the value that it expects, and for a value that
 * it did not expect it finds out where that one came from.
 *
 * While a pattern is live, one GPR holds a marker with the same seed and phase,
 * so that a sample says itself what has to be in its vector registers.
 *
 * Only inline code without a library call: it also runs where there is no libc.
 */
#ifndef SIMD_REGS_PATTERN_H
#define SIMD_REGS_PATTERN_H

#include <linux/types.h>
#include <stdbool.h>

#define SIMD_TAG_MAGIC		0x7a6dULL
#define SIMD_MARK_MAGIC		0x5dc3ULL

/* Where a word belongs: vector registers are 0-31, the others follow. */
#define SIMD_REG_PRED		0x40

/*
 * Marker flags: the lowest five are the parts of the registers that hold the
 * pattern. Those here and above are what else the test has to know.
 */
#define SIMD_MARK_PARTS		0x001f
#define SIMD_MARK_ZERO		0x0040	/* the parts are all zero instead */
#define SIMD_MARK_KFPU		0x0080	/* system calls use vectors in the kernel */
#define SIMD_MARK_ANY_IP	0x0100	/* holds outside of simd_live_begin..end too */
#define SIMD_MARK_MORE		0x2000	/* the rest can be there, with any values */

struct simd_tag {
	__u16 seed;
	__u16 phase;
	__u8 reg;
	__u8 word;
};

#define SIMD_MIX_A	0x9a3fb1c5d2e74c6bULL
#define SIMD_MIX_B	0xc1e5a7937b0d2f4dULL

static inline __u64 simd_mix(__u64 x)
{
	x ^= x >> 32;
	x *= SIMD_MIX_A;
	x ^= x >> 29;
	x *= SIMD_MIX_B;
	return x ^ (x >> 32);
}

/* The inverse of an odd number modulo 2^64: each step doubles the right bits. */
static inline __u64 simd_inverse(__u64 a)
{
	__u64 x = a;
	int i;

	for (i = 0; i < 5; i++)
		x *= 2 - a * x;
	return x;
}

static inline __u64 simd_unmix(__u64 x)
{
	x ^= x >> 32;
	x *= simd_inverse(SIMD_MIX_B);
	x ^= (x >> 29) ^ (x >> 58);
	x *= simd_inverse(SIMD_MIX_A);
	return x ^ (x >> 32);
}

static inline __u64 simd_word(__u16 seed, __u16 phase, __u8 reg, __u8 word)
{
	return simd_mix(SIMD_TAG_MAGIC << 48 | (__u64)seed << 32 |
			(__u64)phase << 16 | (__u64)reg << 8 | word);
}

/*
 * Is @value a word of somebody's pattern? Says whose. The predicates of short vectors
 * have the lower part of a word, and every 65,536th of these looks like a tag.
 */
static inline bool simd_find_tag(__u64 value, struct simd_tag *tag)
{
	__u64 x = simd_unmix(value);

	tag->seed = x >> 32;
	tag->phase = x >> 16;
	tag->reg = x >> 8;
	tag->word = x;
	return value >> 32 && x >> 48 == SIMD_TAG_MAGIC;
}

static inline __u64 simd_marker(__u16 seed, __u16 phase, __u16 flags)
{
	return SIMD_MARK_MAGIC << 48 | (__u64)seed << 32 |
	       (__u64)phase << 16 | flags;
}

static inline bool simd_is_marker(__u64 value)
{
	return value >> 48 == SIMD_MARK_MAGIC;
}

static inline __u16 simd_marker_seed(__u64 marker)
{
	return marker >> 32;
}

static inline __u16 simd_marker_phase(__u64 marker)
{
	return marker >> 16;
}

/*
 * Which registers there are, in which part a word of them is, and what
 * simd_expect() says that it has to be while a marker is live.
 */
#if defined(__aarch64__) || defined(__arm__)
#include "simd_regs_parts_arm64.h"
#else
#include "simd_regs_parts_x86.h"
#endif

#endif /* SIMD_REGS_PATTERN_H */
