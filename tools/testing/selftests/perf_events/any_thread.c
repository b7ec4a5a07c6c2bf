// SPDX-License-Identifier: GPL-2.0
/*
 * A raw event with AnyThread is refused where the PMU does not offer it: the bit of the
 * event select register may be reserved there, and not be written.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define FORMAT		"/sys/bus/event_source/devices/cpu/format/"
#define CYCLES		0x3c
#define ANY_THREAD	0x200000

/* Of the others, the bit means something else. */
static bool is_intel(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool found = false;
	char line[256];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, "GenuineIntel");
	fclose(file);
	return found;
}

static int open_raw(__u64 config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

TEST(refused_where_not_offered)
{
	int fd;

	if (!is_intel() || access(FORMAT "event", F_OK))
		SKIP(return, "no PMU of Intel's");
	if (!access(FORMAT "any", F_OK))
		SKIP(return, "the PMU has AnyThread");

	fd = open_raw(CYCLES);
	if (fd < 0)
		SKIP(return, "no raw event: %s", strerror(errno));
	close(fd);

	EXPECT_EQ(-1, open_raw(CYCLES | ANY_THREAD));
	EXPECT_EQ(EINVAL, errno);
}

TEST_HARNESS_MAIN
