// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what is read from PEBS records for SIMD registers: synthetic
 * records, good ones, truncated ones, ones whose sizes are wrong, and ones that
 * lack a group; and that a sample shows a record if it may, and none later.
 *
 * The layout is written down here a second time, as numbers.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/segment.h>

#include "../perf_event.h"
#include "../simd_regs.h"
#include "pebs_record.h"
#include "pebs_simd.h"

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
static u64 choose(unsigned int n)
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
static unsigned int part_offset(u64 format, int part)
{
	unsigned int off = 16;
	int i;

	for (i = 0; i < part; i++) {
		if (format & parts[i].format)
			off += parts[i].bytes;
	}

	return part >= 3 && format & XER_BITS ? off + 16 : off;
}

static unsigned int fragment_bytes(u64 format)
{
	return part_offset(format, ARRAY_SIZE(parts));
}

/* Writes a header and returns what is behind the fragment. */
static void *put_fragment(void *at, u64 format, unsigned int bytes)
{
	u64 *header = at;

	header[0] = format | bytes;
	header[1] = 0;

	return at + bytes;
}

static void *new_room(struct kunit *test)
{
	void *room = kunit_kzalloc(test, ROOM, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, room);

	return room;
}

static void measures_whole_records(struct kunit *test)
{
	void *room = new_room(test), *end;
	unsigned int n, bytes;
	u64 format;

	for (n = 1; n < BIT(ARRAY_SIZE(parts)); n++) {
		format = choose(n);
		bytes = fragment_bytes(format);
		end = put_fragment(room, format, bytes);

		KUNIT_EXPECT_EQ(test, arch_pebs_fragment_bytes(room, end), bytes);
		KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), bytes);
		/* What is behind it does not matter. */
		KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, room + ROOM), bytes);
	}

	/* Three fragments, the one in the middle without anything */
	end = put_fragment(room, BIT_ULL(63) | CONTINUED, 64);
	end = put_fragment(end, 0, 16);
	end = put_fragment(end, XER_BITS, fragment_bytes(XER_BITS));
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), end - room);
	KUNIT_EXPECT_EQ(test, arch_pebs_fragment_bytes(room, end), 64);
}

static void refuses_truncated_records(struct kunit *test)
{
	void *room = new_room(test), *end, *top;

	end = put_fragment(room, ALL_BITS | CONTINUED, fragment_bytes(ALL_BITS));
	end = put_fragment(end, XER_BITS, fragment_bytes(XER_BITS));

	for (top = room; top < end; top++)
		KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, top), 0);
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), end - room);
}

static void refuses_wrong_sizes(struct kunit *test)
{
	void *room = new_room(test), *end = room + ROOM;
	unsigned int n;
	u64 format;

	/* Smaller than what it is said to have */
	for (n = 1; n < BIT(ARRAY_SIZE(parts)); n++) {
		format = choose(n);
		put_fragment(room, format, fragment_bytes(format) - 1);
		KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
	}

	/* Smaller than a header: these would never end */
	for (n = 0; n < 16; n++) {
		put_fragment(room, BIT_ULL(63), n);
		KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
		put_fragment(room, CONTINUED, n);
		KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
	}

	/* A chain of nothing to the end */
	for (n = 0; n < ROOM; n += 16)
		put_fragment(room + n, 0, 16);
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
}

static void measures_branches_and_counters(struct kunit *test)
{
	void *room = new_room(test), *end = room + ROOM;
	u64 *depth = room + 16 + 16;
	u32 *cntr = room + 16;

	/* A header of 48 bytes and 24 for each branch */
	put_fragment(room, LBR_VAR, 16 + 48 + 10 * 24);
	*depth = 10;
	KUNIT_EXPECT_NE(test, arch_pebs_record_bytes(room, end), 0);
	*depth = 11;
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
	*depth = U64_MAX;
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
	/* 2^61 times 24 is 0 in 64 bits. */
	*depth = BIT_ULL(61);
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
	put_fragment(room, LBR_VAR, 16 + 47);
	*depth = 0;
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);

	put_fragment(room, LBR_8, 16 + 48 + 8 * 24);
	KUNIT_EXPECT_NE(test, arch_pebs_record_bytes(room, end), 0);
	put_fragment(room, LBR_8, 16 + 48 + 8 * 24 - 1);
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);

	/* A header of 16 bytes, 8 for each counter, 16 for the metrics */
	cntr[0] = 0x5;
	cntr[1] = 0x1;
	cntr[2] = 3;
	put_fragment(room, CNTR, 16 + 16 + 3 * 8 + 16);
	KUNIT_EXPECT_NE(test, arch_pebs_record_bytes(room, end), 0);
	cntr[0] = 0x7;
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
	put_fragment(room, CNTR, 16 + 15);
	KUNIT_EXPECT_EQ(test, arch_pebs_record_bytes(room, end), 0);
}

static void expect_parts(struct kunit *test, const void *at, u64 format,
			 const struct perf_simd_record *record)
{
	unsigned int off;
	int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].xfeature < 0 || !(format & parts[i].format))
			continue;

		off = part_offset(format, i);
		/* As if it were in the component, behind MSR_IA32_U_CET. */
		if (parts[i].xfeature == XFEATURE_CET_USER)
			off += SSP_OFFSET - 8;
		KUNIT_EXPECT_PTR_EQ(test, record->component[parts[i].xfeature], at + off);
	}
}

static u64 parts_state(u64 format)
{
	u64 state = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].xfeature >= 0 && format & parts[i].format)
			state |= BIT_ULL(parts[i].xfeature);
	}

	return state;
}

