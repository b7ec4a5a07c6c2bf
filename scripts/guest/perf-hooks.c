// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps perf's hooks in the scheduler patched in: an event of a task does, as long as
 * it is open. arm64 kernels patch code in place, and if another CPU is translating
 * that code at the moment, QEMU before 8.1 goes on running the old one there. A CPU
 * that has one of the two hooks and not the other makes the kernel warn of contexts
 * that don't match. So the other CPUs must be at something else meanwhile.
 *
 * The kernels of x86 here have no code that they patch.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#ifdef __aarch64__

/* Occupy a CPU with nothing that the scheduler has to do. */
static void __attribute__((noreturn)) spin_on(int cpu, volatile int *spinning)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_FIFO, &first))
		_exit(1);
	*spinning = 1;
	for (;;)
		;
}

void keep_perf_hooks(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int nr = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	volatile int *spinning = mmap(NULL, nr * sizeof(*spinning), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[nr];
	cpu_set_t all, own;

	CPU_ZERO(&own);
	CPU_SET(0, &own);
	if (spinning == MAP_FAILED || sched_getaffinity(0, sizeof(all), &all) ||
	    sched_setaffinity(0, sizeof(own), &own))
		broken("cannot stay on a CPU: %s", strerror(errno));
	for (cpu = 1; cpu < nr; cpu++) {
		pids[cpu] = fork();
		if (pids[cpu] < 0)
			broken("cannot fork: %s", strerror(errno));
		if (!pids[cpu])
			spin_on(cpu, &spinning[cpu]);
		while (!spinning[cpu]) {
			if (waitpid(pids[cpu], NULL, WNOHANG))
				broken("cannot occupy CPU %d", cpu);
			usleep(1000);
		}
	}

	/* A kernel without perf has no hooks either. */
	syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	for (cpu = 1; cpu < nr; cpu++) {
		kill(pids[cpu], SIGKILL);
		waitpid(pids[cpu], NULL, 0);
	}
	munmap((void *)spinning, nr * sizeof(*spinning));
	sched_setaffinity(0, sizeof(all), &all);
}

#else

void keep_perf_hooks(void)
{
}

#endif
