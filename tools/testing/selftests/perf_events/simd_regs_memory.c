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
 * slow machine for as long as they come. A burst has few enough of them to take less
 * than buffers, and is short enough to be over before many are free again.
 */
#define BURST		32
#define BURSTS		160
#define PAUSE_US	20000

/* Pauses at the end: the last buffers stay for a second, a slow machine may need more. */
#define LAST_PAUSES	100
#define MOST_PAUSES	1500

/* The most that a CPU and context level may need, in KiB, and the levels of a PMU */
#ifdef __aarch64__
#define BUFFER_KB	16
#define PMU_LEVELS	2	/* an interrupt or a pseudo-NMI */
#else
#define BUFFER_KB	4
#define PMU_LEVELS	1
#endif
#define CLOCK_LEVELS	1
#define ALL_LEVELS	4

/*
 * A burst of events with their files, at 8 KiB each, and as much for what the system
 * does meanwhile; with fewer CPUs these are more than the buffers.
 */
#define EVENTS_KB	(2 * 8 * BURST)
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
	unsigned int too_much;	/* bursts that took more than the limit */
	long most, at_end;	/* KiB */
};

/* -1: there is no such event */
static int open_and_close_burst(struct perf_event_attr *attr)
{
	int i;

	for (i = 0; i < BURST; i++) {
		int fd = simd_perf_event_open(attr, 0, -1, -1);

		if (fd < 0)
			return -1;
		close(fd);
	}
	return 0;
}

static long max(long a, long b)
{
	return a > b ? a : b;
}

/*
 * How much less memory there is while events come and go, and soon after. The system
 * takes some now and then as well, but not in every burst.
 */
static struct drop open_and_close(struct perf_event_attr *attr, long limit)
{
	long start = available_kb(), burst, now, kb;
	struct drop drop = {};
	int i;

	for (i = 0; i < BURSTS; i++) {
		burst = available_kb();
		if (open_and_close_burst(attr))
			return (struct drop){};
		now = available_kb();
		kb = max(burst - now, start - now);
		drop.rounds += BURST;
		drop.too_much += kb > limit;
		drop.most = max(drop.most, kb);
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
	printf("# %s: %lu events, at most %ld KiB, too much in %u of %d bursts, %ld at the end\n",
	       what, drop->rounds, drop->most, drop->too_much, BURSTS, drop->at_end);
}

FIXTURE(memory)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(memory)
{
	bool hardware;
	__u64 config;
	__u32 precise_ip;
	int levels;		/* at which it can be sampled */
};

FIXTURE_VARIANT_ADD(memory, clock)
{
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.levels = CLOCK_LEVELS,
};

FIXTURE_VARIANT_ADD(memory, page_faults)
{
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.levels = ALL_LEVELS,
};

FIXTURE_VARIANT_ADD(memory, cycles)
{
	.hardware = true,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.levels = PMU_LEVELS,
};

#ifdef __x86_64__
FIXTURE_VARIANT_ADD(memory, precise_cycles)
{
	.hardware = true,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.precise_ip = 2,
	.levels = ALL_LEVELS,
};
#endif

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
	struct perf_event_attr with = self->run->attr, without = simd_clock_attr();
	long set = (long)variant->levels * BUFFER_KB * possible_cpus();
	long limit = EVENTS_KB + 2 * set;
	struct drop usual, drop;
	int fd;

	with.exclude_kernel = 1;
	without.exclude_kernel = 1;
	with.precise_ip = variant->precise_ip;
	without.precise_ip = variant->precise_ip;
	if (variant->hardware) {
		simd_attr_hardware(&with, variant->config);
		simd_attr_hardware(&without, variant->config);
	} else {
		with.config = variant->config;
		without.config = variant->config;
	}
	ASSERT_EQ(0, setgid(NOBODY));
	ASSERT_EQ(0, setuid(NOBODY));

	/* Before, so that what stays is there */
	usual = open_and_close(&without, limit);
	if (!usual.rounds)
		SKIP(return, "no such event");
	fd = simd_perf_event_open(&with, 0, -1, -1);
	if (fd < 0 && errno == EOPNOTSUPP && with.precise_ip)
		SKIP(return, "PEBS records do not have these registers");
	ASSERT_LE(0, fd);
	close(fd);
	drop = open_and_close(&with, limit);
	printf("# %d possible CPUs, a set of buffers may be %ld KiB\n", possible_cpus(), set);
	print_drop("without registers", &usual);
	print_drop("with registers", &drop);
	EXPECT_GT(drop.rounds, 0UL);
	EXPECT_LE(drop.too_much, BURSTS / 4);
	/* Freed pages can stay with a CPU: as many as there were, but no more. */
	EXPECT_LE(drop.at_end, EVENTS_KB + set);
}

TEST_HARNESS_MAIN
