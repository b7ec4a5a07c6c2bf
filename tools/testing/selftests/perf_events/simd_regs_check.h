/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judges samples: the vector registers of a sample have to be exactly what the
 * sampled task had, or absent. Nobody else's values may ever appear.
 */
#ifndef SIMD_REGS_CHECK_H
#define SIMD_REGS_CHECK_H

#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define SIMD_MAX_TASKS	4096

/* Instead of a family: the test itself, which looks at everybody's values. */
#define SIMD_EXEMPT	0xffff

/* The classes of registers, as events ask for them */
enum {
	SIMD_XMM, SIMD_YMM, SIMD_ZMM, SIMD_OPMASK, SIMD_EGPRS, SIMD_SSP,
	SIMD_V, SIMD_Z, SIMD_P_FFR,
	SIMD_NR_CLASSES
};

/* How the samples of one side (user or intr) came out */
struct simd_side_count {
	unsigned long exact;	/* what the marker says */
	unsigned long absent;	/* no registers */
	unsigned long unmarked;	/* nothing known to compare with, nobody else's */
	unsigned long kfpu;	/* a vector-using section of the kernel */
	unsigned long exact_of[SIMD_NR_CLASSES];
};

/* [0]: hits in user mode, [1]: in kernel mode, or in a guest that a task runs */
struct simd_count {
	unsigned long samples[2];
	unsigned long marked[2];
	unsigned long guest;		/* those of [1] that are in a guest */
	unsigned long stateless;	/* of kernel threads, idle, tasks that exit */
	unsigned long stateless_regs;	/* ... that had registers which are not theirs */
	struct simd_side_count user[2], intr[2];
	unsigned long wrong;		/* not what the task had */
	unsigned long foreign;		/* another task's values */
	unsigned long residue;		/* the same, but in a kernel vector section */
	unsigned long partial;		/* fewer registers than asked for */
	unsigned long malformed;
	unsigned long lost, throttled;
};

struct simd_check {
	const struct perf_event_attr *attr;
	bool privileged;		/* opened with perfmon_capable() */
	unsigned long may_lack;		/* hits in user mode that lack registers */
	bool kernel_may_lack;		/* any number of hits in the kernel does */
	bool exits;			/* tasks exit: then they have no user state */
	unsigned int nr_tasks;
	struct {
		__u32 tid;
		__u16 family;
	} tasks[SIMD_MAX_TASKS];
	struct simd_count n;
};

/* Says who @tid is: a SIMD_FAMILY() or SIMD_EXEMPT. Children are the same. */
void simd_check_add_task(struct simd_check *check, pid_t tid, __u16 family);

/* A simd_record_fn: judges one record and counts it in the struct simd_check. */
void simd_check_record(const struct perf_event_header *header, void *check);

void simd_check_print(const struct simd_check *check, const char *name);

#endif /* SIMD_REGS_CHECK_H */
