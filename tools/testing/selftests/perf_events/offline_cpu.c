// SPDX-License-Identifier: GPL-2.0
/*
 * An event of a CPU that goes offline is taken off for good, even if the CPU comes
 * back. It is no leader that another event can join.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define CPU	1

static int open_on_cpu(__u64 config, int group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, CPU, group, PERF_FLAG_FD_CLOEXEC);
}

/* 0 or a negative errno */
static int set_online(const char *value)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", CPU);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

TEST(joins_no_leader_that_is_off)
{
	int leader, sibling, late, err;

	leader = open_on_cpu(PERF_COUNT_SW_PAGE_FAULTS, -1);
	if (leader < 0)
		SKIP(return, "no event of CPU %d: %s", CPU, strerror(errno));
	sibling = open_on_cpu(PERF_COUNT_SW_CONTEXT_SWITCHES, leader);
	ASSERT_LE(0, sibling);

	err = set_online("0");
	if (err)
		SKIP(return, "CPU %d does not go offline: %s", CPU, strerror(-err));
	EXPECT_EQ(-1, open_on_cpu(PERF_COUNT_SW_CPU_MIGRATIONS, leader));
	EXPECT_EQ(ENODEV, errno);
	ASSERT_EQ(0, set_online("1"));

	/* What joined before is a group of its own now. */
	EXPECT_EQ(0, close(leader));
	EXPECT_EQ(0, ioctl(sibling, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	EXPECT_EQ(-1, open_on_cpu(PERF_COUNT_SW_CPU_MIGRATIONS, sibling));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(0, close(sibling));

	/* The CPU itself can be sampled as before. */
	leader = open_on_cpu(PERF_COUNT_SW_PAGE_FAULTS, -1);
	ASSERT_LE(0, leader);
	late = open_on_cpu(PERF_COUNT_SW_CPU_MIGRATIONS, leader);
	EXPECT_LE(0, late);
	close(late);
	close(leader);
}

TEST_HARNESS_MAIN
