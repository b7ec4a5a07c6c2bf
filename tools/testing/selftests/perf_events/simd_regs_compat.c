// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of 32-bit programs on arm64: they have V0-V15, start with zeros, and get
 * their registers back from signal handlers.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "simd_regs_arm64.h"
#include "simd_regs_expect.h"
#include "simd_regs_record.h"

FIXTURE(compat)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(compat)
{
	bool cycles;
	bool predicates;	/* asked for, although there are none */
};

FIXTURE_VARIANT_ADD(compat, clock)
{
};

FIXTURE_VARIANT_ADD(compat, clock_z)
{
	.predicates = true,
};

FIXTURE_VARIANT_ADD(compat, cycles)
{
	.cycles = true,
};

FIXTURE_VARIANT_ADD(compat, cycles_z)
{
	.cycles = true,
	.predicates = true,
};

FIXTURE_SETUP(compat)
{
	const char *name = variant->predicates ? "z" : "v";

	if (geteuid())
		SKIP(return, "needs root");
	if (!have_class(name))
		SKIP(return, "no %s registers", name);
	/* Of CPUs: exec as root takes an event of the task away from the unprivileged. */
	self->run = simd_run_new(SIMD_EACH_CPU, true, 0);
	if (variant->cycles)
		simd_run_use_cycles(self->run);
	simd_attr_parts(&self->run->attr,
			simd_class_find(name)->parts & ~SIMD_MARK_MORE);
	self->run->attr.sample_regs_user |= SIMD_MARKER_REGS_32;
	self->run->min_samples = 1500;
}

FIXTURE_TEARDOWN(compat)
{
	simd_run_free(self->run);
}

static int try_open(struct simd_run *run)
{
	int fd = simd_perf_event_open(&run->attr, 0, -1, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Without arguments the program ends with status 2. */
static bool can_run(const char *program)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execl(program, program, NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 2;
}

/* Beside a program of 64 bits, whose registers are not to be seen in it */
TEST_F_TIMEOUT(compat, program, SIMD_TEST_SECONDS)
{
	struct simd_run *run = self->run;
	struct simd_worker *w;
	int err = try_open(run);

	if (err)
		SKIP(return, "such an event cannot be had: %s", strerror(err));
	w = simd_run_add(run, 0x7400, 0);
	w->cls = simd_class_find("v");
	w->program = simd_run_program("simd_regs_exec_32");
	ASSERT_NE(NULL, w->program);
	if (!can_run(w->program))
		SKIP(return, "%s cannot be run here", w->program);
	w = simd_run_add(run, 0x7500, SIMD_DO_YIELD);
	w->cls = simd_class_find("v");
	w->spin = 1000;

	simd_run_demand(run, user[0].exact, 1);
	simd_run_demand(run, user[1].exact, 1);
	if (!start_run(_metadata, run))
		return;
	finish_run(_metadata, run, "32-bit program");
}

TEST_HARNESS_MAIN
