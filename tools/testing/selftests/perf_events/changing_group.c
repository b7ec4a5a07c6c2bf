// SPDX-License-Identifier: GPL-2.0
/*
 * Events join and leave a group while its leader samples the whole group: each
 * sample has as many values as it says, and each value is an event's of the group.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define RING_PAGES	256
#define MAX_GROUP	4
#define CHANGES		1000
#define SECONDS		60	/* of a slow machine */

/* PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ. */
struct sample {
	struct perf_event_header header;
	__u64 id, nr;
	struct {
		__u64 value, id;
	} of[MAX_GROUP];
};

/* What the samples came to: by the size of the group, if they are well-formed */
struct seen {
	unsigned long groups[MAX_GROUP + 1], malformed, unknown, left;
};

struct group {
	struct perf_event_mmap_page *ring;
	size_t page;
	int leader;
	__u64 ids[MAX_GROUP];
	struct seen seen;
};

FIXTURE(changing_group)
{
	struct group group;
	pid_t child;
};

FIXTURE_VARIANT(changing_group)
{
	__u32 type;
	__u64 config, period;
	unsigned int precise;
};

FIXTURE_VARIANT_ADD(changing_group, page_faults) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 1,
};

/* These are sampled by NMIs, at least on x86. */
FIXTURE_VARIANT_ADD(changing_group, cycles) {
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.period = 5000,
};

FIXTURE_VARIANT_ADD(changing_group, precise_cycles) {
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.period = 5000,
	.precise = 2,
};

static bool run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return !sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* A process of CPU 1 that touches new pages for ever */
static pid_t start_child(void)
{
	const size_t size = 64 * sysconf(_SC_PAGESIZE);
	pid_t pid = fork();
	char *area;
	size_t i;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (run_on(1) && area != MAP_FAILED && !madvise(area, size, MADV_DONTNEED)) {
		for (i = 0; i < size; i += sysconf(_SC_PAGESIZE))
			__atomic_store_n(area + i, 1, __ATOMIC_RELAXED);
	}
	_exit(1);
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int group, __u64 *id)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, -1, group, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, id))
		return -1;
	return fd;
}

FIXTURE_SETUP(changing_group)
{
	struct perf_event_attr attr = {
		.type = variant->type,
		.size = sizeof(attr),
		.config = variant->config,
		.sample_period = variant->period,
		.precise_ip = variant->precise,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
	};
	struct group *group = &self->group;

	if (!run_on(1) || !run_on(0))
		SKIP(return, "needs CPU 0 and 1");
	self->child = start_child();
	ASSERT_LT(0, self->child);
	group->leader = event_open(&attr, self->child, -1, &group->ids[0]);
	if (group->leader < 0) {
		kill(self->child, SIGKILL);
		SKIP(return, "cannot open the event: %s", strerror(errno));
	}
	group->page = sysconf(_SC_PAGESIZE);
	group->ring = mmap(NULL, (RING_PAGES + 1) * group->page, PROT_READ | PROT_WRITE,
			   MAP_SHARED, group->leader, 0);
	ASSERT_NE(MAP_FAILED, group->ring);
}

FIXTURE_TEARDOWN(changing_group)
{
	kill(self->child, SIGKILL);
	waitpid(self->child, NULL, 0);
}

static void look_at(struct group *group, const struct sample *sample)
{
	const size_t size = offsetof(struct sample, of);
	__u64 i, known;

	if (sample->nr < 1 || sample->nr > MAX_GROUP ||
	    sample->header.size != size + sample->nr * sizeof(sample->of[0]) ||
	    sample->id != group->ids[0]) {
		group->seen.malformed++;
		return;
	}
	group->seen.groups[sample->nr]++;
	for (i = 0; i < sample->nr; i++) {
		for (known = 0; known < MAX_GROUP; known++) {
			if (sample->of[i].id == group->ids[known])
				break;
		}
		if (!sample->of[i].id && !sample->of[i].value && i)
			group->seen.left++;
		else if (known == MAX_GROUP)
			group->seen.unknown++;
	}
}

/* Reads all records, up to one after which the next cannot be found. */
static void drain(struct group *group)
{
	static __u64 copy[(UINT16_MAX + 1) / sizeof(__u64)];
	const char *data = (char *)group->ring + group->page;
	__u64 head = __atomic_load_n(&group->ring->data_head, __ATOMIC_ACQUIRE);
	__u64 tail = group->ring->data_tail;
	const size_t ring = RING_PAGES * group->page;

	while (tail < head) {
		size_t pos = tail % ring, first = ring - pos;
		const struct perf_event_header *header = (const void *)(data + pos);
		size_t size = header->size;

		if (size < sizeof(*header) || size % 8 || size > head - tail) {
			group->seen.malformed++;
			break;
		}
		memcpy(copy, header, size < first ? size : first);
		if (size > first)
			memcpy((char *)copy + first, data, size - first);
		if (header->type == PERF_RECORD_SAMPLE)
			look_at(group, (const void *)copy);
		tail += size;
	}
	__atomic_store_n(&group->ring->data_tail, head, __ATOMIC_RELEASE);
}

TEST_F_TIMEOUT(changing_group, samples_are_as_long_as_they_say, 120)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	struct group *group = &self->group;
	const struct seen *seen = &group->seen;
	time_t end = time(NULL) + SECONDS;
	int fd[MAX_GROUP], i, nr;

	for (nr = 0; (nr < CHANGES || !seen->groups[MAX_GROUP]) && time(NULL) < end; nr++) {
		/* What is disabled joins without an interrupt for the other CPU. */
		attr.disabled = nr % 2;
		for (i = 1; i < MAX_GROUP; i++) {
			fd[i] = event_open(&attr, self->child, group->leader, &group->ids[i]);
			ASSERT_LE(0, fd[i]);
		}
		/* First or last */
		for (i = 1; i < MAX_GROUP; i++)
			close(fd[nr & 2 ? i : MAX_GROUP - i]);
		drain(group);
	}
	TH_LOG("%d changes; %lu, %lu, %lu, %lu samples of 1 to 4 events", nr,
	       seen->groups[1], seen->groups[2], seen->groups[3], seen->groups[4]);
	TH_LOG("%lu malformed, %lu values of unknown events, %lu of events that left",
	       seen->malformed, seen->unknown, seen->left);
	EXPECT_EQ(0UL, seen->malformed);
	EXPECT_EQ(0UL, seen->unknown);
	EXPECT_LT(0UL, seen->groups[1]);
	EXPECT_LT(0UL, seen->groups[MAX_GROUP]);
	/* Few are found between two stores. */
	EXPECT_LE(seen->left, (unsigned long)nr);
}

TEST_HARNESS_MAIN
