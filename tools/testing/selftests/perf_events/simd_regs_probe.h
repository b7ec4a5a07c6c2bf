/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the simd_regs tests that happen at a place. Each function changes an
 * attr to one; those that return an int return 0, or a negative errno if the
 * kernel has no such event.
 */
#ifndef SIMD_REGS_PROBE_H
#define SIMD_REGS_PROBE_H

#include <linux/perf_event.h>

/* At an instruction of this program; what the kernel reads of it has to stay. */
int simd_uprobe_attr(struct perf_event_attr *attr, const void *address);
/* At the first instruction of a function of the kernel */
int simd_kprobe_attr(struct perf_event_attr *attr, const char *function);
/* By its folder below events/ */
int simd_tracepoint_attr(struct perf_event_attr *attr, const char *name);
/* HW_BREAKPOINT_X, or accesses to a word of 8 bytes */
void simd_breakpoint_attr(struct perf_event_attr *attr, unsigned int type,
			  const void *address);

/*
 * A function to probe, that returns at once. Its callers hand it a key, two doubles
 * and a vector.
 */
extern const char simd_probed_function[];

/* The type of a PMU, or a negative errno */
int simd_pmu_type(const char *name);

#endif /* SIMD_REGS_PROBE_H */
