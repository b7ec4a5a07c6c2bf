// SPDX-License-Identifier: GPL-2.0
/*
 * perf events for the simd_regs tests: open, map, and read the ring buffer; and
 * the privileges and system settings that they need.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <sched.h>
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

#define RING_SIZE	(16 << 20)
/* An ordinary user may have three of these. */
#define SMALL_RING_SIZE	(128 << 10)
#define PMUS		"/sys/bus/event_source/devices/*/cpus"

/* Races want many samples more than tasks that get on, a slow kernel the reverse. */
static __u64 period(const char *variable, __u64 usual)
{
	const char *value = getenv(variable);

	return value ? strtoull(value, NULL, 0) : usual;
}

int simd_test_cpu(void)
{
	static int last = -1;
	cpu_set_t set;
	int cpu;

	/* Tests leave that CPU to others later on. */
	if (last >= 0 || sched_getaffinity(0, sizeof(set), &set))
		return last;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			last = cpu;
	}
	return last;
}

void simd_use_test_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(simd_test_cpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* A list is one like 0-3,8. */
static bool list_has(const char *list, int cpu)
{
	int first, last, len;

	while (sscanf(list, "%d%n", &first, &len) == 1) {
		list += len;
		last = first;
		if (sscanf(list, "-%d%n", &last, &len) == 1)
			list += len;
		if (cpu >= first && cpu <= last)
			return true;
		if (*list++ != ',')
			break;
	}
	return false;
}

static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "r");
	bool ok;

	if (!file)
		return false;
	ok = fgets(line, size, file);
	fclose(file);
	return ok;
}

/* The type of the PMU that has @cpu and says so; 0 where all CPUs have the same */
static __u64 pmu_of(int cpu)
{
	char line[4096];
	__u64 type = 0;
	glob_t pmus;
	size_t i;

	if (glob(PMUS, 0, NULL, &pmus))
		return 0;
	for (i = 0; i < pmus.gl_pathc && !type; i++) {
		char *path = pmus.gl_pathv[i];

		if (!read_line(path, line, sizeof(line)) || !list_has(line, cpu))
			continue;
		strcpy(strrchr(path, '/') + 1, "type");	/* as long as "cpus" */
		if (read_line(path, line, sizeof(line)))
			type = strtoull(line, NULL, 0);
	}
	globfree(&pmus);
	return type;
}

void simd_attr_hardware(struct perf_event_attr *attr, __u64 event)
{
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = pmu_of(simd_test_cpu()) << PERF_PMU_TYPE_SHIFT | event;
}

void simd_attr_exclude_kernel(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	/* swfilt, bit 0 of config2 */
	if (attr->precise_ip &&
	    !access("/sys/bus/event_source/devices/ibs_op/format/swfilt", F_OK))
		attr->config2 |= 1;
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

	simd_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
	attr.sample_period = period("SIMD_CYCLES", 50021);
	return attr;
}

int simd_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			 int group_fd)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
		       PERF_FLAG_FD_CLOEXEC);
}

static int map_ring(struct simd_event *event, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	event->size = size;
	event->map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
	return event->map == MAP_FAILED ? -errno : 0;
}

int simd_event_open(struct simd_event *event, struct perf_event_attr *attr,
		    pid_t pid, int cpu, const struct simd_event *leader)
{
	int err;

	memset(event, 0, sizeof(*event));
	event->fd = simd_perf_event_open(attr, pid, cpu, leader ? leader->fd : -1);
	if (event->fd < 0)
		return -errno;

	event->backward = attr->write_backward;
	err = map_ring(event, RING_SIZE);
	if (err == -EPERM)
		err = map_ring(event, SMALL_RING_SIZE);
	if (err)
		close(event->fd);
	return err;
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
