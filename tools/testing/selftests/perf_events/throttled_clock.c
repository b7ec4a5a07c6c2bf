// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of a group that is throttled while its task moves from CPU to CPU: each
 * sample is of that task, and the kernel warns of nothing. Counters of their group stop
 * with them. Events of counters that overflow together all go on to have samples.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define EVENTS		16
#define RING_PAGES	64
#define SECONDS		5
#define MOST_SECONDS	40	/* until something is throttled, on a slow machine */
#define MOST_PER_TICK	4	/* samples of an event, then it is throttled */

static const struct {
	const char *path, *value;
} settings[] = {
	/* The first is before the second: 0 and 100 lock that, little soon lowers it. */
	{ "/proc/sys/kernel/perf_cpu_time_max_percent", "99" },
	{ "/proc/sys/kernel/perf_event_max_sample_rate", "1" },
};

struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
};

/* What was counted, and for how many nanoseconds */
struct count {
	uint64_t value, running;
};

/* The buffer of all events, and what was in it. */
struct ring {
	struct perf_event_mmap_page *page;
	unsigned long samples, foreign, throttled, unthrottled;
	unsigned long of_event[EVENTS];
	uint64_t ids[EVENTS];
};

FIXTURE(throttled_clock)
{
	char before[ARRAY_SIZE(settings)][32];
	cpu_set_t cpus;
	int fds[EVENTS];
	struct ring ring;
};

FIXTURE_VARIANT(throttled_clock)
{
	uint64_t clock;
	bool cycles;		/* the leader counts them */
	bool counters;		/* so do the others; they overflow in the same tick */
};

FIXTURE_VARIANT_ADD(throttled_clock, cpu) {
	.clock = PERF_COUNT_SW_CPU_CLOCK,
};

FIXTURE_VARIANT_ADD(throttled_clock, task) {
	.clock = PERF_COUNT_SW_TASK_CLOCK,
};

/* An NMI throttles the clocks, where overflows of that event are NMIs. */
FIXTURE_VARIANT_ADD(throttled_clock, cpu_by_cycles) {
	.clock = PERF_COUNT_SW_CPU_CLOCK,
	.cycles = true,
};

/* A clock and NMIs throttle the group at the same time. */
FIXTURE_VARIANT_ADD(throttled_clock, cpu_and_cycles) {
	.clock = PERF_COUNT_SW_CPU_CLOCK,
	.counters = true,
};

/* Counters overflow at the same time, and one of them throttles the group. */
FIXTURE_VARIANT_ADD(throttled_clock, cycles) {
	.cycles = true,
	.counters = true,
};

static bool set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, value, strlen(value)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

static bool get(const char *path, char *value, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t length = fd >= 0 ? read(fd, value, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	value[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* In seconds, by a clock that nobody sets */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void restore_settings(char before[][32])
{
	for (int i = ARRAY_SIZE(settings) - 1; i >= 0; i--)
		if (before[i][0])
			set(settings[i].path, before[i]);
}

static int open_event(uint32_t type, uint64_t config, uint64_t period, int leader)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
}

/* In nanoseconds */
static long tick_length(void)
{
	struct timespec length;

	clock_getres(CLOCK_MONOTONIC_COARSE, &length);
	return length.tv_nsec;
}

/* The clock of that can be as coarse as a tick. */
static bool is_running(int fd)
{
	double end = now() + 2 * tick_length() / 1e9;
	struct count first, last;

	if (read(fd, &first, sizeof(first)) != sizeof(first))
		return false;
	do {
		if (read(fd, &last, sizeof(last)) == sizeof(last) && first.running < last.running)
			return true;
	} while (now() < end);
	return false;
}

/* Goes to a CPU that has what the event counts, and stays there. */
static bool pin_where_running(int fd, const cpu_set_t *cpus)
{
	cpu_set_t one;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!sched_setaffinity(0, sizeof(one), &one) && is_running(fd))
			return true;
	}
	return false;
}

