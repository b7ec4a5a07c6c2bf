/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SIMD registers in PEBS records, what the rest of the Intel PMU driver has to
 * know of them.
 */
#ifndef _X86_EVENTS_INTEL_PEBS_SIMD_H
#define _X86_EVENTS_INTEL_PEBS_SIMD_H

#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/types.h>

/* perf_event_output() or perf_event_overflow() */
typedef int (*pebs_sample_fn)(struct perf_event *event, struct perf_sample_data *data,
			      struct pt_regs *regs);

#ifdef CONFIG_PERF_SIMD_REGS

bool intel_pebs_simd_can_wait(struct perf_event *event, enum perf_simd_side side);
u64 intel_pebs_simd_data_cfg(struct perf_event *event);
u64 intel_pebs_simd_cfg_c(struct perf_event *event);
void adaptive_pebs_find_simd(const void *at, struct perf_simd_record *record);
void arch_pebs_find_simd(const void *at, bool shstk, struct perf_simd_record *record);
int intel_pebs_simd_sample(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs, const void *at, bool pmi,
			   pebs_sample_fn sample);

#else /* !CONFIG_PERF_SIMD_REGS */

static inline bool intel_pebs_simd_can_wait(struct perf_event *event,
					    enum perf_simd_side side)
{
	return true;
}

static inline u64 intel_pebs_simd_data_cfg(struct perf_event *event)
{
	return 0;
}

static inline u64 intel_pebs_simd_cfg_c(struct perf_event *event)
{
	return 0;
}

static inline int intel_pebs_simd_sample(struct perf_event *event,
					 struct perf_sample_data *data,
					 struct pt_regs *regs, const void *at,
					 bool pmi, pebs_sample_fn sample)
{
	return sample(event, data, regs);
}

#endif /* CONFIG_PERF_SIMD_REGS */

#endif /* _X86_EVENTS_INTEL_PEBS_SIMD_H */
