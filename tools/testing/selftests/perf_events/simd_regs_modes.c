// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of tasks that are not plain 64-bit programs: programs of 32 bits and
 * of the x32 ABI, and tasks that have a shadow stack.
 */
#include <asm/perf_regs.h>
#include <errno.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"
#include "simd_regs_record.h"

FIXTURE(modes)
{
	struct simd_run *run;
};

/* Of CPUs: exec as root takes an event of the task away from the unprivileged. */
FIXTURE_VARIANT(modes)
{
	bool privileged;
	bool cycles;
	unsigned int precise;
};

FIXTURE_VARIANT_ADD(modes, clock)
{
};

FIXTURE_VARIANT_ADD(modes, clock_privileged)
{
	.privileged = true,
};

FIXTURE_VARIANT_ADD(modes, cycles)
{
	.cycles = true,
};

FIXTURE_VARIANT_ADD(modes, cycles_privileged)
{
	.privileged = true,
	.cycles = true,
};

FIXTURE_VARIANT_ADD(modes, cycles_pp)
{
	.cycles = true,
	.precise = 2,
};

FIXTURE_VARIANT_ADD(modes, cycles_pp_privileged)
{
	.privileged = true,
	.cycles = true,
	.precise = 2,
};

/* 0, or the error by which the run's event is refused */
static int try_open(struct simd_run *run)
{
	int fd = simd_perf_event_open(&run->attr, 0, -1, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

FIXTURE_SETUP(modes)
{
	struct simd_run *run;

	if (geteuid())
		SKIP(return, "needs root");
	run = simd_run_new(SIMD_EACH_CPU, variant->privileged, 0);
	self->run = run;
	run->min_samples = 1500;
	if (!variant->cycles)
		return;

	simd_run_use_cycles(run);
	run->attr.precise_ip = variant->precise;
	/* All is recorded, or XMM. */
	if (variant->precise && try_open(run)) {
		run->attr = simd_cycles_attr();
		run->attr.precise_ip = variant->precise;
		simd_attr_parts(&run->attr, SIMD_MARK_XMM);
	}
}

FIXTURE_TEARDOWN(modes)
{
	simd_run_free(self->run);
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

/*
 * A program starts with zeros, and keeps them, and then a pattern. One of 32 bits
 * can set registers 0-7 only, but has them all.
 */
static void run_program(struct __test_metadata *_metadata, struct simd_run *run,
			const char *name, const char *what)
{
	struct simd_worker *w = simd_run_add(run, 0x7100, 0);
	int err;

	run->attr.sample_regs_user |= SIMD_MARKER_REGS_32;
	err = try_open(run);
	if (err)
		SKIP(return, "such an event cannot be had: %s", strerror(err));

	w->program = simd_run_program(name);
	ASSERT_NE(NULL, w->program);
	if (!can_run(w->program))
		SKIP(return, "%s cannot be run here", name);

	simd_run_demand(run, user[0].exact, 1);
	simd_run_demand(run, user[1].exact, 1);
	if (!start_run(_metadata, run))
		return;
	finish_run(_metadata, run, what);
}

TEST_F_TIMEOUT(modes, program_of_32_bits, SIMD_TEST_SECONDS)
{
	run_program(_metadata, self->run, "simd_regs_exec_32", "32-bit program");
}

TEST_F_TIMEOUT(modes, program_of_x32, SIMD_TEST_SECONDS)
{
	run_program(_metadata, self->run, "simd_regs_exec_x32", "x32 program");
}

/*
 * With its pointer on both sides, beside all other registers. The record of a hit
 * on a system call instruction is of the kernel already: a few lack it.
 */
static bool ask_for_ssp(struct simd_run *run)
{
	if (run->attr.precise_ip)
		run->check.may_lack = run->min_samples / 20;
	run->attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	run->attr.sample_regs_intr |= SIMD_SSP_REG;
	run->attr.sample_regs_user |= SIMD_SSP_REG | 1ULL << PERF_REG_X86_R9;
	return !try_open(run);
}

/* Of both sides, in user mode and, unless that is excluded, in the kernel */
static void demand_ssp(struct simd_run *run)
{
	simd_run_demand(run, user[0].exact_of[SIMD_SSP], 1);
	simd_run_demand(run, intr[0].exact_of[SIMD_SSP], 1);
	if (run->attr.exclude_kernel)
		return;
	simd_run_demand(run, user[1].exact_of[SIMD_SSP], 1);
	simd_run_demand(run, intr[1].exact_of[SIMD_SSP], 1);
}

/* The shadow stack pointer in user mode and in system calls */
TEST_F_TIMEOUT(modes, shadow_stack, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x7200,
					     SIMD_DO_SHSTK | SIMD_DO_SYSCALLS);

	if (!ask_for_ssp(self->run))
		SKIP(return, "no shadow stacks, or not sampled");
	w->spin = 500;
	demand_ssp(self->run);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "shadow stack");
}

static void add_workers(struct simd_run *run, const unsigned int *what)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct simd_worker *w = simd_run_add(run, 0x7300 + (i << 8), what[i]);

		w->spin = 1000;
		w->rounds = 2;
	}
}

/* Tasks with a shadow stack and without one */
TEST_F_TIMEOUT(modes, shadow_stacks, SIMD_TEST_SECONDS)
{
	static const unsigned int what[] = {
		SIMD_DO_YIELD | SIMD_DO_SHSTK, SIMD_DO_YIELD,
		SIMD_DO_YIELD | SIMD_DO_SHSTK | SIMD_DO_SLEEP,
	};

	if (!ask_for_ssp(self->run))
		SKIP(return, "no shadow stacks, or not sampled");
	add_workers(self->run, what);
	demand_ssp(self->run);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "shadow stacks");
}

/*
 * Signals push on the shadow stack, and children get a copy. The kernel moves the
 * pointer before it changes the other registers, hence user mode only.
 */
TEST_F_TIMEOUT(modes, shadow_stacks_move, SIMD_TEST_SECONDS)
{
	static const unsigned int what[] = {
		SIMD_DO_YIELD | SIMD_DO_SHSTK | SIMD_DO_SIGNAL, SIMD_DO_YIELD,
		SIMD_DO_YIELD | SIMD_DO_SHSTK | SIMD_DO_FORK,
	};

	self->run->attr.exclude_kernel = 1;
	if (!ask_for_ssp(self->run))
		SKIP(return, "no shadow stacks, or not sampled");
	add_workers(self->run, what);
	demand_ssp(self->run);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "shadow stacks that move");
}

TEST_HARNESS_MAIN
