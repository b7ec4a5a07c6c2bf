// SPDX-License-Identifier: GPL-2.0
/*
 * Precise events: what hardware records of the vector registers is accepted and
 * everything else refused, and the values of samples that are made of records.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"
#include "simd_regs_record.h"

/* The classes that an event can ask for */
static const struct asked {
	const char *cls;
	unsigned int qwords;
	__u64 vec, gprs;
	__u32 pred;
} classes[] = {
	{ "zmm", 8, 0xffffffff, 0, 0 },
	{ "ymm", 4, 0xffff, 0, 0 },
	{ "xmm", 2, 0xffff, 0, 0 },
	{ "opmask", 0, 0, 0, 0xff },
	{ "egpr", 0, 0, SIMD_EGPR_REGS, 0 },
};

#define NR_CLASSES (sizeof(classes) / sizeof(*classes))

static const struct asked *find_asked(const char *cls)
{
	const struct asked *a = classes;

	while (strcmp(a->cls, cls))
		a++;
	return a;
}

/* The event, with no other registers than the marker's */
static struct perf_event_attr precise_attr(__u64 config, unsigned int precise)
{
	struct perf_event_attr attr = simd_cycles_attr();

	simd_attr_hardware(&attr, config);
	attr.precise_ip = precise;
	if (geteuid())
		simd_attr_exclude_kernel(&attr);
	return attr;
}

static void ask(struct perf_event_attr *attr, const struct asked *a, bool intr, bool user)
{
	attr->sample_type |= (intr ? PERF_SAMPLE_REGS_INTR : 0) | PERF_SAMPLE_REGS_USER;
	attr->sample_simd_regs_enabled = 1;
	if (intr) {
		attr->sample_simd_vec_reg_intr = a->vec;
		attr->sample_simd_pred_reg_intr = a->pred;
		attr->sample_regs_intr |= a->gprs;
	}
	if (user) {
		attr->sample_simd_vec_reg_user = a->vec;
		attr->sample_simd_pred_reg_user = a->pred;
		attr->sample_regs_user |= a->gprs;
	}
	attr->sample_simd_vec_reg_qwords = a->vec ? a->qwords : 0;
	attr->sample_simd_pred_reg_qwords = a->pred ? 1 : 0;
}

static int try_open(struct perf_event_attr *attr)
{
	int fd = simd_perf_event_open(attr, 0, -1, -1);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int try_class(const struct asked *a, bool intr, bool user)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_CPU_CYCLES, 1);

	ask(&attr, a, intr, user);
	return try_open(&attr);
}

static bool have_precise(void)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_CPU_CYCLES, 1);

	return !try_open(&attr);
}

/* Do records have XMM registers? The older way to ask for them says so. */
static bool have_old_xmm(void)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_CPU_CYCLES, 1);

	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 3ULL << PERF_REG_X86_XMM0;
	return !try_open(&attr);
}

TEST(interrupt_side_is_what_is_recorded)
{
	unsigned int i;
	int err;

	if (!have_precise())
		SKIP(return, "no precise events");

	for (i = 0; i < NR_CLASSES; i++) {
		const struct asked *a = &classes[i];
		bool there = simd_class_supported(simd_class_find(a->cls));

		err = try_class(a, true, false);
		if (!there || (!strcmp(a->cls, "xmm") && !have_old_xmm())) {
			EXPECT_EQ(-EOPNOTSUPP, err)
				TH_LOG("%s", a->cls);
		} else if (!strcmp(a->cls, "xmm")) {
			EXPECT_EQ(0, err);
		} else {
			EXPECT_TRUE(!err || err == -EOPNOTSUPP)
				TH_LOG("%s: %s", a->cls, strerror(-err));
		}
		printf("# %s is %s\n", a->cls, err ? "not recorded" : "recorded");

		/* With the user's beside it, nothing changes. */
		EXPECT_EQ(err, try_class(a, true, true))
			TH_LOG("%s on both sides", a->cls);
	}
}

