/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a worker has to know of x86. To be included by simd_regs_worker.c.
 */
#ifndef SIMD_REGS_WORKER_X86_H
#define SIMD_REGS_WORKER_X86_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "simd_regs_pattern.h"
#include "simd_regs_shadow_stack.h"
#include "simd_regs_worker.h"

/* What simd_regs_exec is to load */
static const char *program_class(const struct simd_worker *w)
{
	return w->cls->parts & SIMD_MARK_YMM ? "ymm" : "xmm";
}

static const struct simd_call fork_call = { .nr = SYS_fork };

/* Parts that are not loaded are in their initial state. */
static __u16 without_parts(__u16 parts, __u16 missing)
{
	return (parts & ~missing) | SIMD_MARK_REST_ZERO;
}

/* How to load the registers; nothing changes them. */
static void set_live(struct simd_live *live, const struct simd_worker *w,
		     const struct simd_class *cls)
{
	(void)w;
	live->rfbm = cls->xfeatures;
}

/* The interrupted code is to go on without a marker. */
static void clear_marker(mcontext_t *regs)
{
	if (simd_live_ip(regs->gregs[REG_RIP]))
		regs->gregs[REG_R8] = 0;
}

/* No test here samples user mode alone. */
static void keep_marker(mcontext_t *regs)
{
	clear_marker(regs);
}

/* Counts time without a system call. */
static __u64 ticks(void)
{
	return __rdtsc();
}

/* Measured for a tenth of a second: the counter does not say how fast it is. */
static __u64 ticks_per_second(void)
{
	struct timespec from, to;
	__u64 begin, n;

	clock_gettime(CLOCK_MONOTONIC, &from);
	begin = ticks();
	usleep(100000);
	clock_gettime(CLOCK_MONOTONIC, &to);
	n = ticks() - begin;
	return n / (to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9);
}

static __always_inline long enable_shadow_stack(void)
{
	return simd_shadow_stack(ARCH_SHSTK_ENABLE);
}

#endif /* SIMD_REGS_WORKER_X86_H */
