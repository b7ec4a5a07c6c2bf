// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of how long PEBS records are: good ones, truncated ones, ones whose
 * sizes are wrong, and ones at the very end of the buffer.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "../perf_event.h"
#include "pebs_record.h"
#include "pebs_test.h"

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

/* A page that nothing is mapped behind, for records that end where it ends */
static void *new_page(struct kunit *test)
{
	void *page = vzalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, page);
	kunit_add_action_or_reset(test, (kunit_action_t *)vfree, page);

	return page;
}

static void reads_nothing_behind_the_buffer(struct kunit *test)
{
	void *end = new_page(test) + PAGE_SIZE, *at;
	u64 *room = new_room(test);
	u64 format, measured = 0;
	unsigned int cut, bytes;

	format = BIT_ULL(63) | BIT_ULL(61) | BIT_ULL(49) | LBR_VAR | CNTR;
	bytes = fragment_bytes(format) + 48 + 24 + 16;
	put_fragment(room, format, bytes);
	room[(fragment_bytes(format) + 16) / 8] = 1;	/* depth */

	for (cut = 0; cut <= bytes; cut++) {
		at = memcpy(end - cut, room, cut);
		KUNIT_EXPECT_EQ(test, arch_pebs_measure(at, end, &measured),
				cut == bytes ? bytes : 0);
	}
	KUNIT_EXPECT_EQ(test, measured, 0);

	/* An adaptive record of the basic group that claims a branch and counters */
	at = end - 32;
	*(u64 *)at = 32ULL << 48 | BIT(3) | BIT(4);
	KUNIT_EXPECT_FALSE(test, adaptive_pebs_measure(at, &measured));
}

/* The same for the branches: as many are read as the record has. */
static void reads_no_more_branches(struct kunit *test)
{
	struct lbr_entry *end = new_page(test) + PAGE_SIZE;
	unsigned int lbr_nr, n, found[4];
	struct cpu_hw_events *cpuc;
	int br_sel;

	for (n = 1; n < ARRAY_SIZE(found); n++)
		end[-(int)n].from = 0x1000;

	preempt_disable();
	cpuc = this_cpu_ptr(&cpu_hw_events);
	lbr_nr = x86_pmu.lbr_nr;
	br_sel = cpuc->br_sel;
	/* A CPU that has more, and a filter that keeps all of them */
	x86_pmu.lbr_nr = 32;
	cpuc->br_sel = X86_BR_ALL;
	for (n = 0; n < ARRAY_SIZE(found); n++) {
		intel_pmu_store_pebs_lbrs(end - n, n);
		found[n] = cpuc->lbr_stack.nr;
	}
	cpuc->br_sel = br_sel;
	x86_pmu.lbr_nr = lbr_nr;
	preempt_enable();

	for (n = 0; n < ARRAY_SIZE(found); n++)
		KUNIT_EXPECT_EQ(test, found[n], n);
}

/* What is remembered of a record is enough to know the length of the next one. */
static void remembers_what_was_measured(struct kunit *test)
{
	void *room = new_room(test), *end = room + ROOM;
	u64 format, measured = 0;
	unsigned int n, bytes;

	for (n = 1; n < BIT(ARRAY_SIZE(parts)); n++) {
		format = choose(n);
		bytes = fragment_bytes(format);

		measured = 0;
		put_fragment(room, format, bytes);
		KUNIT_EXPECT_EQ(test, arch_pebs_measure(room, end, &measured), bytes);
		KUNIT_EXPECT_EQ(test, measured, format & BIT_ULL(63) ? format | bytes : 0);

		measured = 0;
		put_fragment(room, format, bytes - 1);
		KUNIT_EXPECT_EQ(test, arch_pebs_measure(room, end, &measured), 0);
		/* With these the header alone does not tell: no counters, no branches. */
		memset(room + bytes, 0, 256);
		put_fragment(room, format | CNTR, bytes + 16);
		KUNIT_EXPECT_NE(test, arch_pebs_measure(room, end, &measured), 0);
		put_fragment(room, format | LBR_8, bytes + 48 + 8 * 24);
		KUNIT_EXPECT_NE(test, arch_pebs_measure(room, end, &measured), 0);
		put_fragment(put_fragment(room, format | CONTINUED, bytes), BIT_ULL(61), 176);
		KUNIT_EXPECT_EQ(test, arch_pebs_measure(room, end, &measured),
				format & BIT_ULL(63) ? bytes + 176 : bytes);
		KUNIT_EXPECT_EQ(test, measured, 0);
	}
}

