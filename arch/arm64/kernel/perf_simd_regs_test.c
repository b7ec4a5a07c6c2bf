// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the arm64 part of SIMD register sampling: which registers and
 * widths there are, how large the buffers have to be, and that nothing is shown
 * of kernel threads.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/cpufeature.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/fpsimd.h>
#include <asm/neon.h>
#include <asm/simd.h>

#define ALL_P	0x0ffffU
#define FFR	0x10000U

struct shape {
	const char *what;
	u16 vec_qwords, pred_qwords;
	u64 regs, vec;
	u32 pred;
	bool bad;		/* on any arm64 */
	unsigned int vl;	/* the vectors needed, in bytes; 0 for no SVE */
	bool vg;		/* SVE, and not streaming mode alone */
};

static const struct shape shapes[] = {
	{ "numbering only", .regs = 1 },
	{ "nothing at all" },
	{ "one V", 2, .vec = 1 },
	{ "all V", 2, .vec = 0xffffffff },
	{ "V31", 2, .vec = BIT(31) },
	{ "V32", 2, .vec = BIT_ULL(32), .bad = true },
	{ "V63", 2, .vec = BIT_ULL(63), .bad = true },
	{ "half a V", 1, .vec = 1, .bad = true },
	{ "odd width", 3, .vec = 1, .bad = true },
	{ "wide odd width", 15, .vec = 1, .bad = true },
	{ "Z of 256 bits", 4, .vec = 0xffffffff, .vl = 32 },
	{ "Z of 384 bits", 6, .vec = 1, .vl = 48 },
	{ "Z of 512 bits", 8, .vec = BIT(31), .vl = 64 },
	{ "Z of 2048 bits", 32, .vec = BIT(7), .vl = 256 },
	{ "Z32", 4, .vec = BIT_ULL(32), .bad = true },
	{ "P of 128 bits", .pred_qwords = 1, .pred = ALL_P, .vl = 16 },
	{ "P of 512 bits, Z", 8, 1, .vec = 1, .pred = ALL_P, .vl = 64 },
	{ "P of 640 bits, Z", 10, 2, .vec = 1, .pred = ALL_P, .vl = 80 },
	{ "P of 2048 bits, Z", 32, 4, .vec = 1, .pred = 1, .vl = 256 },
	{ "P of 2048 bits", .pred_qwords = 4, .pred = 1, .vl = 200 },
	{ "P and V", 2, 1, .vec = 1, .pred = 1, .vl = 16 },
	{ "P too wide for Z", 8, 2, .vec = 1, .pred = 1, .bad = true },
	{ "P too narrow for Z", 16, 1, .vec = 1, .pred = 1, .bad = true },
	{ "predicate 17", .pred_qwords = 1, .pred = BIT(17), .bad = true },
	{ "predicate 31", .pred_qwords = 1, .pred = BIT(31), .bad = true },
	{ "X0 to PC", .regs = GENMASK(PERF_REG_ARM64_PC, 0) },
	{ "VG", .regs = BIT_ULL(PERF_REG_ARM64_VG), .vg = true },
	{ "VG and V", 2, .regs = BIT_ULL(PERF_REG_ARM64_VG), .vec = 1, .vg = true },
	{ "register 45", .regs = BIT_ULL(PERF_REG_ARM64_VG - 1), .bad = true },
	{ "register 47", .regs = BIT_ULL(PERF_REG_ARM64_VG + 1), .bad = true },
	{ "register behind PC", .regs = BIT_ULL(PERF_REG_ARM64_MAX), .bad = true },
	{ "register 63", .regs = BIT_ULL(63), .bad = true },
};

