// SPDX-License-Identifier: GPL-2.0
/*
 * What perf_event_open() accepts and refuses of the SIMD fields of struct
 * perf_event_attr, and that the samples of what it accepts have the shape that
 * was asked for.
 */
#include <asm/perf_regs.h>
#include <cpuid.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"
#include "simd_regs_event.h"
#include "simd_regs_image.h"
#include "simd_regs_record.h"

#define U	PERF_SAMPLE_REGS_USER
#define I	PERF_SAMPLE_REGS_INTR
#define BITS(first, last)	((~0ULL >> (63 - (last))) & (~0ULL << (first)))
#define R16_R31	BITS(PERF_REG_X86_R16, PERF_REG_X86_R31)
#define SSP	BITS(PERF_REG_X86_SSP, PERF_REG_X86_SSP)

/* The SIMD part of an attr, in short */
struct row {
	const char *name;
	int err;			/* expected, if the CPU has the registers */
	__u64 sample_type;
	__u64 xfeatures;		/* what the CPU needs for it */
	__u16 enabled, pred_qwords, vec_qwords, reserved;
	__u32 pred_intr, pred_user;
	__u64 vec_intr, vec_user;
	__u64 gprs_intr, gprs_user;
	__u32 stack;
};

static struct perf_event_attr row_attr(const struct row *row)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_IP | row->sample_type,
		.disabled = 1,
		.sample_regs_intr = row->gprs_intr,
		.sample_regs_user = row->gprs_user,
		.sample_stack_user = row->stack,
		.sample_simd_regs_enabled = row->enabled,
		.sample_simd_pred_reg_qwords = row->pred_qwords,
		.sample_simd_vec_reg_qwords = row->vec_qwords,
		.__reserved_4 = row->reserved,
		.sample_simd_pred_reg_intr = row->pred_intr,
		.sample_simd_pred_reg_user = row->pred_user,
		.sample_simd_vec_reg_intr = row->vec_intr,
		.sample_simd_vec_reg_user = row->vec_user,
	};

	return attr;
}

