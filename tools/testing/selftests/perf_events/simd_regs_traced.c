// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of a task whose registers are written by a tracer where it enters the
 * kernel. A system call discards all but the V registers when it begins, but what is
 * written after that stays: the task has SVE registers, or those of streaming mode,
 * inside of its system call, and they are in memory.
 */
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"
#include "simd_regs_arm64.h"
#include "simd_regs_debugger.h"
#include "simd_regs_expect.h"
#include "simd_regs_image_arm64.h"

#define TRACED_SEED	0x6700

/* Stops between looks at the samples */
#define STOPS		100

struct tracer {
	pid_t pid;		/* of the task */
	unsigned int turn;
	bool streams;		/* the task, since what was written last */
	__u64 kept;		/* a marker for what of that is in V */
};

FIXTURE(traced)
{
	struct simd_run *run;
	struct tracer tracer;
};

FIXTURE_VARIANT(traced)
{
	bool cycles;
};

FIXTURE_VARIANT_ADD(traced, clock)
{
};

FIXTURE_VARIANT_ADD(traced, cycles)
{
	.cycles = true,
};

FIXTURE_SETUP(traced)
{
	const __u16 parts = SIMD_MARK_V | SIMD_MARK_Z | SIMD_MARK_P | SIMD_MARK_FFR;

	if (geteuid())
		SKIP(return, "needs root");
	if (!have_class("z"))
		SKIP(return, "this CPU has no SVE");

	self->run = simd_run_new(SIMD_EACH_TASK, false, 0);
	simd_attr_parts(&self->run->attr, parts | SIMD_MARK_VQ(longest_vl() / 16));
	/* The tracer has just written, or changed the length. */
	self->run->check.kernel_may_lack = true;
	if (variant->cycles)
		simd_run_use_cycles(self->run);
	set_vl(PR_SVE_SET_VL, 64);
}

FIXTURE_TEARDOWN(traced)
{
	simd_run_free(self->run);
}

static int calls_of_worker(struct simd_call *calls, unsigned int *nr)
{
	const struct simd_call all[] = {
		{ .nr = SYS_prctl, .arg = { PR_SVE_SET_VL, 16 } },
		{ .nr = SYS_getppid },
		{ .nr = SYS_sched_yield },
		{ .nr = SYS_prctl, .arg = { PR_SME_SET_VL, 16 } },
		{ .nr = SYS_prctl, .arg = { PR_SME_SET_VL, 64 } },
		/* As it was: this is what the worker loads again. */
		{ .nr = SYS_prctl, .arg = { PR_SVE_SET_VL, 64 } },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].arg[0] != PR_SME_SET_VL || have_class("streaming"))
			calls[(*nr)++] = all[i];
	}
	return 0;
}

/*
 * Replaces what the task has entered the kernel with. If the call changes the length,
 * V registers are all that is known until the task loads its own again.
 */
static int write_at_entry(struct tracer *t, const struct simd_debugger_stop *stop)
{
	static const unsigned int lengths[] = { 64, 256, 16, 32, 128 };
	const bool changes = stop->nr == SYS_prctl;
	struct simd_class cls;
	unsigned int vl;
	__u64 marker;

	vl = changes ? (stop->arg[1] == 16 ? 256 : 16) :
		       lengths[t->turn % ARRAY_SIZE(lengths)];
	t->streams = changes && stop->arg[0] == PR_SME_SET_VL;
	set_vl(t->streams ? PR_SME_SET_VL : PR_SVE_SET_VL, vl);
	cls = *simd_class_find(t->streams ? "streaming" : "z");

	marker = simd_marker(TRACED_SEED, ++t->turn, cls.parts);
	t->kept = simd_call_marker(SIMD_LOAD_SVE, marker);
	return simd_debugger_set(t->pid, &cls, changes ? t->kept : marker);
}

/* The next system call discards what is not in V, and before streaming mode all. */
static int write_at_exit(struct tracer *t)
{
	return simd_debugger_set(t->pid, NULL, t->streams ? 0 : t->kept);
}

static int trace(struct tracer *t)
{
	struct simd_debugger_stop stop;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < STOPS; i++) {
		err = simd_debugger_next(t->pid, &stop);
		if (err || !stop.live)
			continue;
		err = stop.entry ? write_at_entry(t, &stop) : write_at_exit(t);
	}
	return err;
}

TEST_F_TIMEOUT(traced, entry, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, TRACED_SEED, 0);
	time_t end = time(NULL) + SIMD_LOOP_SECONDS;

	w->cls = simd_class_find("z");
	w->more_calls = calls_of_worker;
	w->nr_phases = 1;
	w->rounds = ULONG_MAX;
	simd_run_demand(self->run, user[1].exact_of[SIMD_Z], 1);
	simd_run_demand(self->run, user[1].exact_of[SIMD_P_FFR], 1);
	if (!start_run(_metadata, self->run))
		return;
	self->tracer.pid = w->pid;
	ASSERT_EQ(0, simd_debugger_trace(w->pid));
	while (simd_run_marked(self->run) < self->run->min_samples && time(NULL) < end) {
		ASSERT_EQ(0, trace(&self->tracer));
		simd_run_drain(self->run);
	}
	ASSERT_EQ(0, simd_debugger_release(w->pid));
	finish_run(_metadata, self->run, "written at the entry");
}

TEST_HARNESS_MAIN
