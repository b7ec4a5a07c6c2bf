/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SIMD_REGS_LANES_H
#define __PERF_SIMD_REGS_LANES_H

/*
 * The lanes of a register: its value taken as many small numbers of one type,
 * which the user chooses. A perf.data file doesn't say what a program has in its
 * registers.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct option;
struct simd_reg;
struct simd_regs;

/* Enough for any lane as text: a double with sign, 17 digits and exponent. */
#define SIMD_LANE_TEXT_MAX	32

enum simd_lane_kind {
	SIMD_LANE_SIGNED,
	SIMD_LANE_UNSIGNED,
	SIMD_LANE_HEX,
	SIMD_LANE_F16,
	SIMD_LANE_BF16,
	SIMD_LANE_F32,
	SIMD_LANE_F64,
};

/** struct simd_lane_type - how to read a lane */
struct simd_lane_type {
	/** @name: As on the command line. */
	const char *name;
	/** @kind: What the bits mean. */
	enum simd_lane_kind kind;
	/** @bits: The width of a lane, a power of two. */
	unsigned int bits;
};

/** struct simd_view - how registers are shown, from the command line */
struct simd_view {
	/** @type: Of the lanes, or NULL: show words in hex. */
	const struct simd_lane_type *type;
	/** @high_first: The highest lane comes first, else the lowest. */
	bool high_first;
};

int simd_view__set(struct simd_view *view, const char *str);
int parse_simd_type(const struct option *opt, const char *str, int unset);

unsigned int simd_reg__nr_lanes(const struct simd_reg *reg, const struct simd_regs *simd,
				const struct simd_lane_type *type);
size_t simd_reg__lane_text(char *buf, size_t size, const struct simd_reg *reg,
			   const struct simd_lane_type *type, unsigned int lane);

#endif /* __PERF_SIMD_REGS_LANES_H */