/* Opens for this task and closes again: 0 or a negative errno. */
static int try_open(struct perf_event_attr *attr)
{
	int fd = simd_perf_event_open(attr, 0, -1, -1);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int expected_error(const struct row *row)
{
	__u64 needed = row->xfeatures;

	/* Every CPU has XMM registers, but only XSAVE can take them. */
	if (row->vec_qwords || (!row->enabled && (row->gprs_intr | row->gprs_user) >> 32))
		needed |= SIMD_XF_SSE;

	return needed & ~simd_xcr0() ? -EOPNOTSUPP : row->err;
}

/* There are fewer registers for a 32-bit kernel, and fewer on old CPUs. */
#define XMM	.vec_qwords = 2
#define YMM	.vec_qwords = 4, .xfeatures = SIMD_XF_YMMH
#define ZMM	.vec_qwords = 8, .xfeatures = SIMD_XF_ZMMH | SIMD_XF_HI16_ZMM
#define OPMASK	.pred_qwords = 1, .xfeatures = SIMD_XF_OPMASK

static const struct row good[] = {
	{ "enabled alone, user", 0, U, .enabled = 1 },
	{ "enabled alone, intr", 0, I, .enabled = 1 },
	{ "enabled alone with GPRs", 0, U | I, .enabled = 1, .gprs_user = 0xff0fff,
	  .gprs_intr = 0x1ff },
	{ "XMM, user", 0, U, .enabled = 1, XMM, .vec_user = 0xffff },
	{ "XMM, intr", 0, I, .enabled = 1, XMM, .vec_intr = 0xffff },
	{ "XMM, both", 0, U | I, .enabled = 1, XMM, .vec_intr = 0xffff, .vec_user = 0xffff },
	{ "XMM0", 0, I, .enabled = 1, XMM, .vec_intr = 1 },
	{ "XMM15", 0, I, .enabled = 1, XMM, .vec_intr = 1 << 15 },
	{ "XMM, different sides", 0, U | I, .enabled = 1, XMM, .vec_intr = 0x11,
	  .vec_user = 0xf0f0 },
	{ "XMM of one of two sides", 0, U | I, .enabled = 1, XMM, .vec_user = 3 },
	{ "YMM, user", 0, U, .enabled = 1, YMM, .vec_user = 0xffff },
	{ "YMM, intr", 0, I, .enabled = 1, YMM, .vec_intr = 0xffff },
	{ "YMM, both, GPRs", 0, U | I, .enabled = 1, YMM, .vec_intr = 0xffff,
	  .vec_user = 0xffff, .gprs_intr = 0xff0fff, .gprs_user = 0xff0fff },
	{ "YMM3", 0, U, .enabled = 1, YMM, .vec_user = 1 << 3 },
	{ "YMM, some stack", 0, U | I | PERF_SAMPLE_STACK_USER, .enabled = 1, YMM,
	  .vec_intr = 0xffff, .vec_user = 0xffff, .stack = 32768 },
	{ "all of the stack, XMM", 0, U | I | PERF_SAMPLE_STACK_USER, .enabled = 1,
	  XMM, .vec_intr = 0xffff, .vec_user = 0xffff, .stack = 65528 },
	{ "most of the stack, XMM", 0, U | I | PERF_SAMPLE_STACK_USER, .enabled = 1,
	  XMM, .vec_intr = 0xffff, .vec_user = 0xffff, .stack = 65000 },
	{ "YMM, callchain", 0, U | I | PERF_SAMPLE_CALLCHAIN, .enabled = 1, YMM,
	  .vec_intr = 0xffff, .vec_user = 0xffff },
	{ "ZMM", 0, U | I, .enabled = 1, ZMM, .vec_intr = UINT32_MAX, .vec_user = UINT32_MAX },
	{ "ZMM31", 0, I, .enabled = 1, ZMM, .vec_intr = 1U << 31 },
	{ "ZMM0", 0, U, .enabled = 1, .vec_qwords = 8, .xfeatures = SIMD_XF_ZMMH,
	  .vec_user = 1 },
	{ "OPMASK", 0, U | I, .enabled = 1, OPMASK, .pred_intr = 0xff, .pred_user = 0xff },
	{ "K1", 0, I, .enabled = 1, OPMASK, .pred_intr = 2 },
	{ "XMM and OPMASK", 0, U | I, .enabled = 1, XMM, OPMASK, .vec_intr = 3,
	  .pred_user = 0xff },
	{ "R16-R31", 0, U | I, .enabled = 1, .xfeatures = SIMD_XF_APX,
	  .gprs_user = R16_R31, .gprs_intr = R16_R31 },
	{ "old XMM bits, intr", 0, I, .gprs_intr = BITS(32, 63) },
	{ "old XMM bits, user", 0, U, .gprs_user = BITS(32, 63) },
	{ "old XMM bits, some and GPRs", 0, U | I, .gprs_intr = BITS(32, 35) | 0x1ff,
	  .gprs_user = BITS(62, 63) | 0x1ff },
};

/* Each is wrong in one way, and would be good without. */
static const struct row bad[] = {
	{ "enabled 2", -EINVAL, U, .enabled = 2, XMM, .vec_user = 1 },
	{ "enabled 0xffff", -EINVAL, U, .enabled = 0xffff },
	{ "reserved", -EINVAL, U, .enabled = 1, XMM, .vec_user = 1, .reserved = 1 },
	{ "reserved, enabled alone", -EINVAL, U, .enabled = 1, .reserved = 0x8000 },
	{ "reserved, not enabled", -EINVAL, U, .gprs_user = 1, .reserved = 1 },
	{ "reserved, nothing else", -EINVAL, 0, .reserved = 1 },
	/* Fields without enabled */
	{ "vec_qwords, not enabled", -EINVAL, U, .gprs_user = 1, .vec_qwords = 2 },
	{ "pred_qwords, not enabled", -EINVAL, U, .gprs_user = 1, .pred_qwords = 1 },
	{ "vec_intr, not enabled", -EINVAL, I, .gprs_intr = 1, .vec_intr = 1 },
	{ "vec_user, not enabled", -EINVAL, U, .gprs_user = 1, .vec_user = 1 },
	{ "pred_intr, not enabled", -EINVAL, I, .gprs_intr = 1, .pred_intr = 1 },
	{ "pred_user, not enabled", -EINVAL, U, .gprs_user = 1, .pred_user = 1 },
	{ "all of XMM, not enabled", -EINVAL, U | I, .gprs_intr = 1, .gprs_user = 1, XMM,
	  .vec_intr = 0xffff, .vec_user = 0xffff },
	/* A side that is not sampled */
	{ "enabled, no side", -EINVAL, 0, .enabled = 1 },
	{ "XMM, no side", -EINVAL, 0, .enabled = 1, XMM, .vec_user = 1 },
	{ "user's mask, intr side", -EINVAL, I, .enabled = 1, XMM, .vec_user = 1 },
	{ "intr's mask, user side", -EINVAL, U, .enabled = 1, XMM, .vec_intr = 1 },
	{ "user's K, intr side", -EINVAL, I, .enabled = 1, .pred_qwords = 1, .pred_user = 1 },
	/* Width and mask apart */
	{ "vec mask without width", -EINVAL, U, .enabled = 1, .vec_user = 1 },
	{ "vec width without mask", -EINVAL, U, .enabled = 1, XMM },
	{ "pred mask without width", -EINVAL, U, .enabled = 1, .pred_user = 1 },
	{ "pred width without mask", -EINVAL, U, .enabled = 1, .pred_qwords = 1 },
	{ "pred width beside XMM", -EINVAL, U, .enabled = 1, XMM, .vec_user = 1,
	  .pred_qwords = 1 },
	{ "pred mask beside XMM", -EINVAL, U, .enabled = 1, XMM, .vec_user = 1,
	  .pred_user = 1 },
	/* Not a width */
	{ "vec width 1", -EINVAL, U, .enabled = 1, .vec_qwords = 1, .vec_user = 1 },
	{ "vec width 3", -EINVAL, U, .enabled = 1, .vec_qwords = 3, .vec_user = 1 },
	{ "vec width 5", -EINVAL, U, .enabled = 1, .vec_qwords = 5, .vec_user = 1 },
	{ "vec width 16", -EINVAL, U, .enabled = 1, .vec_qwords = 16, .vec_user = 1 },
	{ "vec width 0xffff", -EINVAL, U, .enabled = 1, .vec_qwords = 0xffff, .vec_user = 1 },
	{ "pred width 2", -EINVAL, U, .enabled = 1, .pred_qwords = 2, .pred_user = 1 },
	{ "pred width 0xffff", -EINVAL, U, .enabled = 1, .pred_qwords = 0xffff,
	  .pred_user = 1 },
	/* Not a register */
	{ "XMM16", -EINVAL, U, .enabled = 1, XMM, .vec_user = 1 << 16 },
	{ "XMM16 beside others", -EINVAL, I, .enabled = 1, XMM, .vec_intr = 0x1ffff },
	{ "XMM63", -EINVAL, U, .enabled = 1, XMM, .vec_user = 1ULL << 63 },
	{ "YMM16", -EINVAL, U, .enabled = 1, .vec_qwords = 4, .vec_user = 0x1ffff },
	{ "ZMM32", -EINVAL, U, .enabled = 1, .vec_qwords = 8, .vec_user = 1ULL << 32 },
	{ "K8", -EINVAL, U, .enabled = 1, .pred_qwords = 1, .pred_user = 0x100 },
	{ "K31", -EINVAL, I, .enabled = 1, .pred_qwords = 1, .pred_intr = 1U << 31 },
	{ "GPR 41", -EINVAL, U, .enabled = 1, .gprs_user = BITS(41, 41) },
	{ "GPR 63", -EINVAL, I, .enabled = 1, .gprs_intr = BITS(63, 63) },
	{ "old XMM bits, enabled", -EINVAL, I, .enabled = 1, .gprs_intr = BITS(32, 63) },
	/* DS and ES do not exist for 64-bit tasks, in either numbering */
	{ "DS", -EINVAL, U, .enabled = 1, .gprs_user = 1 << PERF_REG_X86_DS },
	{ "R16 by the old numbering", -EINVAL, U, .gprs_user = BITS(24, 24) },
};

TEST(good_attrs)
{
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		attr = row_attr(&good[i]);
		EXPECT_EQ(expected_error(&good[i]), try_open(&attr))
			TH_LOG("%s", good[i].name);
	}
}

