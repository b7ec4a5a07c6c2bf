/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perf events for the simd_regs tests: open, map, and read the ring buffer; and
 * the privileges and system settings that they need.
 */
#ifndef SIMD_REGS_EVENT_H
#define SIMD_REGS_EVENT_H

#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct simd_event {
	int fd;
	void *map;		/* control page, then the data pages */
	size_t size;		/* of the data */
	bool backward;		/* records are written from the end to the front */
	__u64 tail;
};

/* A record, in one piece; freed by the next one. */
typedef void simd_record_fn(const struct perf_event_header *header, void *arg);

/* A sampling cpu-clock with IP, TID, the GPRs that carry the marker, no SIMD */
struct perf_event_attr simd_clock_attr(void);
/* The same for the hardware's cycles, with a period in cycles */
struct perf_event_attr simd_cycles_attr(void);
/*
 * Makes it the hardware event PERF_COUNT_HW_@event, of the PMU that simd_test_cpu()
 * has: CPUs of two kinds have one each.
 */
void simd_attr_hardware(struct perf_event_attr *attr, __u64 event);

/*
 * No samples of the kernel. AMD's IBS, which precise events are there, refuses that
 * unless it is asked to drop them.
 */
void simd_attr_exclude_kernel(struct perf_event_attr *attr);

/* The CPU that is sampled, the last one that the program may use */
int simd_test_cpu(void);
/* Keeps the program on that CPU. */
void simd_use_test_cpu(void);

int simd_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			 int group_fd);

/*
 * 0 or a negative errno. The event is off until simd_event_enable(). Its buffer is
 * smaller for who may not lock much memory.
 */
int simd_event_open(struct simd_event *event, struct perf_event_attr *attr,
		    pid_t pid, int cpu, const struct simd_event *leader);
void simd_event_close(struct simd_event *event);
int simd_event_enable(struct simd_event *event);
int simd_event_disable(struct simd_event *event);
/* Hands all records of now to @fn; returns how many. */
unsigned int simd_event_drain(struct simd_event *event, simd_record_fn *fn, void *arg);

/* Lets the process map big buffers when it is no longer privileged. */
void simd_raise_memlock(void);
/* Gives up what makes perfmon_capable() true. 0 or a negative errno */
int simd_drop_perfmon(void);
/* The same, as root of a new user namespace. -ENODEV without those */
int simd_enter_container(void);

/* /proc/sys/@name; -1 if it cannot be had */
long simd_sysctl_get(const char *name);
int simd_sysctl_set(const char *name, long value);

#endif /* SIMD_REGS_EVENT_H */
