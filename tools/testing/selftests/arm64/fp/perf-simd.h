/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers that stay as they are while perf samples them.
 */
#ifndef PERF_SIMD_H
#define PERF_SIMD_H

/*
 * Load the V registers or, if there are @preds, Z and P, the former in streaming mode
 * if @streaming, and with @ffr also FFR, which is behind P15. Then go @rounds times
 * through a loop, which is all that runs with these registers.
 */
void perf_simd_hold(const void *vectors, const void *preds, int streaming, int ffr,
		    unsigned long rounds);

/* Where that loop begins, and where it has ended */
extern const char perf_simd_loop[], perf_simd_loop_end[];

#endif