TEST(bad_attrs)
{
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		attr = row_attr(&bad[i]);
		EXPECT_EQ(bad[i].err, try_open(&attr))
			TH_LOG("%s", bad[i].name);
	}
}

/* Every single register, and every pair of neighbours, is a choice. */
TEST(any_subset)
{
	static const struct {
		unsigned int qwords, nr;
		__u64 xfeatures;
	} classes[] = {
		{ 2, 16, SIMD_XF_SSE }, { 4, 16, SIMD_XF_YMMH },
		{ 8, 32, SIMD_XF_ZMMH | SIMD_XF_HI16_ZMM },
	};
	unsigned int i, reg;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		struct row row = {
			.sample_type = U | I, .enabled = 1,
			.vec_qwords = classes[i].qwords,
		};
		bool there = !(classes[i].xfeatures & ~simd_xcr0());

		for (reg = 0; reg < classes[i].nr; reg++) {
			struct perf_event_attr attr;

			row.vec_user = 1ULL << reg;
			row.vec_intr = row.vec_user | 1ULL << (reg + 1) % classes[i].nr;
			attr = row_attr(&row);
			EXPECT_EQ(there ? 0 : -EOPNOTSUPP, try_open(&attr))
				TH_LOG("width %u register %u", classes[i].qwords, reg);
		}
	}
}

