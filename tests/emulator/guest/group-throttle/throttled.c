// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group is throttled for its leader, a regular event, and closed at once. Its other
 * member was precise; the next event on that counter is not, and has to get samples.
 *
 *	throttled ROUNDS PERIOD: of the precise event, in cycles of user mode
 *
 * Says in how many rounds that event got none. With a period that is shorter than the
 * kernel's way out of an NMI, a kernel that leaves PEBS enabled never gets out of it.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING	(3 * 4096)

struct event {
	int fd;
	struct perf_event_mmap_page *ring;
};

static struct event open_event(struct perf_event_attr *attr, int group)
{
	struct event e;

	attr->type = PERF_TYPE_HARDWARE;
	attr->size = sizeof(*attr);
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	e.fd = syscall(__NR_perf_event_open, attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
	if (e.fd < 0) {
		perror("perf_event_open");
		exit(2);
	}
	e.ring = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, e.fd, 0);
	if (e.ring == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return e;
}

static void close_event(struct event e)
{
	munmap(e.ring, RING);
	close(e.fd);
}

static void spin(unsigned int times)
{
	for (volatile unsigned int i = 0; i < times; i++)
		;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60, period = argc > 2 ? atoi(argv[2]) : 20000;
	/* So that the PEBS buffers, and what is in them, stay what they are. */
	struct perf_event_attr keep = { .config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1 };
	struct perf_event_attr leader = {
		.config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 40,
	};
	/* A call chain has its record interrupt, and that has no more than the basic group. */
	struct perf_event_attr precise = {
		.config = PERF_COUNT_HW_CPU_CYCLES, .precise_ip = 2, .exclude_kernel = 1,
		.sample_period = period, .sample_type = PERF_SAMPLE_CALLCHAIN,
	};
	struct perf_event_attr next = {
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 20000,
	};
	int without = 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	sched_setaffinity(0, sizeof(one), &one);
	open_event(&keep, -1);
	for (int i = 0; i < rounds; i++) {
		struct event l = open_event(&leader, -1), p = open_event(&precise, l.fd), n;

		spin(20000);
		close_event(p);
		close_event(l);
		n = open_event(&next, -1);
		spin(50000);
		ioctl(n.fd, PERF_EVENT_IOC_DISABLE, 0);
		without += !n.ring->data_head;
		close_event(n);
	}
	printf("%d of %d rounds without samples\n", without, rounds);
	return without ? 1 : 0;
}
