/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SIMD_REGS_PROBE_H
#define __PERF_SIMD_REGS_PROBE_H

/*
 * What the running kernel can sample of the registers that need the SIMD fields
 * of perf_event_attr.
 */
#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "simd-regs.h"

/** struct simd_regs_caps - what can be sampled on one side */
struct simd_regs_caps {
	/** @err: 0, or the errno with which the kernel refuses all of it. */
	int err;
	/** @needs_gpr: sample_regs_* must not be empty. */
	bool needs_gpr;
	/** @whole_classes: A mask must have all registers of a class, or none. */
	bool whole_classes;
	/** @cpu: Bits of simd_regs__cpu(). */
	u64 cpu;
	/** @ext_gprs: Those of simd_ext_gprs() that can be sampled. */
	u64 ext_gprs;
	/** @ext_gprs_err: The errno for the others. */
	int ext_gprs_err;
	/** @class: One for each of simd_classes(). */
	struct {
		/** @mask: Bits of the mask in the attr. */
		u64 mask;
		/** @qwords: The width to ask for. */
		u16 qwords;
		/** @err: The errno if @mask is 0. */
		int err;
	} class[SIMD_CLASSES_MAX];
};

u64 simd_regs__cpu(uint16_t e_machine);
int simd_regs__try_open(struct perf_event_attr attr);
int simd_regs__try_gprs(uint16_t e_machine, bool intr, u64 mask);
void simd_regs__probe(struct simd_regs_caps *caps, uint16_t e_machine, bool intr);

#endif /* __PERF_SIMD_REGS_PROBE_H */
