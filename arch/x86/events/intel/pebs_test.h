/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Synthetic architectural PEBS records, for KUnit tests. The layout is written
 * down here a second time, as numbers.
 */
#ifndef _X86_EVENTS_INTEL_PEBS_TEST_H
#define _X86_EVENTS_INTEL_PEBS_TEST_H

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/slab.h>
#include <linux/types.h>

#include <asm/fpu/types.h>

#define ROOM	8192

/* The parts of a fragment behind its header, in their order. */
static const struct part {
	u64 format;
	unsigned int bytes;
	int xfeature;		/* -1: no SIMD registers */
} parts[] = {
	{ BIT_ULL(63), 48, -1 },				/* basic */
	{ BIT_ULL(62), 64, -1 },				/* aux */
	{ BIT_ULL(61), 160, XFEATURE_CET_USER },		/* gpr, ssp in it */
	{ BIT_ULL(49), 256, XFEATURE_SSE },
	{ BIT_ULL(50), 256, XFEATURE_YMM },
	{ BIT_ULL(51), 128, XFEATURE_APX },
	{ BIT_ULL(53), 64, XFEATURE_OPMASK },
	{ BIT_ULL(54), 512, XFEATURE_ZMM_Hi256 },
	{ BIT_ULL(55), 1024, XFEATURE_Hi16_ZMM },
};

#define XER_BITS	(BIT_ULL(49) | BIT_ULL(50) | BIT_ULL(51) | BIT_ULL(53) | \
			 BIT_ULL(54) | BIT_ULL(55))
#define ALL_BITS	(XER_BITS | BIT_ULL(63) | BIT_ULL(62) | BIT_ULL(61))
#define CONTINUED	BIT_ULL(31)
#define LBR_VAR		(3ULL << 40)
#define LBR_8		BIT_ULL(40)
#define CNTR		BIT_ULL(35)
#define IP_WORD		1
#define SSP_OFFSET	(18 * 8)

/* Combination number @n of the parts. */
static inline u64 choose(unsigned int n)
{
	u64 format = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (n & BIT(i))
			format |= parts[i].format;
	}

	return format;
}

/* Where a part is in a fragment, from its beginning. */
static inline unsigned int part_offset(u64 format, int part)
{
	unsigned int off = 16;
	int i;

	for (i = 0; i < part; i++) {
		if (format & parts[i].format)
			off += parts[i].bytes;
	}

	return part >= 3 && format & XER_BITS ? off + 16 : off;
}

static inline unsigned int fragment_bytes(u64 format)
{
	return part_offset(format, ARRAY_SIZE(parts));
}

/* Writes a header and returns what is behind the fragment. */
static inline void *put_fragment(void *at, u64 format, unsigned int bytes)
{
	u64 *header = at;

	header[0] = format | bytes;
	header[1] = 0;

	return at + bytes;
}

static inline void *new_room(struct kunit *test)
{
	void *room = kunit_kzalloc(test, ROOM, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, room);

	return room;
}

#endif /* _X86_EVENTS_INTEL_PEBS_TEST_H */
