// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows that come in one PMI with a PEBS record of a group that counts slots, whose
 * record then has a snapshot of the counters: each event has its samples. The events count
 * the same branches, have the same period, and use eight counters.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define PMUS		"/sys/bus/event_source/devices/"
#define SLOTS		0x400	/* a raw event */
#define PERIOD		20011
#define SAMPLES		200U
#define ENOUGH_SAMPLES	(SAMPLES * 9 / 10)
#define OTHER_EVENTS	7
#define DATA_PAGES	4

struct event {
	int fd;
	void *ring;
};

static int open_event(const struct perf_event_attr *attr, int leader)
{
	return syscall(SYS_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* Returns 0 or an errno. */
static int open_sampler(struct event *event, const struct perf_event_attr *attr, int leader)
{
	event->fd = open_event(attr, leader);
	if (event->fd < 0)
		return errno;

	event->ring = mmap(NULL, (1 + DATA_PAGES) * page_size(), PROT_READ | PROT_WRITE,
			   MAP_SHARED, event->fd, 0);
	return event->ring == MAP_FAILED ? errno : 0;
}

static unsigned int count_samples(const struct event *event)
{
	const struct perf_event_mmap_page *page = event->ring;
	const char *data = (const char *)event->ring + page_size();
	const struct perf_event_header *header;
	unsigned int n = 0;
	__u64 at;

	for (at = 0; at < page->data_head; at += header->size) {
		header = (const void *)(data + at);
		n += header->type == PERF_RECORD_SAMPLE;
	}
	return n;
}

/* Did it have a counter all the time? */
static bool has_run(const struct event *event)
{
	__u64 value[3];

	return read(event->fd, value, sizeof(value)) == sizeof(value) && value[1] == value[2];
}

static void branch(unsigned long n)
{
	do
		asm volatile("" : "+r" (n));
	while (--n);
}

TEST(none_is_lost)
{
	const struct perf_event_attr slots = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(slots),
		.config = SLOTS,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	const struct perf_event_attr branches = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(branches),
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	struct perf_event_attr precise = branches;
	struct event recorded, other[OTHER_EVENTS];
	unsigned int i;
	int leader, err;

	precise.precise_ip = 2;
	precise.sample_type |= PERF_SAMPLE_READ;
	precise.read_format = PERF_FORMAT_GROUP;
	/* A PMI for each record */
	precise.wakeup_events = 1;

	/* On other CPUs the number is that of some event that there is not. */
	if (access(PMUS "cpu/events/slots", F_OK) && access(PMUS "cpu_core/events/slots", F_OK))
		SKIP(return, "no PMU here counts slots");
	leader = open_event(&slots, -1);
	if (leader < 0)
		SKIP(return, "slots cannot be counted: %s", strerror(errno));
	err = open_sampler(&recorded, &precise, leader);
	if (err)
		SKIP(return, "no precise event in a group with slots: %s", strerror(err));
	for (i = 0; i < OTHER_EVENTS; i++) {
		err = open_sampler(&other[i], &branches, -1);
		ASSERT_EQ(0, err);
	}

	/* The kernel's branches do not count: all of them begin at the same one. */
	ASSERT_EQ(0, prctl(PR_TASK_PERF_EVENTS_ENABLE));
	branch((unsigned long)PERIOD * SAMPLES);
	ASSERT_EQ(0, prctl(PR_TASK_PERF_EVENTS_DISABLE));

	for (i = 0; i < OTHER_EVENTS; i++) {
		if (!has_run(&other[i]))
			SKIP(return, "fewer than %d counters are free", OTHER_EVENTS + 1);
	}
	EXPECT_LE(ENOUGH_SAMPLES, count_samples(&recorded));
	for (i = 0; i < OTHER_EVENTS; i++) {
		EXPECT_LE(ENOUGH_SAMPLES, count_samples(&other[i])) {
			TH_LOG("event %u has %u samples", i, count_samples(&other[i]));
		}
	}
}

TEST_HARNESS_MAIN
