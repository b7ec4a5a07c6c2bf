// SPDX-License-Identifier: GPL-2.0
/*
 * Which events may write to the buffer of another event: those of the same task or
 * CPU, unless they are inherited by children that can run on any CPU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define RING_PAGES	8

FIXTURE(redirected_output)
{
	int owner;		/* of the buffer */
};

FIXTURE_VARIANT(redirected_output)
{
	int cpu;
	bool inherit;
	int error;
};

FIXTURE_VARIANT_ADD(redirected_output, of_a_task) {
	.cpu = -1,
};

FIXTURE_VARIANT_ADD(redirected_output, of_a_task_and_its_children) {
	.cpu = -1,
	.inherit = true,
	.error = EINVAL,
};

/* They write only while they run on that CPU. */
FIXTURE_VARIANT_ADD(redirected_output, of_a_task_and_its_children_on_one_cpu) {
	.inherit = true,
};

static int open_event(int cpu, bool inherit, int output, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP,
		.inherit = inherit,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, cpu, output, flags);
}

FIXTURE_SETUP(redirected_output)
{
	void *ring;

	self->owner = open_event(variant->cpu, false, -1, 0);
	if (self->owner < 0)
		SKIP(return, "cannot open an event: %s", strerror(errno));
	ring = mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE),
		    PROT_READ | PROT_WRITE, MAP_SHARED, self->owner, 0);
	ASSERT_NE(MAP_FAILED, ring);
}

FIXTURE_TEARDOWN(redirected_output)
{
	close(self->owner);
}

TEST_F(redirected_output, by_ioctl)
{
	int fd = open_event(variant->cpu, variant->inherit, -1, 0);

	ASSERT_LE(0, fd);
	errno = 0;
	EXPECT_EQ(variant->error ? -1 : 0, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, self->owner));
	EXPECT_EQ(variant->error, errno);
	/* It can always be taken back. */
	EXPECT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1L));
	close(fd);
}

TEST_F(redirected_output, when_opened)
{
	int fd;

	errno = 0;
	fd = open_event(variant->cpu, variant->inherit, self->owner,
			PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	EXPECT_EQ(variant->error, errno);
	EXPECT_EQ(variant->error == 0, fd >= 0);
	if (fd >= 0)
		close(fd);
}

TEST_HARNESS_MAIN
