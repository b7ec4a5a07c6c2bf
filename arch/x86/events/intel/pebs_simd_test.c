// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what is read from PEBS records for SIMD registers: synthetic
 * records with all groups, and ones that lack some; and that a sample shows a
 * record if it may, and none later.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/segment.h>

#include "../perf_event.h"
#include "../simd_regs.h"
#include "pebs_simd.h"
#include "pebs_test.h"

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
		arch_pebs_find_simd(room, true, &record);
		KUNIT_EXPECT_EQ(test, record.state, parts_state(format));
		expect_parts(test, room, format, &record);
	}

	/* Half of it in a second fragment, behind a gap in the first */
	format = BIT_ULL(63) | BIT_ULL(61) | BIT_ULL(49) | BIT_ULL(50);
	second = put_fragment(room, format | CONTINUED, fragment_bytes(format) + 32);
	put_fragment(second, XER_BITS & ~format, fragment_bytes(XER_BITS & ~format));

	record.state = 0;
	arch_pebs_find_simd(room, true, &record);
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
	arch_pebs_find_simd(room, true, &record);
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
	}
}

/* Does a sample of @event show SIMD registers on @side? */
static bool shows(struct perf_event *event, enum perf_simd_side side, bool user_mode)
{
	struct pt_regs pt_regs = { .cs = user_mode ? __USER_CS : __KERNEL_CS };
	struct perf_sample_data data = {};
	struct perf_regs *regs = side == PERF_SIMD_USER ? &data.regs_user : &data.regs_intr;

	perf_simd_regs_begin_sample(&data, event);
	regs->abi = PERF_SAMPLE_REGS_ABI_64;
	perf_simd_regs_prepare(&data, event, side, &pt_regs);
	perf_simd_regs_end_sample(&data, event);

	return regs->abi & PERF_SAMPLE_REGS_ABI_SIMD;
}

/* The register has what some task has left there, if this one has no such stack. */
static void has_no_ssp_without_a_shadow_stack(struct kunit *test)
{
	u64 format = BIT_ULL(61) | BIT_ULL(49);
	struct perf_simd_record record;
	u64 *room = new_room(test);

	put_fragment(room, format, fragment_bytes(format));

	record.state = 0;
	record.component[XFEATURE_CET_USER] = room;
	arch_pebs_find_simd(room, false, &record);
	KUNIT_EXPECT_EQ(test, record.state, XFEATURE_MASK_SSE | XFEATURE_MASK_CET_USER);
	/* All zeros */
	KUNIT_EXPECT_NULL(test, record.component[XFEATURE_CET_USER]);
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
	event->attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
	event->attr.sample_simd_regs_enabled = 1;
	event->attr.sample_simd_vec_reg_qwords = 2;
	event->attr.sample_simd_vec_reg_user = 2;
	event->attr.sample_simd_vec_reg_intr = 2;
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);
	event->simd->kernel = true;
	event->simd->precise = true;

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
	KUNIT_CASE(finds_what_is_there),
	KUNIT_CASE(has_no_ssp_of_the_kernel),
	KUNIT_CASE(has_no_ssp_without_a_shadow_stack),
	KUNIT_CASE(finds_xmm_in_adaptive_records),
	KUNIT_CASE(shows_a_record_once),
	{}
};

static struct kunit_suite pebs_simd_suite = {
	.name = "perf_simd_regs_pebs",
	.test_cases = pebs_simd_cases,
};

kunit_test_suite(pebs_simd_suite);
