/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SAMPLE_REGS_H
#define __PERF_SAMPLE_REGS_H

/*
 * The register block of a sample, PERF_SAMPLE_REGS_USER and _INTR alike: find
 * its parts in an event, tell its size, write it.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct perf_event_attr;
struct regs_dump;
union perf_event;

const __u64 *regs_dump__parse(struct regs_dump *regs, const struct perf_event_attr *attr, bool intr,
			      const union perf_event *event, const __u64 *pos);
size_t regs_dump__size(const struct regs_dump *regs);
__u64 *regs_dump__synthesize(const struct regs_dump *regs, __u64 *pos);

#endif /* __PERF_SAMPLE_REGS_H */
