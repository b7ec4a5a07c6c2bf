// SPDX-License-Identifier: GPL-2.0
/*
 * perf events for the simd_regs tests: open, map, and read the ring buffer; and
 * the privileges and system settings that they need.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "simd_regs_event.h"
#include "simd_regs_record.h"

#define RING_PAGES	4096

/* Races want many samples more than tasks that get on, a slow kernel the reverse. */
static __u64 period(const char *variable, __u64 usual)
{
	const char *value = getenv(variable);

	return value ? strtoull(value, NULL, 0) : usual;
}

struct perf_event_attr simd_clock_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		/* Not a round number: stay out of step with the timer tick. */
		.sample_period = period("SIMD_CLOCK", 83003),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_REGS_USER,
		.sample_regs_user = SIMD_MARKER_REGS,
		.disabled = 1,
		.task = 1,
	};

	return attr;
}

struct perf_event_attr simd_cycles_attr(void)
{
	struct perf_event_attr attr = simd_clock_attr();

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_period = period("SIMD_CYCLES", 50021);
	return attr;
}

int simd_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			 int group_fd)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
		       PERF_FLAG_FD_CLOEXEC);
}

int simd_event_open(struct simd_event *event, struct perf_event_attr *attr,
		    pid_t pid, int cpu, const struct simd_event *leader)
{
	size_t page = sysconf(_SC_PAGESIZE);

	memset(event, 0, sizeof(*event));
	event->fd = simd_perf_event_open(attr, pid, cpu, leader ? leader->fd : -1);
	if (event->fd < 0)
		return -errno;

	event->backward = attr->write_backward;
	event->size = RING_PAGES * page;
	event->map = mmap(NULL, event->size + page, PROT_READ | PROT_WRITE,
			  MAP_SHARED, event->fd, 0);
	if (event->map == MAP_FAILED) {
		int err = -errno;

		close(event->fd);
		return err;
	}
	return 0;
}

void simd_event_close(struct simd_event *event)
{
	munmap(event->map, event->size + sysconf(_SC_PAGESIZE));
	close(event->fd);
}

int simd_event_enable(struct simd_event *event)
{
	return ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int simd_event_disable(struct simd_event *event)
{
	return ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

unsigned int simd_event_drain(struct simd_event *event, simd_record_fn *fn, void *arg)
{
	static __u64 copy[(UINT16_MAX + 1) / sizeof(__u64)];
	struct perf_event_mmap_page *control = event->map;
	const char *data = (char *)event->map + sysconf(_SC_PAGESIZE);
	__u64 head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	__u64 at = event->backward ? head : event->tail;
	__u64 end = event->backward ? event->tail : head;
	unsigned int nr = 0;

	while (at != end) {
		size_t pos = at % event->size;
		/* Records are 8 bytes aligned, so a header is never split. */
		const struct perf_event_header *header = (const void *)(data + pos);
		size_t size = header->size, first = event->size - pos;

		if (size < sizeof(*header) || size > end - at) {
			fprintf(stderr, "# record of %zu bytes at %zu, %zu are there\n",
				size, pos, (size_t)(end - at));
			abort();
		}
		if (size > first) {
			memcpy(copy, header, first);
			memcpy((char *)copy + first, data, size - first);
			header = (const void *)copy;
		}
		fn(header, arg);
		at += size;
		nr++;
	}
	event->tail = head;
	__atomic_store_n(&control->data_tail, event->tail, __ATOMIC_RELEASE);
	return nr;
}

void simd_raise_memlock(void)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

int simd_drop_perfmon(void)
{
	const unsigned int perfmon = 38, sys_admin = 21;
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	data[perfmon / 32].effective &= ~(1U << perfmon % 32);
	data[perfmon / 32].permitted &= ~(1U << perfmon % 32);
	data[sys_admin / 32].effective &= ~(1U << sys_admin % 32);
	data[sys_admin / 32].permitted &= ~(1U << sys_admin % 32);
	data[0].inheritable = 0;
	data[1].inheritable = 0;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int simd_enter_container(void)
{
	if (syscall(SYS_unshare, CLONE_NEWUSER))
		return errno == EINVAL || errno == ENOSPC ? -ENODEV : -errno;
	return write_file("/proc/self/uid_map", "0 0 1");
}

static FILE *sysctl_open(const char *name, const char *mode)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	return fopen(path, mode);
}

long simd_sysctl_get(const char *name)
{
	FILE *file = sysctl_open(name, "r");
	long value;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

int simd_sysctl_set(const char *name, long value)
{
	FILE *file = sysctl_open(name, "w");
	int err;

	if (!file)
		return -errno;
	err = fprintf(file, "%ld\n", value) < 0;
	err |= fclose(file);
	return err ? -EIO : 0;
}
