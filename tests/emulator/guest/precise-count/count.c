// SPDX-License-Identifier: GPL-2.0-only
/*
 * The count of a precise event with a fixed period, read before its first sample: what
 * the counter has counts, although there is no PEBS record yet.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERIOD		10000000
#define INSTRUCTIONS	4000000

/* Each time with an event of its own: a context switch would read the counter as well. */
static int try(void)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER0,
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP,
		.precise_ip = 2,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	unsigned long n = INSTRUCTIONS / 2;
	uint64_t count;

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE)) {
		perror("perf_event_open");
		return 1;
	}
	asm volatile("1: dec %0; jnz 1b" : "+r" (n) : : "cc");
	if (read(fd, &count, sizeof(count)) != sizeof(count)) {
		perror("read");
		return 1;
	}
	close(fd);
	printf("%d instructions, counted %lu\n", INSTRUCTIONS, (unsigned long)count);

	/* The system calls are not free. */
	return count < INSTRUCTIONS || count > INSTRUCTIONS + 1000;
}

int main(void)
{
	int i, bad = 0;

	for (i = 0; i < 10; i++)
		bad |= try();

	return bad;
}
