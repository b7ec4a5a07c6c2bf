/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SAMPLE_REGS_H
#define __PERF_SAMPLE_REGS_H

/*
 * The register block of a sample, PERF_SAMPLE_REGS_USER and _INTR alike: find
 * its parts in an event, tell its size, write it. And the fields of the attr that
 * ask for its SIMD part.
 */
#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct regs_dump;
union perf_event;

const __u64 *regs_dump__parse(struct regs_dump *regs, const struct perf_event_attr *attr, bool intr,
			      const union perf_event *event, const __u64 *pos);
size_t regs_dump__size(const struct regs_dump *regs);
__u64 *regs_dump__synthesize(const struct regs_dump *regs, __u64 *pos);

/** struct attr_simd_regs - the sample_simd_* fields, which PERF_ATTR_SIZE_VER10 added */
struct attr_simd_regs {
	u8 fields[PERF_ATTR_SIZE_VER10 - PERF_ATTR_SIZE_VER9];
};

void perf_event_attr__save_simd_regs(const struct perf_event_attr *attr,
				     struct attr_simd_regs *saved);
void perf_event_attr__restore_simd_regs(struct perf_event_attr *attr,
					const struct attr_simd_regs *saved);
void perf_event_attr__clear_simd_regs(struct perf_event_attr *attr);
void perf_event_attr__drop_user_simd_regs(struct perf_event_attr *attr);
void perf_event_attr__drop_intr_simd_regs(struct perf_event_attr *attr);

#endif /* __PERF_SAMPLE_REGS_H */
