// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the x86 part of SIMD register sampling: the classes of
 * registers and the XSAVE components that they need, and that nothing is shown
 * of kernel threads.
 */
#include <kunit/test.h>
#include <linux/cpufeature.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>

#define GPR(reg)	BIT_ULL(PERF_REG_X86_##reg)
#define FP(c)		XFEATURE_MASK_##c

struct shape {
	const char *what;
	u16 vec_qwords, pred_qwords;
	u64 regs, vec;
	u32 pred;
	bool bad;		/* on any x86 */
	bool only_64bit;
	u64 state;		/* what it needs, if it is not bad */
};

static const struct shape shapes[] = {
	{ "numbering only", .regs = GPR(AX) },
	{ "nothing at all" },
	{ "one XMM", 2, .vec = 1, .state = FP(SSE) },
	{ "XMM0-7", 2, .vec = 0xff, .state = FP(SSE) },
	{ "XMM15", 2, .vec = 0x8000, .state = FP(SSE), .only_64bit = true },
	{ "XMM16", 2, .vec = 0x10000, .bad = true },
	{ "YMM0-7", 4, .vec = 0xff, .state = FP(SSE) | FP(YMM) },
	{ "YMM16", 4, .vec = 0x10001, .bad = true },
	{ "ZMM0", 8, .vec = 1, .only_64bit = true,
	  .state = FP(SSE) | FP(YMM) | XFEATURE_MASK_ZMM_Hi256 },
	{ "ZMM31", 8, .vec = 1U << 31, .only_64bit = true, .state = XFEATURE_MASK_Hi16_ZMM },
	{ "ZMM15-16", 8, .vec = 0x18000, .only_64bit = true,
	  .state = FP(SSE) | FP(YMM) | XFEATURE_MASK_ZMM_Hi256 | XFEATURE_MASK_Hi16_ZMM },
	{ "ZMM32", 8, .vec = BIT_ULL(32), .bad = true },
	{ "OPMASK3", .pred_qwords = 1, .pred = 8, .only_64bit = true,
	  .state = FP(OPMASK) },
	{ "OPMASK8", .pred_qwords = 1, .pred = 0x100, .bad = true },
	{ "wide OPMASK", .pred_qwords = 2, .pred = 1, .bad = true },
	{ "width of no class", 3, .vec = 1, .bad = true },
	{ "half an XMM", 1, .vec = 1, .bad = true },
	{ "R16", .regs = GPR(R16), .only_64bit = true, .state = FP(APX) },
	{ "R31 and AX", .regs = GPR(R31) | GPR(AX), .only_64bit = true,
	  .state = FP(APX) },
	{ "SSP", .regs = GPR(SSP), .only_64bit = true, .state = FP(CET_USER) },
	{ "bit above SSP", .regs = BIT_ULL(PERF_REG_MISC_MAX), .bad = true },
	{ "top bit", .regs = BIT_ULL(63), .bad = true },
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

static bool has_shape(const struct shape *shape)
{
	u64 has = 0;

	if (boot_cpu_has(X86_FEATURE_XSAVE))
		has = fpu_kernel_cfg.default_features;
	if (!boot_cpu_has(X86_FEATURE_USER_SHSTK))
		has &= ~FP(CET_USER);

	return !(shape->state & ~has) &&
	       (IS_ENABLED(CONFIG_X86_64) || !shape->only_64bit);
}

/* What a sample has behind the registers of pt_regs. */
static unsigned int shape_bytes(const struct shape *shape)
{
	unsigned int words = hweight64(shape->regs >> PERF_REG_X86_R16);

	if (shape->vec || shape->pred)
		words += 4;
	words += hweight64(shape->vec) * shape->vec_qwords;
	words += hweight32(shape->pred) * shape->pred_qwords;

	return words * sizeof(u64);
}

static void knows_the_classes(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct perf_simd_event *simd;
	enum perf_simd_side side;
	struct perf_event *event;
	int ret;

	event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		get_attr(shape, side, &event->attr);
		ret = perf_simd_regs_validate(&event->attr);

		if (shape->bad) {
			KUNIT_EXPECT_EQ(test, ret, -EINVAL);
			continue;
		}
		if (!has_shape(shape)) {
			/* There is no XMM8 to lack on 32 bits. */
			if (IS_ENABLED(CONFIG_X86_64))
				KUNIT_EXPECT_EQ(test, ret, -EOPNOTSUPP);
			else
				KUNIT_EXPECT_NE(test, ret, 0);
			continue;
		}

		KUNIT_EXPECT_EQ(test, ret, 0);
		simd = kunit_kzalloc(test, sizeof(*simd), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, simd);
		arch_perf_simd_regs_init_event(event, simd);
		KUNIT_EXPECT_EQ(test, simd->state[side], shape->state);
		KUNIT_EXPECT_EQ(test, simd->state[!side], 0);
		KUNIT_EXPECT_EQ(test, simd->ext_state[side],
				shape->regs & ~GPR(AX) ? shape->state : 0);
		KUNIT_EXPECT_EQ(test, simd->layout[side].bytes, shape_bytes(shape));
		KUNIT_EXPECT_EQ(test, simd->layout[!side].bytes, 0);
	}
}

