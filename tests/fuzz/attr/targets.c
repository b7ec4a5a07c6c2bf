// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks whose registers are known: those of the selftests, which keep one pattern after
 * the other live while they make system calls, get signals, fork, sleep, and have the
 * kernel use vector registers. Half of them belong to an ordinary user.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attr.h"
#include "simd_regs_worker.h"

#define FIRST_SEED	0x5100

static struct simd_shared *simd;

static struct simd_worker targets[NR_TARGETS] = {
	{ .what = SIMD_DO_GETPPID | SIMD_DO_PIPE | SIMD_DO_CRYPTO },
	{ .what = SIMD_DO_SIGNAL | SIMD_DO_TIMER | SIMD_DO_READ },
	{ .what = SIMD_DO_FORK | SIMD_DO_YIELD | SIMD_DO_SLEEP },
	{ .what = SIMD_DO_READ | SIMD_DO_SLEEP | SIMD_DO_MIGRATE },
};

/* All that system calls keep; on arm64 two lose what they have of SVE. */
static const struct simd_class *class_of(unsigned int index)
{
#ifdef __aarch64__
	static const char * const names[NR_TARGETS] = { "all", "z", "all", "streaming" };
	const struct simd_class *cls = simd_class_find(names[index]);

	if (simd_class_supported(cls))
		return cls;
#endif
	(void)index;
	return simd_class_find("all");
}

static void run_target(unsigned int index)
{
	struct simd_worker *w = &targets[index];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (index >= NR_TARGETS / 2 &&
	    (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(2);
	prctl(PR_SET_DUMPABLE, 1);
	/* They would spin all the time. */
	if (nice(5) < 0)
		_exit(2);
	simd_worker_run(w, simd, &simd->status[index]);
	_exit(0);
}

int targets_start(void)
{
	unsigned int i;
	pid_t pid;

	simd = simd_shared_new();
	if (!simd)
		return -1;
	for (i = 0; i < NR_TARGETS; i++) {
		targets[i].seed = FIRST_SEED + (i << 8);
		targets[i].cls = class_of(i);
		targets[i].nr_phases = 16;
		targets[i].spin = 1000;
		targets[i].rounds = 4;
		targets[i].cpu = -1;
		pid = fork();
		if (!pid)
			run_target(i);
		shared->targets[i] = pid;
		while (!simd_get(simd->status[i].ready))
			usleep(1000);
		if (simd->status[i].setup_error) {
			printf("error: task %u: %s\n", i,
			       strerror(-simd->status[i].setup_error));
			return -1;
		}
	}
	simd_set(simd->go, 1);
	return 0;
}

/* Did all keep their registers? A system call may fail where memory is short. */
bool targets_stop(void)
{
	bool good = true;
	unsigned int i;
	int status;

	simd_set(simd->stop, 1);
	for (i = 0; i < NR_TARGETS; i++) {
		if (waitpid(shared->targets[i], &status, 0) != shared->targets[i] || status) {
			printf("FINDING: task %u ended with status %#x\n", i, status);
			good = false;
		}
		if (simd->status[i].corrupted) {
			printf("FINDING: the registers of task %u changed %llu times\n", i,
			       simd->status[i].corrupted);
			good = false;
		}
	}
	return good;
}

int target_family(pid_t tid)
{
	unsigned int i;

	for (i = 0; i < NR_TARGETS; i++) {
		if (shared->targets[i] == tid)
			return SIMD_FAMILY(FIRST_SEED + (i << 8));
	}
	return -1;
}

bool is_target_family(int family)
{
	return family >= SIMD_FAMILY(FIRST_SEED) &&
	       family < SIMD_FAMILY(FIRST_SEED) + NR_TARGETS;
}
