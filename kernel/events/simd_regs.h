/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SIMD registers in samples, what the files of the generic part know of each
 * other: simd_attr.c has which attributes make sense, simd_buffers.c the memory,
 * simd_regs.c what happens to a sample, simd_output.c how it is laid out.
 */
#ifndef _KERNEL_EVENTS_SIMD_REGS_H
#define _KERNEL_EVENTS_SIMD_REGS_H

#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "internal.h"

static inline u64 perf_simd_event_state(const struct perf_simd_event *simd)
{
	return simd->state[PERF_SIMD_USER] | simd->state[PERF_SIMD_INTR];
}

DECLARE_PER_CPU(struct perf_simd_buf __rcu *, perf_simd_bufs[PERF_NR_CONTEXTS]);

/*
 * The buffer of this CPU and context level, NULL if there is none. Where an event
 * with SIMD registers is active at one of its levels there is: it has a reference.
 */
static inline struct perf_simd_buf *perf_simd_this_buf(void)
{
	return rcu_dereference_sched(*this_cpu_ptr(&perf_simd_bufs[interrupt_context_level()]));
}

u64 perf_simd_asked_state(void);
int perf_simd_get_bufs(const struct perf_simd_event *simd);
void perf_simd_put_bufs(const struct perf_simd_event *simd);

void perf_simd_regs_set_bounds(const struct perf_event_attr *attr,
			       struct perf_simd_event *simd);

#endif /* _KERNEL_EVENTS_SIMD_REGS_H */
