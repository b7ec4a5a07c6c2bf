// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often a precise event interrupts for its records: with large PEBS, beside an
 * event that has a call chain, whose records interrupt one by one, and after that is
 * closed. The first one is never disabled meanwhile.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPU	1
#define PAGES	256
/* Where large PEBS works, a buffer has hundreds of records. */
#define BATCH	50
#define RECORDS	2000

static int open_event(struct perf_event_attr *attr)
{
	int fd;

	attr->type = PERF_TYPE_HARDWARE;
	attr->size = sizeof(*attr);
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
	attr->precise_ip = 2;
	attr->exclude_kernel = 1;
	fd = syscall(__NR_perf_event_open, attr, 0, CPU, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		perror("perf_event_open");
		exit(2);
	}
	return fd;
}

/* NMIs of this CPU since it was started */
static unsigned long nmis(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	unsigned long n[CPU + 1];
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " NMI: %lu %lu", &n[0], &n[1]) == CPU + 1) {
			fclose(f);
			return n[CPU];
		}
	}
	fprintf(stderr, "/proc/interrupts has no NMIs of CPU %d\n", CPU);
	exit(2);
}

/* Bytes of records, which read() of the event makes the kernel write. */
static unsigned long written(int fd, struct perf_event_mmap_page *ring)
{
	unsigned long count, before = ring->data_head;

	/* All that is there is read, so that there is always room. */
	ring->data_tail = before;
	if (read(fd, &count, sizeof(count)) != sizeof(count)) {
		perror("read");
		exit(2);
	}
	return ring->data_head;
}

/* phase WHAT, and whether each record is to interrupt; false if it is not so. */
static int phase(const char *what, int each, int fd, struct perf_event_mmap_page *ring)
{
	unsigned long size = sizeof(struct perf_event_header) + 2 * sizeof(__u64);
	unsigned long start = written(fd, ring), first = nmis(), records, interrupts;
	int ok;

	do {
		for (volatile unsigned int i = 0; i < 20000; i++)
			;
		records = (written(fd, ring) - start) / size;
	} while (records < RECORDS);
	interrupts = nmis() - first;
	ok = each ? interrupts > records / 2 : interrupts < records / BATCH;
	printf("%s%s: %lu records, %lu interrupts\n", ok ? "" : "WRONG: ", what, records, interrupts);
	return ok;
}

int main(void)
{
	struct perf_event_attr large = {
		.sample_period = 1000, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
	};
	struct perf_event_attr other = {
		.sample_period = 10000000, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
	};
	struct perf_event_mmap_page *ring;
	int fd, second, ok;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(CPU, &one);
	sched_setaffinity(0, sizeof(one), &one);
	fd = open_event(&large);
	ring = mmap(NULL, (PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	ok = phase("alone", 0, fd, ring);
	second = open_event(&other);
	ok &= phase("beside one with call chains", 1, fd, ring);
	close(second);
	ok &= phase("alone again", 0, fd, ring);
	return !ok;
}
