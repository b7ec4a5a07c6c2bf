// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the simd_regs tests that happen at a place.
 */
#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

#include "simd_regs_probe.h"

#define TRACEFS	"/sys/kernel/tracing"

asm(".text\n\t"
	".globl simd_probed_function\n\t"
	".type simd_probed_function, %function\n"
	"simd_probed_function:\n\tnop\n\tret\n\t"
	".size simd_probed_function, . - simd_probed_function\n");

/* The number in a file, or a negative errno */
static int read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	int value;

	if (!file)
		return -errno;
	if (fscanf(file, "%d", &value) != 1)
		value = -EIO;
	fclose(file);
	return value;
}

int simd_pmu_type(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return read_number(path);
}

/* Where in the file that it is mapped from is this? */
static long file_offset(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	long found = -ENOENT;
	char line[PATH_MAX + 128];

	if (!maps)
		return -errno;
	while (found < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    address >= start && address < end)
			found = address - start + offset;
	}
	fclose(maps);
	return found;
}

int simd_uprobe_attr(struct perf_event_attr *attr, const void *address)
{
	static char path[PATH_MAX];
	long offset = file_offset((uintptr_t)address);
	int type = simd_pmu_type("uprobe");

	if (type < 0)
		return type;
	if (offset < 0)
		return offset;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0)
		return -errno;
	attr->type = type;
	attr->config = 0;
	attr->uprobe_path = (uintptr_t)path;
	attr->probe_offset = offset;
	return 0;
}

int simd_kprobe_attr(struct perf_event_attr *attr, const char *function)
{
	int type = simd_pmu_type("kprobe");

	if (type < 0)
		return type;
	attr->type = type;
	attr->config = 0;
	attr->kprobe_func = (uintptr_t)function;
	attr->probe_offset = 0;
	return 0;
}

int simd_tracepoint_attr(struct perf_event_attr *attr, const char *name)
{
	char path[256];
	int id;

	snprintf(path, sizeof(path), TRACEFS "/events/%s/id", name);
	id = read_number(path);
	if (id == -ENOENT && !mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		id = read_number(path);
	if (id < 0)
		return id;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	return 0;
}

void simd_breakpoint_attr(struct perf_event_attr *attr, unsigned int type,
			  const void *address)
{
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->config = 0;
	attr->bp_type = type;
	attr->bp_addr = (uintptr_t)address;
	attr->bp_len = type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_8;
}
