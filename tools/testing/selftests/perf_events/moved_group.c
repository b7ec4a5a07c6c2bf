// SPDX-License-Identifier: GPL-2.0
/*
 * A hardware event joins a group of breakpoints of a task that is scheduled all the
 * time: the group is moved, and afterwards no debug register is lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define SLOTS		4	/* breakpoints that a CPU has */
#define BREAKPOINTS	3
#define MOVES		3000
#define SECONDS		20	/* of a slow machine */

static int watched[BREAKPOINTS], checked[SLOTS];

static int event_open(struct perf_event_attr attr, pid_t pid, int group)
{
	attr.size = sizeof(attr);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return syscall(SYS_perf_event_open, &attr, pid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static int breakpoint(int *var, pid_t pid, int group)
{
	return event_open((struct perf_event_attr) {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)var,
		.bp_len = sizeof(*var),
	}, pid, group);
}

static int clock_event(pid_t pid, int group)
{
	return event_open((struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	}, pid, group);
}

static int cycles(pid_t pid, int group)
{
	return event_open((struct perf_event_attr) {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	}, pid, group);
}

static bool run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return !sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* A process of CPU 1 that hands a byte on, and sleeps until it comes back */
static pid_t start_player(int from, int to)
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(1);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

FIXTURE(moved_group)
{
	pid_t player[2];
};

FIXTURE_SETUP(moved_group)
{
	int there[2], back[2], slots[SLOTS], fd, i;

	fd = cycles(0, -1);
	if (fd < 0)
		SKIP(return, "no cycles event: %s", strerror(errno));
	close(fd);
	for (i = 0; i < SLOTS; i++) {
		slots[i] = breakpoint(&checked[i], 0, -1);
		if (slots[i] < 0)
			SKIP(return, "needs %d breakpoints: %s", SLOTS, strerror(errno));
	}
	while (i > 0)
		close(slots[--i]);
	if (!run_on(1) || !run_on(0))
		SKIP(return, "needs CPU 0 and 1");
	ASSERT_EQ(0, pipe(there));
	ASSERT_EQ(0, pipe(back));
	self->player[0] = start_player(there[0], back[1]);
	ASSERT_LT(0, self->player[0]);
	self->player[1] = start_player(back[0], there[1]);
	ASSERT_LT(0, self->player[1]);
	ASSERT_EQ(1, write(there[1], "", 1));
}

FIXTURE_TEARDOWN(moved_group)
{
	int i;

	for (i = 0; i < 2; i++) {
		kill(self->player[i], SIGKILL);
		waitpid(self->player[i], NULL, 0);
	}
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

TEST_F_TIMEOUT(moved_group, keeps_its_debug_registers, 120)
{
	int fd[BREAKPOINTS + 2], i, nr;
	time_t end = now() + SECONDS;
	__u64 count;

	for (nr = 0; nr < MOVES && now() < end; nr++) {
		for (i = 0; i < BREAKPOINTS; i++)
			fd[i] = breakpoint(&watched[i], self->player[0], i ? fd[0] : -1);
		/* An event of another PMU */
		if (nr % 2)
			fd[i++] = clock_event(self->player[0], fd[0]);
		usleep(nr % 50);
		fd[i] = cycles(self->player[0], fd[0]);
		for (; i >= 0; i--) {
			ASSERT_LE(0, fd[i]);
			close(fd[i]);
		}
	}
	TH_LOG("%d groups were moved", nr);

	/* All of them are free again on the CPU where the task was. */
	ASSERT_TRUE(run_on(1));
	for (i = 0; i < SLOTS; i++) {
		fd[i] = breakpoint(&checked[i], 0, -1);
		ASSERT_LE(0, fd[i]);
		__atomic_store_n(&checked[i], 1, __ATOMIC_RELAXED);
		ASSERT_EQ((ssize_t)sizeof(count), read(fd[i], &count, sizeof(count)));
		EXPECT_EQ(1, (int)count);
	}
}

TEST_HARNESS_MAIN