FIXTURE_SETUP(throttled_clock)
{
	char rate[32];

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->cpus), &self->cpus));
	if (CPU_COUNT(&self->cpus) < 2)
		SKIP(return, "needs two CPUs");
	/* The period of the first is the shortest: it is the one that is throttled. */
	if (variant->cycles)
		self->fds[0] = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 20000, -1);
	else
		self->fds[0] = open_event(PERF_TYPE_SOFTWARE, variant->clock, 20000, -1);
	if (self->fds[0] < 0 && variant->cycles)
		SKIP(return, "no event counts cycles: %s", strerror(errno));
	if (self->fds[0] < 0 && (errno == EACCES || errno == EPERM))
		SKIP(return, "cannot sample the kernel: %s", strerror(errno));
	ASSERT_LE(0, self->fds[0]);
	self->ring.page = mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE),
			       PROT_READ | PROT_WRITE, MAP_SHARED, self->fds[0], 0);
	ASSERT_NE(MAP_FAILED, self->ring.page);
	if (!pin_where_running(self->fds[0], &self->cpus))
		SKIP(return, "the first event runs on no CPU");
	for (int i = 1; i < EVENTS; i++) {
		if (variant->counters)
			self->fds[i] = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
						  20000 + i * 10, self->fds[0]);
		else
			self->fds[i] = open_event(PERF_TYPE_SOFTWARE, variant->clock,
						  150000 + i * 70000, self->fds[0]);
		if (self->fds[i] < 0 && variant->counters && i == 1)
			SKIP(return, "no event counts cycles: %s", strerror(errno));
		/* As many as there are counters */
		if (self->fds[i] < 0 && variant->counters)
			break;
		ASSERT_LE(0, self->fds[i]);
		/* Not every CPU need have counters of these cycles. */
		if (i == 1 && variant->counters && !pin_where_running(self->fds[0], &self->cpus))
			SKIP(return, "two events run on no CPU");
		/* A watchdog can have one of the counters that this group has asked for. */
		if (!is_running(self->fds[0])) {
			close(self->fds[i]);
			self->fds[i] = -1;
			break;
		}
		ASSERT_EQ(0, ioctl(self->fds[i], PERF_EVENT_IOC_SET_OUTPUT, self->fds[0]));
	}

	snprintf(rate, sizeof(rate), "%ld", MOST_PER_TICK * (1000000000 / tick_length()));
	/* Last: where the setup ends early, no teardown takes them back. */
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *value = settings[i].value;
		int error;

		/* With a clock, the first sample of an event in a tick throttles. */
		if (variant->cycles && variant->counters && i == 1)
			value = rate;
		if (get(settings[i].path, self->before[i], sizeof(self->before[i])) &&
		    set(settings[i].path, value))
			continue;
		error = errno;
		restore_settings(self->before);
		SKIP(return, "cannot change %s: %s", settings[i].path, strerror(error));
	}
}

FIXTURE_TEARDOWN(throttled_clock)
{
	for (int i = 0; i < EVENTS; i++)
		if (self->fds[i] > 0)
			close(self->fds[i]);
	restore_settings(self->before);
}

/* How often the kernel has warned since it was booted */
static unsigned long warnings(void)
{
	char count[32];

	return get("/sys/kernel/warn_count", count, sizeof(count)) ? strtoul(count, NULL, 10) : 0;
}

