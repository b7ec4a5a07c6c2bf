/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SIMD_REGS_ATTR_H
#define __PERF_SIMD_REGS_ATTR_H

/*
 * The registers that perf record was asked for, in the attr of an event, and
 * what to do when the kernel refuses the event for them.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evsel;
struct record_opts;
struct reg_list;

/** struct simd_regs_request - the SIMD fields of every event's attr */
struct simd_regs_request {
	/** @enabled: The fields are in use. */
	bool enabled;
	/** @vec_qwords: Width of the vectors on both sides. */
	u16 vec_qwords;
	/** @pred_qwords: Width of the predicates on both sides. */
	u16 pred_qwords;
	/** @min_vec_qwords: What vectors need so that the predicates have their lanes. */
	u16 min_vec_qwords;
	u32 pred_intr;
	u32 pred_user;
	u64 vec_intr;
	u64 vec_user;
	/** @whole_vec: What a mask has to become if the kernel takes just whole classes. */
	u64 whole_vec;
	u32 whole_pred;
	/** @precise_xmm: Bits of sample_regs_intr for precise events, where they can. */
	u64 precise_xmm;
};

bool record_opts__has_regs(const struct record_opts *opts, bool intr);
void record_opts__add_regs(struct record_opts *opts, const struct reg_list *list, bool intr);
void record_opts__clear_regs(struct record_opts *opts, bool intr);
void evsel__config_sample_regs(struct evsel *evsel, const struct record_opts *opts);
bool evsel__simd_regs_fallback(struct evsel *evsel, int err);
bool evsel__drop_optional_regs(struct evsel *evsel, int err);
bool evsel__refused_for_simd_regs(const struct evsel *evsel);
bool evsel__stays_precise(struct evsel *evsel, int err);
bool evsel__drop_simd_regs(struct evsel *evsel, int err);
int evsel__simd_regs_strerror(struct evsel *evsel, int err, char *msg, size_t size);
void simd_regs__warn_dwarf(uint16_t e_machine);

#endif /* __PERF_SIMD_REGS_ATTR_H */