static void measures_adaptive_records(struct kunit *test)
{
	static const unsigned int part[] = { 32, 144, 256, 2 * 24, 16 };
	u64 *room = new_room(test);
	unsigned int groups, i, size;
	u64 measured, header;

	/* Meminfo, gpr, xmm, lbr with two branches, cntr with no counter */
	for (groups = 0; groups < 32; groups++) {
		size = 32;
		for (i = 0; i < ARRAY_SIZE(part); i++)
			size += groups & BIT(i) ? part[i] : 0;

		header = (u64)size << 48 | 1 << 24 | groups;
		/* The latency differs from record to record. */
		room[0] = header | 0x1234ULL << 32;
		measured = 0;
		KUNIT_EXPECT_TRUE(test, adaptive_pebs_measure((void *)room, &measured));
		KUNIT_EXPECT_EQ(test, measured, groups & BIT(4) ? 0 : header);
		KUNIT_EXPECT_EQ(test, adaptive_pebs_header((void *)room), header);

		room[0] -= 1ULL << 48;
		measured = 0;
		KUNIT_EXPECT_FALSE(test, adaptive_pebs_measure((void *)room, &measured));
		KUNIT_EXPECT_EQ(test, measured, 0);
	}
}

/* What the index of the empty buffer says, in bytes from the end of the buffer */
static long margin_of(struct kunit *test, struct cpu_hw_events *cpuc)
{
	union arch_pebs_index index;

	arch_pebs_update_index(cpuc);
	index.whole = cpuc->arch_pebs_index;
	KUNIT_EXPECT_TRUE(test, index.en && !index.wr && !index.full);

	return PEBS_BUFFER_SIZE - index.thresh * 16;
}

/* Behind the threshold there is room for what can still be written. */
static void leaves_room_for_long_records(struct kunit *test)
{
	struct cpu_hw_events *cpuc = kunit_kzalloc(test, sizeof(*cpuc), GFP_KERNEL);
	unsigned int bytes = fragment_bytes(ALL_BITS), n;
	long margin;

	KUNIT_ASSERT_NOT_NULL(test, cpuc);
	KUNIT_EXPECT_EQ(test, arch_pebs_config_bytes(ALL_BITS), bytes);
	KUNIT_EXPECT_EQ(test, arch_pebs_config_bytes(0), 16 + 48);
	KUNIT_EXPECT_GE(test, arch_pebs_config_bytes(ALL_BITS | LBR_VAR),
			bytes + 48 + x86_pmu.lbr_nr * 24);
	KUNIT_EXPECT_GE(test, arch_pebs_config_bytes(ALL_BITS | BIT_ULL(36)),
			bytes + 16 + 10 * 8);

	for (n = 1; n <= 12; n++) {
		cpuc->n_pebs = n;
		cpuc->n_large_pebs = n;
		cpuc->arch_pebs_cfg = ALL_BITS;
		margin = margin_of(test, cpuc);
		KUNIT_EXPECT_GE(test, margin, (long)((n + 1) * bytes));
		KUNIT_EXPECT_LT(test, margin, (long)PEBS_BUFFER_SIZE);

		/* A page at least */
		cpuc->arch_pebs_cfg = 0;
		margin = margin_of(test, cpuc);
		KUNIT_EXPECT_EQ(test, margin, (long)PAGE_SIZE);

		/* One that must not wait */
		cpuc->n_large_pebs = n - 1;
		KUNIT_EXPECT_EQ(test, margin_of(test, cpuc), (long)PEBS_BUFFER_SIZE - 16);
	}
}

static struct kunit_case pebs_record_cases[] = {
	KUNIT_CASE(measures_whole_records),
	KUNIT_CASE(refuses_truncated_records),
	KUNIT_CASE(refuses_wrong_sizes),
	KUNIT_CASE(measures_branches_and_counters),
	KUNIT_CASE(reads_nothing_behind_the_buffer),
	KUNIT_CASE(reads_no_more_branches),
	KUNIT_CASE(remembers_what_was_measured),
	KUNIT_CASE(measures_adaptive_records),
	KUNIT_CASE(leaves_room_for_long_records),
	{}
};

static struct kunit_suite pebs_record_suite = {
	.name = "perf_pebs_record",
	.test_cases = pebs_record_cases,
};

kunit_test_suite(pebs_record_suite);