TEST(user_side_is_what_the_cpu_has)
{
	unsigned int i;

	if (!have_precise())
		SKIP(return, "no precise events");

	for (i = 0; i < NR_CLASSES; i++) {
		const struct asked *a = &classes[i];
		bool there = simd_class_supported(simd_class_find(a->cls));

		EXPECT_EQ(there ? 0 : -EOPNOTSUPP, try_class(a, false, true))
			TH_LOG("%s", a->cls);
	}
}

/* What no CPU has is not refused for want of a record. */
TEST(wrong_attrs)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_CPU_CYCLES, 1);

	if (!have_precise())
		SKIP(return, "no precise events");

	ask(&attr, find_asked("xmm"), true, false);
	attr.sample_simd_vec_reg_intr = 1 << 16;
	EXPECT_EQ(-EINVAL, try_open(&attr));
	attr.sample_simd_vec_reg_intr = 1;
	attr.sample_simd_vec_reg_qwords = 3;
	EXPECT_EQ(-EINVAL, try_open(&attr));
	attr.sample_simd_vec_reg_qwords = 0;
	EXPECT_EQ(-EINVAL, try_open(&attr));

	/* The numbering alone is nothing that has to be recorded. */
	attr.sample_simd_vec_reg_intr = 0;
	EXPECT_EQ(0, try_open(&attr));
}

FIXTURE(precise)
{
	struct simd_run *run;
	const struct asked *asked;
};

FIXTURE_VARIANT(precise)
{
	__u64 config;
	unsigned int precise;
	enum simd_scope scope;
	bool privileged;
	bool user_mode_only;	/* then records may wait in the buffer */
	const char *cls;	/* NULL: the widest one that is recorded */
	bool not_recorded;	/* user side only, of a class that is not */
};

FIXTURE_VARIANT_ADD(precise, cycles_pp_task)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(precise, cycles_pp_cpu)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(precise, cycles_pp_cpu_privileged)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_CPU,
	.privileged = true,
};

FIXTURE_VARIANT_ADD(precise, instructions_p_task)
{
	.config = PERF_COUNT_HW_INSTRUCTIONS,
	.precise = 1,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(precise, branches_p_cpu)
{
	.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	.precise = 1,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(precise, user_mode_task)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_TASK,
	.user_mode_only = true,
};

FIXTURE_VARIANT_ADD(precise, user_mode_cpu_privileged)
{
	.config = PERF_COUNT_HW_INSTRUCTIONS,
	.precise = 2,
	.scope = SIMD_EACH_CPU,
	.privileged = true,
	.user_mode_only = true,
};

FIXTURE_VARIANT_ADD(precise, xmm)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_TASK,
	.cls = "xmm",
};

FIXTURE_VARIANT_ADD(precise, opmask)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_TASK,
	.cls = "opmask",
};

FIXTURE_VARIANT_ADD(precise, egpr)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_TASK,
	.cls = "egpr",
};

FIXTURE_VARIANT_ADD(precise, not_recorded)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise = 2,
	.scope = SIMD_EACH_TASK,
	.not_recorded = true,
};

/* The first class that is there and is recorded, or is not */
static const struct asked *find_class(bool recorded)
{
	unsigned int i;

	for (i = 0; i < NR_CLASSES; i++) {
		if (simd_class_supported(simd_class_find(classes[i].cls)) &&
		    !try_class(&classes[i], true, false) == recorded)
			return &classes[i];
	}
	return NULL;
}

