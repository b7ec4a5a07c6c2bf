/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the judging of samples and what it has to know of the architecture:
 * simd_regs_check.c has the former, simd_regs_check_x86.c and
 * simd_regs_check_arm64.c the latter.
 */
#ifndef SIMD_REGS_CHECK_ARCH_H
#define SIMD_REGS_CHECK_ARCH_H

#include <stdbool.h>

#include "simd_regs_check.h"
#include "simd_regs_record.h"

/* From good to bad */
enum verdict { MATCH, ABSENT, UNMARKED, KFPU, WRONG, FOREIGN };

/* What is known about the task that a sample is of */
struct subject {
	int family;		/* -1: no worker, owns no pattern */
	bool exempt;
	bool marked;
	__u64 marker;
	bool may_kfpu;		/* kernel values are legitimate on the intr side */
};

void simd_report(const struct simd_check *check, const struct simd_sample *s,
		 const struct subject *who, const char *side, const char *what,
		 unsigned int reg, unsigned int word, __u64 value);

/* The worst of @nr registers from @data, which are the lowest ones in @mask. */
enum verdict simd_check_regs(struct simd_check *check, const struct simd_sample *s,
			     const struct subject *who, const char *side,
			     const __u64 *data, unsigned int first_reg,
			     __u64 mask, __u64 nr, __u64 qwords);

/* Counts registers of a class that are there and as they should be. */
void simd_count_class(struct simd_side_count *n, unsigned int class, bool there,
		      enum verdict verdict);

/* The marker, if the GPRs that carry it were sampled */
bool simd_arch_marker(const struct simd_block *b, __u64 *marker);

/* Does an event ask for registers of this side, other than plain GPRs? */
bool simd_arch_asks(const struct perf_event_attr *attr, bool user);

/* ... for some that are among the GPRs, which are absent together with them? */
bool simd_arch_asks_for_gprs(const struct perf_event_attr *attr, bool user);

/* Judges those, as far as simd_check_regs() has not. */
enum verdict simd_arch_check_gprs(struct simd_check *check, const struct simd_sample *s,
				  const struct subject *who, bool user,
				  struct simd_side_count *n);

/* Does a block have all that it should have, as wide as it should be? */
bool simd_arch_whole(const struct perf_event_attr *attr, const struct simd_sample *s,
		     const struct subject *who, const struct simd_block *b);

/* SIMD_XMM and so on */
unsigned int simd_arch_vector_class(__u64 qwords);
extern const unsigned int simd_arch_pred_class;

#endif /* SIMD_REGS_CHECK_ARCH_H */
