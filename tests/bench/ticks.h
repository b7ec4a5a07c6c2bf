/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a counter of time advances by for an instruction, in a guest with -icount.
 * Included behind now(), which reads the counter.
 */
#ifndef BENCH_TICKS_H
#define BENCH_TICKS_H

#include <stdint.h>

/* Two instructions, @n times */
static inline void spin(unsigned long n)
{
#if defined(__x86_64__)
	asm volatile("1: dec %0; jnz 1b" : "+r" (n) : : "cc");
#elif defined(__aarch64__)
	asm volatile("1: subs %0, %0, #1; b.ne 1b" : "+r" (n) : : "cc");
#endif
}

/* By how much the counter advances for an instruction */
static double ticks_per_instruction(void)
{
	const unsigned long n = 100000;
	uint64_t begin, least = ~0ULL, t;
	int i;

	for (i = 0; i < 10; i++) {
		begin = now();
		spin(n);
		t = now() - begin;
		if (t < least)
			least = t;
	}

	/* The readings' own instructions are lost in the rounding. */
	return least / (2 * n);
}

#endif