TEST(ssp)
{
	const struct row row = { "SSP", 0, U, .enabled = 1, .gprs_user = SSP };
	struct perf_event_attr attr = row_attr(&row);
	unsigned int a, b, c = 0, d;
	int err = try_open(&attr);

	/* With the feature it still is up to the kernel's configuration. */
	__get_cpuid_count(7, 0, &a, &b, &c, &d);
	EXPECT_TRUE(err == -EOPNOTSUPP || (!err && c & (1 << 7)));
}

/* What can sample general purpose registers can sample these. */
TEST(other_pmus)
{
	const struct row row = { "XMM", 0, I, .enabled = 1, XMM, .vec_intr = 1 };
	const struct row old = { "old XMM bits", 0, I, .gprs_intr = BITS(32, 33) };
	static const __u64 software[] = {
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK,
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
		PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_DUMMY,
		PERF_COUNT_SW_BPF_OUTPUT,
	};
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(software); i++) {
		attr = row_attr(&row);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = software[i];
		attr.sample_period = 1;
		EXPECT_EQ(expected_error(&row), try_open(&attr))
			TH_LOG("config %llu", attr.config);

		attr = row_attr(&old);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = software[i];
		attr.sample_period = 1;
		EXPECT_EQ(expected_error(&old), try_open(&attr))
			TH_LOG("old bits, config %llu", attr.config);
	}
}

TEST(breakpoint)
{
	const struct row row = { "XMM", 0, I, .enabled = 1, XMM, .vec_intr = 1,
				 .gprs_intr = 1 };
	static int watched;
	struct perf_event_attr attr = row_attr(&row), plain;

	attr.type = PERF_TYPE_BREAKPOINT;
	attr.config = 0;
	attr.sample_period = 1;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&watched;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.exclude_kernel = 1;

	plain = attr;
	plain.sample_simd_regs_enabled = 0;
	plain.sample_simd_vec_reg_qwords = 0;
	plain.sample_simd_vec_reg_intr = 0;
	if (try_open(&plain))
		SKIP(return, "no hardware breakpoints");
	EXPECT_EQ(expected_error(&row), try_open(&attr));
}

/* Opens with an attr of @size bytes of which @set has a 1 in it. */
static int open_sized(const struct perf_event_attr *attr, size_t size, size_t set,
		      __u32 *size_back)
{
	union {
		struct perf_event_attr attr;
		unsigned char bytes[512];
	} u = { .attr = *attr };
	int err;

	u.attr.size = size;
	if (set)
		u.bytes[set] = 1;
	err = try_open(&u.attr);
	*size_back = u.attr.size;
	return err;
}

TEST(attr_size)
{
	const struct row none = { "GPRs", 0, U | I, .gprs_intr = 0x1ff, .gprs_user = 0x1ff };
	const struct row xmm = { "XMM", 0, U, .enabled = 1, XMM, .vec_user = 1,
				 .gprs_user = 0x1ff };
	struct perf_event_attr gprs = row_attr(&none), simd = row_attr(&xmm);
	int there = expected_error(&xmm);
	__u32 back;

	EXPECT_EQ(176, PERF_ATTR_SIZE_VER10);
	EXPECT_EQ(176UL, sizeof(struct perf_event_attr));

	/* Older programs, and newer ones that want nothing new */
	EXPECT_EQ(0, open_sized(&gprs, PERF_ATTR_SIZE_VER9, 0, &back));
	EXPECT_EQ(0, open_sized(&gprs, PERF_ATTR_SIZE_VER8, 0, &back));
	EXPECT_EQ(0, open_sized(&gprs, PERF_ATTR_SIZE_VER5, 0, &back));
	EXPECT_EQ(0, open_sized(&gprs, PERF_ATTR_SIZE_VER10, 0, &back));
	EXPECT_EQ(there, open_sized(&simd, PERF_ATTR_SIZE_VER10, 0, &back));
	EXPECT_EQ(there, open_sized(&simd, PERF_ATTR_SIZE_VER10 + 8, 0, &back));
	EXPECT_EQ(there, open_sized(&simd, 512, 0, &back));

	/* What the kernel does not get to see is zero: a width without a mask */
	EXPECT_EQ(-EINVAL, open_sized(&simd, 168, 0, &back));
	EXPECT_EQ(0, open_sized(&simd, PERF_ATTR_SIZE_VER9, 0, &back));

	/* Something that the kernel does not know, and it says what it knows */
	EXPECT_EQ(-E2BIG, open_sized(&simd, PERF_ATTR_SIZE_VER10 + 8,
				     PERF_ATTR_SIZE_VER10, &back));
	EXPECT_LE((__u32)PERF_ATTR_SIZE_VER10, back);
}

