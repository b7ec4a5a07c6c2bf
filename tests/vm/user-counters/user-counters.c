// SPDX-License-Identifier: GPL-2.0
/*
 * Read a counter of arm64 in user space while its event is sampled, so that the kernel
 * stops it and starts it again: the page that is mapped has to name the counter all the
 * time, and what user space makes of it has to lie between two counts of read().
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>

#define USER_ACCESS	0x2	/* config1 of the PMU's events */
#define CYCLE_COUNTER	31
#define SECONDS		2
#define MORE_SECONDS	60

/* The count by the page. Returns false if that names no counter, or one not of cycles. */
static bool read_page(const volatile struct perf_event_mmap_page *page, uint64_t *count)
{
	uint32_t seq, index;
	uint64_t raw;

	do {
		seq = page->lock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		index = page->index;
		if (index != CYCLE_COUNTER + 1)
			return false;
		asm volatile("isb\n\tmrs %0, pmccntr_el0" : "=r" (raw));
		raw <<= 64 - page->pmc_width;
		*count = page->offset + ((int64_t)raw >> (64 - page->pmc_width));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (page->lock != seq);
	return true;
}

int main(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.config1 = USER_ACCESS,
		.sample_freq = 1000,
		.freq = 1,
		.exclude_kernel = 1,
	};
	unsigned long reads = 0, unnamed = 0, outside = 0;
	uint64_t before, count, after;
	struct perf_event_mmap_page *page;
	time_t end;
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0) {
		perror("perf_event_open");
		return 1;
	}
	page = mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		return 1;
	}

	end = time(NULL) + SECONDS;
	/* Longer where that is not enough for some reads and a sample */
	while (time(NULL) <= end ||
	       ((reads <= 100 || !page->data_head) && time(NULL) <= end + MORE_SECONDS)) {
		if (read(fd, &before, sizeof(before)) != sizeof(before))
			return 1;
		if (!read_page(page, &count))
			unnamed++;
		else if (read(fd, &after, sizeof(after)) != sizeof(after))
			return 1;
		else if (count < before || count > after)
			outside++;
		reads++;
	}
	printf("%s: %lu reads, %lu without a counter, %lu outside of read()'s counts, %llu bytes of samples\n",
	       reads > 100 && !unnamed && !outside && page->data_head ? "ok" : "not ok", reads,
	       unnamed, outside, (unsigned long long)page->data_head);
	return 0;
}
