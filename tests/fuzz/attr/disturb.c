// SPDX-License-Identifier: GPL-2.0-only
/*
 * What changes under the workers: CPUs go and come back the whole time, and ordinary
 * users may do more at one time than at another.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "attr.h"

static bool set_online(unsigned int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_file(path, online ? "1" : "0");
}

void online_all(void)
{
	unsigned int cpu;

	for (cpu = 1; cpu < env.nr_cpus; cpu++)
		set_online(cpu, true);
}

static void sleep_ms(unsigned int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

void run_disturber(void)
{
	struct rand r = rand_of_step(options.seed, NR_WORKERS, 0);
	unsigned int cpu;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!stopped()) {
		sleep_ms(50 + below(&r, 500));
		if (one_in(&r, 4))
			write_file("/proc/sys/kernel/perf_event_paranoid",
				   one_in(&r, 2) ? "2" : "1");
		if (!options.hotplug || env.nr_cpus < 2)
			continue;
		cpu = 1 + below(&r, env.nr_cpus - 1);
		if (set_online(cpu, false))
			shared->hotplugs++;
		sleep_ms(below(&r, 100));
		if (set_online(cpu, true))
			shared->hotplugs++;
	}
}