static void shape_desc(const struct shape *shape, char *desc)
{
	strscpy(desc, shape->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

static void get_attr(const struct shape *shape, enum perf_simd_side side,
		     struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.sample_simd_regs_enabled = 1,
		.sample_simd_vec_reg_qwords = shape->vec_qwords,
		.sample_simd_pred_reg_qwords = shape->pred_qwords,
	};

	if (side == PERF_SIMD_USER) {
		attr->sample_type = PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = shape->regs;
		attr->sample_simd_vec_reg_user = shape->vec;
		attr->sample_simd_pred_reg_user = shape->pred;
	} else {
		attr->sample_type = PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = shape->regs;
		attr->sample_simd_vec_reg_intr = shape->vec;
		attr->sample_simd_pred_reg_intr = shape->pred;
	}
}

static unsigned int longest_vl(void)
{
	unsigned int sve = system_supports_sve() ? sve_max_vl() : 0;
	unsigned int sme = system_supports_sme() ? sme_max_vl() : 0;

	return max(sve, sme);
}

/* A predicate can be as wide as those of the longest vectors rounded up. */
static bool has_shape(const struct shape *shape)
{
	unsigned int longest = longest_vl();

	if (shape->vg && !system_supports_sve())
		return false;
	if (shape->pred_qwords && !shape->vec_qwords)
		return longest && (longest + 63) / 64 >= shape->pred_qwords;

	return shape->vl <= longest;
}

/* What a sample of a task without SVE has behind the GPRs */
static unsigned int v_bytes(const struct shape *shape)
{
	return shape->vec ? 4 * sizeof(u64) + 16 * hweight64(shape->vec) : 0;
}

static void knows_the_shapes(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct perf_simd_event *simd;
	struct perf_event *event;
	enum perf_simd_side side;
	int ret;

	event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	simd = kunit_kzalloc(test, sizeof(*simd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, simd);

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		get_attr(shape, side, &event->attr);
		ret = perf_simd_regs_validate(&event->attr);

		if (shape->bad || !has_shape(shape)) {
			KUNIT_EXPECT_EQ(test, ret, shape->bad ? -EINVAL : -EOPNOTSUPP);
			continue;
		}

		KUNIT_EXPECT_EQ(test, ret, 0);
		memset(simd, 0, sizeof(*simd));
		arch_perf_simd_regs_init_event(event, simd);
		KUNIT_EXPECT_EQ(test, !!simd->state[side], shape->vec || shape->pred);
		KUNIT_EXPECT_EQ(test, simd->state[!side], 0);
		KUNIT_EXPECT_EQ(test, simd->layout[side].bytes, v_bytes(shape));
		KUNIT_EXPECT_EQ(test, simd->layout[!side].bytes, 0);
		/* VG is had like a GPR. */
		KUNIT_EXPECT_EQ(test, simd->ext_regs, 0);
	}
}

/* SVE without streaming mode always has it, streaming mode needs an extension. */
static void knows_where_ffr_is(struct kunit *test)
{
	const struct shape shape = { "FFR", .pred_qwords = 1, .pred = FFR };
	bool has = system_supports_sve() || system_supports_fa64();
	struct perf_event_attr attr;

	get_attr(&shape, PERF_SIMD_USER, &attr);
	KUNIT_EXPECT_EQ(test, perf_simd_regs_validate(&attr), has ? 0 : -EOPNOTSUPP);
}

/*
 * 32 vectors and 17 predicates of an eighth, beside the V registers and the layouts
 * of a sample: what is left over by alignment must not be enough for predicates.
 */
static void has_room_for_all(struct kunit *test)
{
	size_t others = sizeof(struct user_fpsimd_state) +
			PERF_SIMD_SIDES * sizeof(struct perf_simd_layout);
	unsigned int vl = longest_vl();

	KUNIT_EXPECT_GE(test, arch_perf_simd_regs_size(), others + 32 * vl + 17 * vl / 8);
}

/* A core PMU's interrupt; where anything else is sampled, the generic part knows. */
static void knows_the_levels(struct kunit *test)
{
	struct pmu pmu = { .task_ctx_nr = perf_hw_context };
	struct perf_simd_event *simd;
	struct perf_event *event;

	event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	simd = kunit_kzalloc(test, sizeof(*simd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, simd);
	event->attr.sample_simd_regs_enabled = 1;
	event->pmu = &pmu;

	arch_perf_simd_regs_init_event(event, simd);
	KUNIT_EXPECT_EQ(test, simd->levels, BIT(PERF_SIMD_HARDIRQ) | BIT(PERF_SIMD_NMI));

	memset(simd, 0, sizeof(*simd));
	pmu.task_ctx_nr = perf_sw_context;
	arch_perf_simd_regs_init_event(event, simd);
	KUNIT_EXPECT_EQ(test, simd->levels, 0);
}

struct shown {
	bool user, intr;
};

static struct shown look(struct perf_event *event, unsigned long pstate)
{
	struct pt_regs pt_regs = { .pstate = pstate };
	struct perf_sample_data data = {
		.regs_user.abi = PERF_SAMPLE_REGS_ABI_64,
		.regs_intr.abi = PERF_SAMPLE_REGS_ABI_64,
	};

	preempt_disable();
	perf_simd_regs_begin_sample(&data, event);
	perf_simd_regs_prepare(&data, event, PERF_SIMD_USER, &pt_regs);
	perf_simd_regs_prepare(&data, event, PERF_SIMD_INTR, &pt_regs);
	perf_simd_regs_end_sample(&data, event);
	preempt_enable();

	return (struct shown) {
		.user = data.regs_user.abi != PERF_SAMPLE_REGS_ABI_64,
		.intr = data.regs_intr.abi != PERF_SAMPLE_REGS_ABI_64,
	};
}

/* It has no user state, whatever the pt_regs look like. */
static void shows_nothing_of_kernel_threads(struct kunit *test)
{
	static const unsigned long pstates[] = { PSR_MODE_EL0t, PSR_MODE_EL1h };
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct shown outside, inside;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
	event->attr.sample_simd_regs_enabled = 1;
	event->attr.sample_simd_vec_reg_qwords = 2;
	event->attr.sample_simd_vec_reg_user = 2;
	event->attr.sample_simd_vec_reg_intr = 2;
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);

	for (i = 0; i < ARRAY_SIZE(pstates); i++) {
		outside = look(event, pstates[i]);
		inside = (struct shown) {};
		if (IS_ENABLED(CONFIG_KERNEL_MODE_NEON)) {
			scoped_ksimd()
				inside = look(event, pstates[i]);
		}

		KUNIT_EXPECT_FALSE(test, outside.user);
		KUNIT_EXPECT_FALSE(test, outside.intr);
		KUNIT_EXPECT_FALSE(test, inside.user);
		KUNIT_EXPECT_FALSE(test, inside.intr);
	}

	perf_simd_regs_free_event(event);
}

static struct kunit_case simd_regs_arm64_cases[] = {
	KUNIT_CASE_PARAM(knows_the_shapes, shape_gen_params),
	KUNIT_CASE(knows_where_ffr_is),
	KUNIT_CASE(has_room_for_all),
	KUNIT_CASE(knows_the_levels),
	KUNIT_CASE(shows_nothing_of_kernel_threads),
	{}
};

static struct kunit_suite simd_regs_arm64_suite = {
	.name = "perf_simd_regs_arm64",
	.test_cases = simd_regs_arm64_cases,
};

kunit_test_suite(simd_regs_arm64_suite);
