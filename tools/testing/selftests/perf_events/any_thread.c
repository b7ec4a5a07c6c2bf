// SPDX-License-Identifier: GPL-2.0
/*
 * A raw event with AnyThread is refused where CPUID says that this bit of the event
 * select register is deprecated: it may be reserved, so the kernel must not write it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define LEAF_PERFMON	0xa
#define DEPRECATED	0x8000		/* in EDX */
#define CYCLES		0x3c
#define ANY_THREAD	0x200000

#ifdef __x86_64__
#include <cpuid.h>

static bool is_deprecated(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx)
		return false;

	return __get_cpuid(LEAF_PERFMON, &eax, &ebx, &ecx, &edx) && (eax & 0xff) >= 5 &&
	       edx & DEPRECATED;
}
#else
static bool is_deprecated(void)
{
	return false;
}
#endif

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

TEST(refused_where_deprecated)
{
	int fd;

	if (!is_deprecated())
		SKIP(return, "CPUID does not deprecate AnyThread");

	fd = open_raw(CYCLES);
	if (fd < 0)
		SKIP(return, "no raw event: %s", strerror(errno));
	close(fd);

	EXPECT_EQ(-1, open_raw(CYCLES | ANY_THREAD));
	EXPECT_EQ(EINVAL, errno);
}

TEST_HARNESS_MAIN