FIXTURE_SETUP(precise)
{
	const char *refused = simd_run_refused(variant->scope, variant->privileged);
	const struct asked *a;

	if (refused)
		SKIP(return, "%s", refused);
	if (!have_precise())
		SKIP(return, "no precise events");

	a = variant->cls ? find_asked(variant->cls) : find_class(!variant->not_recorded);
	if (!a)
		SKIP(return, "no such class of registers");
	if (!simd_class_supported(simd_class_find(a->cls)))
		SKIP(return, "this CPU has no %s", a->cls);
	if (!variant->not_recorded && try_class(a, true, false))
		SKIP(return, "%s is not recorded", a->cls);

	self->asked = a;
	self->run = simd_run_new(variant->scope, variant->privileged, 0);
	self->run->attr = precise_attr(variant->config, variant->precise);
	if (variant->user_mode_only)
		simd_attr_exclude_kernel(&self->run->attr);
	ask(&self->run->attr, a, !variant->not_recorded, true);
	/* Samples are judged by their SIMD block: see to it that there is one. */
	if (a->gprs) {
		self->run->attr.sample_simd_vec_reg_intr = 1;
		self->run->attr.sample_simd_vec_reg_user = 1;
		self->run->attr.sample_simd_vec_reg_qwords = 2;
	}
	self->run->min_samples = 1000;
}

FIXTURE_TEARDOWN(precise)
{
	simd_run_free(self->run);
}

static struct simd_worker *add_worker(struct simd_run *run, const struct asked *a,
				      __u16 seed, unsigned int what)
{
	struct simd_worker *w = simd_run_add(run, seed, what);

	w->cls = simd_class_find(a->cls);
	return w;
}

/*
 * How long to spin between calls: a moment, so that most hits are in the kernel,
 * or if those are not sampled, longer than what a worker does in between.
 */
static __u64 spin_for(const struct perf_event_attr *attr, __u64 moment)
{
	return attr->exclude_kernel ? 10000 : moment;
}

/* Nothing but user mode: each sample has all registers, on both sides. */
TEST_F_TIMEOUT(precise, spin, SIMD_TEST_SECONDS)
{
	add_worker(self->run, self->asked, 0x6100, 0);
	simd_run_demand(self->run, user[0].exact, 1);
	if (!variant->not_recorded)
		simd_run_demand(self->run, intr[0].exact, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "spin, precise");
}

/* In system calls the record has what the task went in with. */
TEST_F_TIMEOUT(precise, syscalls, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = add_worker(self->run, self->asked, 0x6200,
					   SIMD_DO_SYSCALLS);

	w->spin = spin_for(&self->run->attr, 200);
	if (!self->run->attr.exclude_kernel) {
		simd_run_demand(self->run, user[1].exact, 1);
		if (!variant->not_recorded)
			simd_run_demand(self->run, intr[1].exact, 1);
	}
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "system calls, precise");
}

/*
 * The record of a task that has been switched in and has not returned to user
 * mode yet has the registers of the task before it.
 */
TEST_F_TIMEOUT(precise, three_processes, SIMD_TEST_SECONDS)
{
	const unsigned int what[] = {
		SIMD_DO_YIELD | SIMD_DO_READ, SIMD_DO_YIELD | SIMD_DO_PIPE,
		SIMD_DO_YIELD | SIMD_DO_SLEEP,
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct simd_worker *w = add_worker(self->run, self->asked,
						   0x6300 + (i << 8), what[i]);

		w->spin = spin_for(&self->run->attr, 100 * (i + 1));
		w->rounds = 1;
	}
	if (!self->run->attr.exclude_kernel)
		simd_run_demand(self->run, user[1].exact, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "three processes, precise");
}

/* The kernel's own use of vectors is not for everybody. */
TEST_F_TIMEOUT(precise, kernel_vectors, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = add_worker(self->run, self->asked, 0x6700,
					   SIMD_DO_HASH | SIMD_DO_CBC | SIMD_DO_YIELD);

	w->nr_phases = 64;
	w->rounds = 1;
	w->spin = spin_for(&self->run->attr, 20);
	w = add_worker(self->run, self->asked, 0x6800, SIMD_DO_YIELD);
	w->spin = spin_for(&self->run->attr, 100);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "kernel vectors, precise");
	if (!variant->privileged)
		EXPECT_EQ(0UL, self->run->check.n.intr[1].kfpu);
}

TEST_HARNESS_MAIN
