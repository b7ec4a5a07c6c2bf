// SPDX-License-Identifier: GPL-2.0
/*
 * The buffers for SIMD registers are there for all CPUs that can come up, and
 * anybody can have them by opening an event. Who opens and closes one after the
 * other may not have more than two sets of them at a time.
 */
#include <errno.h>
#include <glob.h>

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
#define BURSTS		40
#define PAUSE_US	20000

/* The last buffers stay for a second, on a slow machine longer. */
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

static void tell(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	fputs("1", file);
	fclose(file);
}

/* The sum of what follows a word in a file; -1: that cannot be read */
static long sum_of(const char *path, const char *format)
{
	FILE *file = fopen(path, "r");
	char line[256];
	long n, sum = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, format, &n) == 1)
			sum += n;
	}
	fclose(file);
	return sum;
}

/*
 * To the page, for root: what has been freed stays with slab caches and CPUs for a while,
 * and each CPU counts for itself first.
 */
static long available_kb(void)
{
	long available, of_cpus;
	glob_t caches;
	size_t i;

	if (!glob("/sys/kernel/slab/kmalloc-*/shrink", 0, NULL, &caches)) {
		for (i = 0; i < caches.gl_pathc; i++)
			tell(caches.gl_pathv[i]);
		globfree(&caches);
	}
	tell("/proc/sys/vm/stat_refresh");
	available = sum_of("/proc/meminfo", "MemAvailable: %ld");
	of_cpus = sum_of("/proc/zoneinfo", " count: %ld");
	if (available < 0 || of_cpus < 0)
		return -1;
	return available + of_cpus * (getpagesize() / 1024);
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
	long most;		/* KiB */
};

/* As somebody who has no rights at all. -1: there is no such event, see errno */
static int open_and_close_burst(struct perf_event_attr *attr)
{
	int i, err = 0;

	if (setegid(NOBODY) || seteuid(NOBODY))
		return -1;
	for (i = 0; i < BURST && !err; i++) {
		int fd = simd_perf_event_open(attr, 0, -1, -1);

		if (fd < 0)
			err = errno;
		else
			close(fd);
	}
	if (seteuid(0) || setegid(0))
		return -1;
	errno = err;
	return err ? -1 : 0;
}

static long max(long a, long b)
{
	return a > b ? a : b;
}

/*
 * How much less memory there is while events come and go. The system takes some now and
 * then as well, but not in every burst.
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
	return drop;
}

/* What is missing of the memory that there was, once the last buffers had time to go */
static long missing_kb(long start, long limit)
{
	long kb = start - available_kb();
	int i;

	for (i = 0; i < MOST_PAUSES && kb > limit; i++) {
		usleep(PAUSE_US);
		kb = start - available_kb();
	}
	return kb;
}

static void print_drop(const char *what, const struct drop *drop)
{
	printf("# %s: %lu events, at most %ld KiB, too much in %u of %d bursts\n",
	       what, drop->rounds, drop->most, drop->too_much, BURSTS);
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

TEST_F_TIMEOUT(memory, open_and_close, 140)
{
	struct perf_event_attr with = self->run->attr, without = simd_clock_attr();
	long most_of_set = (long)variant->levels * BUFFER_KB * possible_cpus();
	long start, set, missing;
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

	/* Before, so that what stays is there */
	usual = open_and_close(&without, EVENTS_KB);
	if (!usual.rounds)
		SKIP(return, "no such event");

	start = available_kb();
	ASSERT_LT(0, start);
	fd = simd_perf_event_open(&with, 0, -1, -1);
	if (fd < 0 && errno == EOPNOTSUPP && with.precise_ip)
		SKIP(return, "PEBS records do not have these registers");
	ASSERT_LE(0, fd);
	set = start - available_kb();
	close(fd);

	drop = open_and_close(&with, EVENTS_KB + 2 * set);
	missing = missing_kb(start, set / 4);
	printf("# %d possible CPUs, a set of buffers is %ld KiB and may be %ld\n",
	       possible_cpus(), set, most_of_set);
	print_drop("without registers", &usual);
	print_drop("with registers", &drop);
	printf("# at the end %ld KiB are missing\n", missing);
	/* Of an event itself there are some KiB. */
	EXPECT_LE(possible_cpus(), set);
	EXPECT_LE(set, most_of_set + 64);
	EXPECT_LT(0UL, drop.rounds);
	EXPECT_LE(drop.too_much, BURSTS / 4);
	EXPECT_LE(missing, set / 4);
}

TEST_HARNESS_MAIN
