/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_REG_LIST_H
#define __PERF_REG_LIST_H

/*
 * The register list of "perf record -I" and "--user-regs": from names to the
 * masks and widths of perf_event_attr, given what there is to choose from.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "simd-regs-probe.h"

/** struct reg_avail - the registers that can be asked for on one side */
struct reg_avail {
	/** @e_machine: The architecture. */
	uint16_t e_machine;
	/** @intr: Interrupt side, else user side. */
	bool intr;
	/** @probed: @caps is filled in. If not, that is done when it is needed. */
	bool probed;
	/** @gprs: Bits of sample_regs_*, all but those of XMM registers. */
	u64 gprs;
	/** @legacy_xmm: Bits of sample_regs_* for XMM, usable without the SIMD fields. */
	u64 legacy_xmm;
	/** @caps: What the SIMD fields can ask for. */
	struct simd_regs_caps caps;
};

/** struct reg_list - the registers that have been asked for on one side */
struct reg_list {
	/** @regs: For sample_regs_*. */
	u64 regs;
	/** @vec: For sample_simd_vec_reg_*. */
	u64 vec;
	/** @pred: For sample_simd_pred_reg_*. */
	u32 pred;
	/** @vec_qwords: The widest of the vectors. */
	u16 vec_qwords;
	/** @pred_qwords: The widest of the predicates. */
	u16 pred_qwords;
	/** @min_vec_qwords: What vectors need so that the predicates have their lanes. */
	u16 min_vec_qwords;
	/** @ext_gprs: @regs has some that need sample_simd_regs_enabled. */
	bool ext_gprs;
	/** @whole_vec: What @vec has to become, if the kernel takes just whole classes. */
	u64 whole_vec;
	/** @whole_pred: The same for @pred. */
	u32 whole_pred;
};

void reg_avail__init(struct reg_avail *avail, uint16_t e_machine, bool intr);
void reg_avail__fprintf(struct reg_avail *avail, FILE *fp);
void reg_avail__fprintf_missing(struct reg_avail *avail, FILE *fp);
int reg_list__add(struct reg_list *list, struct reg_avail *avail, const char *item,
		  char *why, size_t why_size);
void reg_list__finish(struct reg_list *list, struct reg_avail *avail);

#endif /* __PERF_REG_LIST_H */