TEST(groups_and_inheritance)
{
	const struct row xmm = { "XMM", 0, U, .enabled = 1, XMM, .vec_user = 1 };
	const struct row other = { "XMM", 0, I, .enabled = 1, XMM, .vec_intr = 0xff };
	struct perf_event_attr attr = row_attr(&xmm), sibling = row_attr(&other);
	int leader, fd;

	if (expected_error(&xmm))
		SKIP(return, "this CPU has no XSAVE");

	leader = simd_perf_event_open(&attr, 0, -1, -1);
	ASSERT_GE(leader, 0);
	fd = simd_perf_event_open(&sibling, 0, -1, leader);
	EXPECT_GE(fd, 0);
	close(fd);

	sibling.type = PERF_TYPE_SOFTWARE;
	sibling.config = PERF_COUNT_SW_PAGE_FAULTS;
	fd = simd_perf_event_open(&sibling, 0, -1, leader);
	EXPECT_GE(fd, 0);
	close(fd);
	close(leader);

	attr.inherit = 1;
	EXPECT_EQ(0, try_open(&attr));
	attr.exclude_kernel = 1;
	EXPECT_EQ(0, try_open(&attr));
}

static void burn_ms(long ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

struct shape_check {
	const struct perf_event_attr *attr;
	const char *error;
	unsigned int samples;
};

static const char *check_shape(const struct simd_block *b, __u64 vec, __u32 pred,
			       const struct perf_event_attr *attr)
{
	if (!vec && !pred)
		return b->has_simd && (b->nr_vectors || b->nr_pred) ?
		       "registers that were not asked for" : NULL;
	if (!b->has_simd)
		return "no registers in user mode";
	if (b->nr_vectors != (unsigned int)__builtin_popcountll(vec))
		return "not the vectors that were asked for";
	if (b->nr_pred != (unsigned int)__builtin_popcount(pred))
		return "not the predicates that were asked for";
	if (vec && b->vector_qwords != attr->sample_simd_vec_reg_qwords)
		return "not the width that was asked for";
	return NULL;
}

static void check_shapes(const struct perf_event_header *header, void *arg)
{
	struct shape_check *check = arg;
	const struct perf_event_attr *attr = check->attr;
	struct simd_sample s;
	const char *error;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	check->samples++;
	error = simd_decode(header, attr, &s);
	/* In user mode everything is there; the old bits have no SIMD block. */
	if (!error && s.cpumode == PERF_RECORD_MISC_USER && attr->sample_simd_regs_enabled) {
		if (attr->sample_type & U)
			error = check_shape(&s.user, attr->sample_simd_vec_reg_user,
					    attr->sample_simd_pred_reg_user, attr);
		if (!error && attr->sample_type & I)
			error = check_shape(&s.intr, attr->sample_simd_vec_reg_intr,
					    attr->sample_simd_pred_reg_intr, attr);
	}
	if (error)
		check->error = error;
}

/*
 * Each good attr gives records that can be decoded to the last byte. No hardware takes
 * the samples of a clock, so precise_ip changes nothing.
 */
TEST(record_layout)
{
	struct simd_event event;
	unsigned int i;

	simd_raise_memlock();
	for (i = 0; i < 2 * ARRAY_SIZE(good); i++) {
		const struct row *row = &good[i / 2];
		struct perf_event_attr attr = row_attr(row);
		struct shape_check check = { .attr = &attr };
		int err, tries;

		attr.precise_ip = i % 2;
		err = simd_event_open(&event, &attr, 0, -1, NULL);
		EXPECT_EQ(expected_error(row), err)
			TH_LOG("%s, precise_ip %u", row->name, attr.precise_ip);
		if (err)
			continue;
		simd_event_enable(&event);
		for (tries = 1; check.samples < 20 && tries <= 100; tries++) {
			burn_ms(clock() * 1000 / CLOCKS_PER_SEC + 3);
			simd_event_drain(&event, check_shapes, &check);
		}
		simd_event_close(&event);
		EXPECT_EQ(NULL, check.error)
			TH_LOG("%s, precise_ip %u: %s", row->name, attr.precise_ip, check.error);
		EXPECT_LE(20U, check.samples)
			TH_LOG("%s, precise_ip %u: %u samples", row->name, attr.precise_ip,
			       check.samples);
	}
}

TEST_HARNESS_MAIN