/* Words of XMM registers by the older bits; on 32 bits there are eight registers. */
static void knows_the_older_bits(struct kunit *test)
{
	bool has = boot_cpu_has(X86_FEATURE_XSAVE);
	struct perf_event *event;

	event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.sample_type = PERF_SAMPLE_REGS_INTR;
	KUNIT_EXPECT_FALSE(test, arch_perf_wants_simd_regs(event));

	event->attr.sample_regs_intr = GENMASK_ULL(PERF_REG_X86_XMM7 + 1, PERF_REG_X86_XMM0);
	KUNIT_EXPECT_EQ(test, arch_perf_wants_simd_regs(event), has);

	event->attr.sample_regs_intr |= BIT_ULL(PERF_REG_X86_XMM8);
	KUNIT_EXPECT_EQ(test, arch_perf_wants_simd_regs(event),
			has && IS_ENABLED(CONFIG_X86_64));
}

static void expect_levels(struct kunit *test, struct perf_event *event, unsigned int levels)
{
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);
	KUNIT_ASSERT_NOT_NULL(test, event->simd);
	KUNIT_EXPECT_EQ(test, event->simd->levels, levels);
	perf_simd_regs_free_event(event);
}

/* Buffers are for the context levels at which an event can be sampled. */
static void knows_the_levels(struct kunit *test)
{
	unsigned int all = GENMASK(PERF_SIMD_NMI, PERF_SIMD_TASK);
	struct pmu pmu = { .task_ctx_nr = perf_sw_context };
	struct perf_event *event;

	event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.sample_simd_regs_enabled = 1;
	event->pmu = &pmu;
	expect_levels(test, event, all);

#ifdef CONFIG_EVENT_TRACING
	struct trace_event_call call = { .flags = TRACE_EVENT_FL_TRACEPOINT };

	event->tp_event = &call;
	expect_levels(test, event, all);
	call.flags = TRACE_EVENT_FL_UPROBE;
	expect_levels(test, event, BIT(PERF_SIMD_TASK));
	event->tp_event = NULL;
#endif

	pmu.capabilities = PERF_PMU_CAP_NO_NMI;
	expect_levels(test, event, BIT(PERF_SIMD_HARDIRQ));

	pmu.task_ctx_nr = perf_hw_context;
	expect_levels(test, event, BIT(PERF_SIMD_NMI) |
		      (boot_cpu_has(X86_FEATURE_XENPV) ? BIT(PERF_SIMD_HARDIRQ) : 0));
}

/*
 * A kernel thread has no user state, and what its FPU sections leave of the
 * registers is some task's: it shows nothing, whoever looks.
 */

struct shown {
	bool user, intr;
};

static bool shows(struct perf_event *event, struct perf_sample_data *data,
		  struct perf_regs *regs, enum perf_simd_side side)
{
	struct pt_regs pt_regs = {};

	regs->abi = PERF_SAMPLE_REGS_ABI_64;

	/* The ABI alone, as no general purpose register is asked for */
	return perf_simd_regs_prepare(data, event, side, &pt_regs) != sizeof(u64) ||
	       regs->abi != PERF_SAMPLE_REGS_ABI_64;
}

static struct shown look(struct perf_event *event)
{
	struct perf_sample_data data = {};
	struct shown shown;

	preempt_disable();
	perf_simd_regs_begin_sample(&data, event);
	shown.user = shows(event, &data, &data.regs_user, PERF_SIMD_USER);
	shown.intr = shows(event, &data, &data.regs_intr, PERF_SIMD_INTR);
	perf_simd_regs_end_sample(&data, event);
	preempt_enable();

	return shown;
}

static void shows_nothing_of_kernel_threads(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct shown outside, inside;
	int kernel;

	if (!boot_cpu_has(X86_FEATURE_XSAVE))
		kunit_skip(test, "needs XSAVE");

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
	event->attr.sample_simd_regs_enabled = 1;
	event->attr.sample_simd_vec_reg_qwords = 2;
	event->attr.sample_simd_vec_reg_user = 2;
	event->attr.sample_simd_vec_reg_intr = 2;
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);

	for (kernel = 0; kernel <= 1; kernel++) {
		event->simd->kernel = kernel;
		outside = look(event);

		/* As if a user task had run before: only compared, never looked into */
		this_cpu_write(fpu_fpregs_last_owner, (struct fpu *)test);
		kernel_fpu_begin();
		inside = look(event);
		KUNIT_EXPECT_NULL(test, this_cpu_read(fpu_fpregs_last_owner));
		kernel_fpu_end();

		KUNIT_EXPECT_FALSE(test, outside.user);
		KUNIT_EXPECT_FALSE(test, outside.intr);
		KUNIT_EXPECT_FALSE(test, inside.user);
		KUNIT_EXPECT_FALSE(test, inside.intr);
	}

	perf_simd_regs_free_event(event);
}

static struct kunit_case simd_regs_x86_cases[] = {
	KUNIT_CASE_PARAM(knows_the_classes, shape_gen_params),
	KUNIT_CASE(knows_the_older_bits),
	KUNIT_CASE(knows_the_levels),
	KUNIT_CASE(shows_nothing_of_kernel_threads),
	{}
};

static struct kunit_suite simd_regs_x86_suite = {
	.name = "perf_simd_regs_x86",
	.test_cases = simd_regs_x86_cases,
};

kunit_test_suite(simd_regs_x86_suite);