static void finds_what_is_there(struct kunit *test)
{
	struct perf_simd_record record;
	void *room = new_room(test), *second;
	unsigned int n;
	u64 format;

	for (n = 1; n < BIT(ARRAY_SIZE(parts)); n++) {
		format = choose(n);
		put_fragment(room, format, fragment_bytes(format));

		record.state = 0;
		arch_pebs_find_simd(room, &record);
		KUNIT_EXPECT_EQ(test, record.state, parts_state(format));
		expect_parts(test, room, format, &record);
	}

	/* Half of it in a second fragment, behind a gap in the first */
	format = BIT_ULL(63) | BIT_ULL(61) | BIT_ULL(49) | BIT_ULL(50);
	second = put_fragment(room, format | CONTINUED, fragment_bytes(format) + 32);
	put_fragment(second, XER_BITS & ~format, fragment_bytes(XER_BITS & ~format));

	record.state = 0;
	arch_pebs_find_simd(room, &record);
	KUNIT_EXPECT_EQ(test, record.state, parts_state(format | XER_BITS));
	expect_parts(test, room, format, &record);
	expect_parts(test, second, XER_BITS & ~format, &record);
}

/* Recorded after a system call, the pointer is not that of the user any more. */
static void has_no_ssp_of_the_kernel(struct kunit *test)
{
	u64 format = BIT_ULL(61) | BIT_ULL(49);
	struct perf_simd_record record;
	u64 *room = new_room(test);

	put_fragment(room, format, fragment_bytes(format));
	room[2 + IP_WORD] = (unsigned long)has_no_ssp_of_the_kernel;

	record.state = 0;
	arch_pebs_find_simd(room, &record);
	KUNIT_EXPECT_EQ(test, record.state, XFEATURE_MASK_SSE);
}

static void finds_xmm_in_adaptive_records(struct kunit *test)
{
	const unsigned int bytes[] = { 32, 32 + 32, 32 + 144, 32 + 32 + 144 };
	struct perf_simd_record record;
	u64 *room = new_room(test);
	unsigned int groups, size;

	for (groups = 0; groups < 8; groups++) {
		size = bytes[groups & 3] + (groups & 4 ? 256 : 0);

		room[0] = (u64)size << 48 | groups;
		record.state = 0;
		adaptive_pebs_find_simd(room, &record);
		KUNIT_EXPECT_EQ(test, record.state, groups & 4 ? XFEATURE_MASK_SSE : 0);
		if (record.state)
			KUNIT_EXPECT_PTR_EQ(test, record.component[XFEATURE_SSE],
					    (void *)room + bytes[groups & 3]);

		/* It has to be there as a whole. */
		room[0] = (u64)(size - 1) << 48 | groups;
		record.state = 0;
		adaptive_pebs_find_simd(room, &record);
		KUNIT_EXPECT_EQ(test, record.state, 0);
	}
}

/* Does a sample of @event show SIMD registers on @side? */
static bool shows(struct perf_event *event, enum perf_simd_side side, bool user_mode)
{
	struct pt_regs pt_regs = { .cs = user_mode ? __USER_CS : __KERNEL_CS };
	struct perf_regs regs = { .abi = PERF_SAMPLE_REGS_ABI_64 };

	perf_simd_regs_begin_sample();

	return perf_simd_regs_prepare(event, &regs, side, &pt_regs) > 0;
}

/* A kernel thread has nothing to show but what was recorded. */
static void shows_a_record_once(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct perf_simd_record record = { .state = 0, .fresh = true };
	static const u8 xmm[256];
	bool shown[8];
	int i;

	if (!boot_cpu_has(X86_FEATURE_XSAVE))
		kunit_skip(test, "needs XSAVE");

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.precise_ip = 2;
	event->attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
	event->attr.sample_simd_regs_enabled = 1;
	event->attr.sample_simd_vec_reg_qwords = 2;
	event->attr.sample_simd_vec_reg_user = 2;
	event->attr.sample_simd_vec_reg_intr = 2;
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);
	event->simd->kernel = true;

	preempt_disable();
	/* Lacks what is asked for */
	perf_simd_regs_set_record(&record);
	shown[0] = shows(event, PERF_SIMD_INTR, true);
	shown[1] = shows(event, PERF_SIMD_USER, true);

	record.state = XFEATURE_MASK_SSE;
	record.component[XFEATURE_SSE] = xmm;
	shown[2] = shows(event, PERF_SIMD_INTR, true);
	shown[3] = shows(event, PERF_SIMD_USER, true);
	/* Whose registers they were in the kernel is not known. */
	shown[4] = shows(event, PERF_SIMD_INTR, false);
	shown[5] = shows(event, PERF_SIMD_USER, false);

	perf_simd_regs_set_record(NULL);
	shown[6] = shows(event, PERF_SIMD_INTR, true);
	shown[7] = shows(event, PERF_SIMD_USER, true);
	preempt_enable();

	for (i = 0; i < ARRAY_SIZE(shown); i++)
		KUNIT_EXPECT_EQ_MSG(test, shown[i], i == 2 || i == 3, "case %d", i);

	perf_simd_regs_free_event(event);
}

static struct kunit_case pebs_simd_cases[] = {
	KUNIT_CASE(measures_whole_records),
	KUNIT_CASE(refuses_truncated_records),
	KUNIT_CASE(refuses_wrong_sizes),
	KUNIT_CASE(measures_branches_and_counters),
	KUNIT_CASE(finds_what_is_there),
	KUNIT_CASE(has_no_ssp_of_the_kernel),
	KUNIT_CASE(finds_xmm_in_adaptive_records),
	KUNIT_CASE(shows_a_record_once),
	{}
};

static struct kunit_suite pebs_simd_suite = {
	.name = "perf_simd_regs_pebs",
	.test_cases = pebs_simd_cases,
};

kunit_test_suite(pebs_simd_suite);