/* Records are of whole words, and so is what the buffer ends with. */
static void read_records(struct ring *ring)
{
	uint64_t size = RING_PAGES * sysconf(_SC_PAGESIZE), tail = ring->page->data_tail;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	char *data = (char *)ring->page + sysconf(_SC_PAGESIZE);

	while (tail < head) {
		struct sample sample;

		for (unsigned int i = 0; i < sizeof(sample); i += sizeof(uint64_t))
			memcpy((char *)&sample + i, data + (tail + i) % size, sizeof(uint64_t));
		if (sample.header.type == PERF_RECORD_SAMPLE) {
			ring->samples++;
			for (int i = 0; i < EVENTS; i++)
				ring->of_event[i] += ring->ids[i] == sample.id;
			ring->foreign += (pid_t)sample.tid != gettid();
		} else if (sample.header.type == PERF_RECORD_THROTTLE) {
			ring->throttled++;
		} else if (sample.header.type == PERF_RECORD_UNTHROTTLE) {
			ring->unthrottled++;
		}
		tail += sample.header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Runs on all CPUs in turn, each time for as long as some of the periods. */
static void move_around(const cpu_set_t *cpus, struct ring *ring)
{
	double start = now(), seconds = 0;
	cpu_set_t one;

	for (int cpu = 0; seconds < SECONDS || (!ring->throttled && seconds < MOST_SECONDS);
	     cpu = (cpu + 1) % CPU_SETSIZE) {
		seconds = now() - start;
		if (!CPU_ISSET(cpu, cpus))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		for (volatile int i = rand() % 60000; i > 0; i--)
			;
		read_records(ring);
	}
	sched_setaffinity(0, sizeof(*cpus), cpus);
}

TEST_F_TIMEOUT(throttled_clock, samples_its_task, 2 * MOST_SECONDS)
{
	unsigned long warned_before;

	/* What has warned once does again. */
	set("/sys/kernel/debug/clear_warn_once", "1");
	warned_before = warnings();
	/* What has throttled the group on the way here is not what is tested. */
	read_records(&self->ring);
	self->ring.throttled = 0;
	move_around(&self->cpus, &self->ring);
	TH_LOG("%lu samples, throttled %lu times", self->ring.samples, self->ring.throttled);
	EXPECT_LT(0UL, self->ring.throttled);
	EXPECT_EQ(0UL, self->ring.foreign);
	EXPECT_EQ(warned_before, warnings());
}

/*
 * Until the group was throttled, and at least for so many seconds. Returns how often
 * that timer was seen to have expired, or a negative number.
 */
static long read_while_throttled(struct ring *ring, double least, int timer)
{
	double start = now(), seconds = 0;
	long expired = 0;

	while (seconds < least || (!ring->throttled && seconds < MOST_SECONDS)) {
		uint64_t times;

		seconds = now() - start;
		read_records(ring);
		if (read(timer, &times, sizeof(times)) == sizeof(times))
			expired++;
		else if (errno != EAGAIN)
			return -1;
	}
	return expired;
}

static long context_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/*
 * The task stays where it is and is seldom switched: that starts all counters anew, as
 * do events that others open here, so it is worth no more than what it allows. A group
 * that a tick does not start again has fewer samples beside that than the task sees two
 * ticks pass, however slow the machine is. Whatever starts a group writes a record of it.
 */
TEST_F_TIMEOUT(throttled_clock, all_go_on, 3 * MOST_SECONDS)
{
	struct itimerspec two_ticks = {
		.it_value.tv_nsec = 2 * tick_length(),
		.it_interval.tv_nsec = 2 * tick_length(),
	};
	unsigned long most = 0, *of_event = self->ring.of_event;
	long expired, switches;
	int timer, nr = 0;

	if (!variant->counters || !variant->cycles)
		SKIP(return, "clocks do not wrap");
	setpriority(PRIO_PROCESS, 0, -20);
	while (nr < EVENTS && self->fds[nr] > 0) {
		ASSERT_EQ(0, ioctl(self->fds[nr], PERF_EVENT_IOC_ID, &self->ring.ids[nr]));
		nr++;
	}
	if (nr < 2)
		SKIP(return, "no two events count cycles here and now");
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	ASSERT_LE(0, timer);
	ASSERT_EQ(0, timerfd_settime(timer, 0, &two_ticks, NULL));

	ASSERT_LE(0, read_while_throttled(&self->ring, 0, timer));
	ASSERT_LT(0UL, self->ring.throttled);
	memset(of_event, 0, sizeof(self->ring.of_event));
	self->ring.throttled = 0;
	self->ring.unthrottled = 0;
	switches = context_switches();
	expired = read_while_throttled(&self->ring, SECONDS, timer);
	switches = context_switches() - switches;
	close(timer);

	TH_LOG("throttled %lu times, unthrottled %lu times, %ld of them switched to",
	       self->ring.throttled, self->ring.unthrottled, switches);
	TH_LOG("two ticks were seen to pass %ld times", expired);
	if (switches > expired)
		SKIP(return, "other tasks have this CPU too often");
	EXPECT_LT(0, expired);
	EXPECT_LT(0UL, self->ring.throttled);
	EXPECT_LT((unsigned long)switches, self->ring.unthrottled);
	EXPECT_LE(self->ring.throttled / 2, self->ring.unthrottled);
	for (int i = 0; i < nr; i++)
		if (of_event[i] > most)
			most = of_event[i];
	for (int i = 0; i < nr; i++) {
		TH_LOG("event %d of the group has %lu samples", i, of_event[i]);
		EXPECT_LE(most / 2, of_event[i]);
		EXPECT_LE((unsigned long)(expired + MOST_PER_TICK * switches), of_event[i]);
	}
}

/*
 * Some counters count one thing only and are programmed in their own way, and the first
 * event gets one of these if there is one for cycles.
 */
TEST_F_TIMEOUT(throttled_clock, counters_stop, 2 * MOST_SECONDS)
{
	double start = now(), seconds = 0;
	struct count counts[2];
	int fds[2];

	if (variant->cycles || variant->counters)
		SKIP(return, "the counters are throttled for what they count");
	for (int i = 0; i < 2; i++) {
		fds[i] = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, self->fds[0]);
		if (fds[i] < 0)
			SKIP(return, "no %d events count cycles: %s", i + 1, strerror(errno));
		if (!pin_where_running(fds[i], &self->cpus))
			SKIP(return, "no %d events count cycles on any CPU", i + 1);
	}
	/* The first has counted while the second was opened. */
	ASSERT_EQ(0, ioctl(self->fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	while (seconds < 2 || (!self->ring.throttled && seconds < MOST_SECONDS)) {
		seconds = now() - start;
		read_records(&self->ring);
	}
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ((ssize_t)sizeof(counts[i]), read(fds[i], &counts[i], sizeof(counts[i])));
		close(fds[i]);
	}

	TH_LOG("throttled %lu times, %lu and %lu cycles", self->ring.throttled,
	       (unsigned long)counts[0].value, (unsigned long)counts[1].value);
	EXPECT_LT(0UL, self->ring.throttled);
	EXPECT_LT(0UL, counts[0].value);
	EXPECT_LE(counts[0].value / 2, counts[1].value);
	EXPECT_LE(counts[1].value / 2, counts[0].value);
}

TEST_HARNESS_MAIN
