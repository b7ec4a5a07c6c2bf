// SPDX-License-Identifier: GPL-2.0
/*
 * The buffers for SIMD registers are there for all CPUs that can come up, and
 * anybody can have them by opening an event. Who opens and closes one after the
 * other may not have more than two sets of them at a time.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "simd_regs_event.h"
#include "simd_regs_run.h"

#define NOBODY		65534

/*
 * So many in a burst, then a pause: the events themselves wait for RCU as well, on a
 * slow machine for as long as they come. A burst has few enough of them to be told
 * from buffers, and is short enough to be over before many are free again.
 */
#define BURST		256
#define BURSTS		20
#define PAUSE_US	100000

/* Pauses at the end: the last buffers stay for a second, a slow machine may need more. */
#define LAST_PAUSES	20
#define MOST_PAUSES	300

/* The most that a CPU and context level may need, in KiB, and the levels of a clock */
#ifdef __aarch64__
#define BUFFER_KB	16
#else
#define BUFFER_KB	4
#endif
#define LEVELS		2

/* A burst of events with their files, at 8 KiB each; with fewer CPUs these are more. */
#define EVENTS_KB	(8 * BURST)
#define FEWEST_CPUS	32

static long available_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = -1;

	if (!file)
		return -1;
	while (kb < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "MemAvailable: %ld", &kb);
	fclose(file);
	return kb;
}

/* "0-63" */
static int possible_cpus(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/possible", "r");
	int first, last = 0;

	if (!file)
		return 1;
	if (fscanf(file, "%d-%d", &first, &last) < 1)
		last = 0;
	fclose(file);
	return last + 1;
}

struct drop {
	unsigned long rounds;
	long most, at_end;	/* KiB */
};

/* How much less memory there is after a burst of events; -1: there is no such event */
static int open_and_close_burst(struct perf_event_attr *attr, long *kb)
{
	long start = available_kb();
	int i;

	for (i = 0; i < BURST; i++) {
		int fd = simd_perf_event_open(attr, 0, -1, -1);

		if (fd < 0)
			return -1;
		close(fd);
	}
	*kb = start - available_kb();
	return 0;
}

/* How much less memory there is while events come and go, and soon after */
static struct drop open_and_close(struct perf_event_attr *attr)
{
	struct drop drop = {};
	long start = available_kb(), kb;
	int i;

	for (i = 0; i < BURSTS; i++) {
		if (open_and_close_burst(attr, &kb))
			return (struct drop){};
		drop.rounds += BURST;
		if (kb > drop.most)
			drop.most = kb;
		usleep(PAUSE_US);
	}

	for (i = 0; i < MOST_PAUSES; i++) {
		usleep(PAUSE_US);
		drop.at_end = start - available_kb();
		if (i >= LAST_PAUSES && drop.at_end <= EVENTS_KB)
			break;
	}
	return drop;
}

static void print_drop(const char *what, const struct drop *drop)
{
	printf("# %s: %lu events, at most %ld KiB, %ld KiB at the end\n", what, drop->rounds,
	       drop->most, drop->at_end);
}

FIXTURE(memory)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(memory)
{
	bool cycles;
};

FIXTURE_VARIANT_ADD(memory, clock)
{
};

FIXTURE_VARIANT_ADD(memory, cycles)
{
	.cycles = true,
};

FIXTURE_SETUP(memory)
{
	if (geteuid())
		SKIP(return, "needs root");
	if (possible_cpus() < FEWEST_CPUS)
		SKIP(return, "too few possible CPUs to tell buffers from events");
	self->run = simd_run_new(SIMD_EACH_TASK, false, 2);
}

FIXTURE_TEARDOWN(memory)
{
	simd_run_free(self->run);
}

/* As somebody who has no rights at all */
TEST_F_TIMEOUT(memory, open_and_close, 140)
{
	struct perf_event_attr with, without = variant->cycles ? simd_cycles_attr() :
								simd_clock_attr();
	struct drop usual, drop;
	long budget;

	if (variant->cycles)
		simd_run_use_cycles(self->run);
	with = self->run->attr;
	with.exclude_kernel = 1;
	without.exclude_kernel = 1;
	ASSERT_EQ(0, setgid(NOBODY));
	ASSERT_EQ(0, setuid(NOBODY));

	/* Once before, so that what stays is there; events need memory as well. */
	usual = open_and_close(&without);
	if (!usual.rounds)
		SKIP(return, "no such event");
	usual = open_and_close(&without);
	drop = open_and_close(&with);
	budget = 2L * LEVELS * BUFFER_KB * possible_cpus();
	printf("# %d possible CPUs, two sets of buffers may be %ld KiB\n", possible_cpus(),
	       budget);
	print_drop("without registers", &usual);
	print_drop("with registers", &drop);
	EXPECT_GT(drop.rounds, 0UL);
	EXPECT_LE(drop.most, EVENTS_KB + budget);
	EXPECT_LE(drop.at_end, EVENTS_KB);
}

TEST_HARNESS_MAIN
