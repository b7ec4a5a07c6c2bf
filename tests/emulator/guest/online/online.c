// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of cycles on CPU 1, precise and not, as many after it was off and on line as
 * before. Says how many there were.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES	64
#define PERIOD	100000

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(2);
	}
}

static void set_online(const char *what)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);

	if (fd < 0 || write(fd, what, 1) != 1) {
		perror("online");
		exit(2);
	}
	close(fd);
}

static unsigned int samples(int precise)
{
	/* General purpose registers make records larger than the basic group alone. */
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .precise_ip = precise, .sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_CALLCHAIN,
		.sample_regs_intr = 0xff, .exclude_callchain_user = 1,
	};
	struct perf_event_mmap_page *ring;
	unsigned int n = 0;
	int fd;

	run_on(1);
	fd = syscall(__NR_perf_event_open, &attr, -1, 1, -1, PERF_FLAG_FD_CLOEXEC);
	ring = mmap(NULL, (1 + PAGES) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || ring == MAP_FAILED) {
		perror("perf_event_open");
		exit(2);
	}
	for (volatile unsigned int i = 0; i < 3000000; i++)
		;
	for (uint64_t at = 0; at < ring->data_head;) {
		struct perf_event_header *h = (void *)((char *)ring + 4096 + at % (PAGES * 4096));

		n += h->type == PERF_RECORD_SAMPLE;
		at += h->size;
	}
	munmap(ring, (1 + PAGES) * 4096);
	close(fd);
	run_on(0);
	return n;
}

int main(void)
{
	int bad = 0;

	for (int precise = 1; precise >= 0; precise--) {
		unsigned int before = samples(precise), after;

		set_online("0");
		set_online("1");
		after = samples(precise);
		printf("%s: %u samples before, %u after\n", precise ? "precise" : "regular", before,
		       after);
		bad |= before < 100 || after < before / 2;
	}
	return bad;
}
