/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a worker has to know of arm64. To be included by simd_regs_worker.c.
 */
#ifndef SIMD_REGS_WORKER_ARM64_H
#define SIMD_REGS_WORKER_ARM64_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "simd_regs_image_arm64.h"
#include "simd_regs_worker.h"

/* What simd_regs_exec is to load */
static const char *program_class(const struct simd_worker *w)
{
	return w->cls->load == SIMD_LOAD_V ? "v" : w->cls->name;
}

static const struct simd_call fork_call = { .nr = SYS_clone, .arg = { SIGCHLD } };

/* There are no parts with an initial state of their own. */
static __u16 without_parts(__u16 parts, __u16 missing)
{
	(void)missing;
	return parts;
}

/*
 * How to load the registers. System calls keep the V registers, and nothing else
 * of SVE; from streaming mode they return without anything. A test's own calls
 * may change them all.
 */
static void set_live(struct simd_live *live, const struct simd_worker *w,
		     const struct simd_class *cls)
{
	bool calls = w->what & ~SIMD_DO_TRAP || w->more_calls;

	live->rfbm = cls->parts & SIMD_MARK_FFR ? 1 << SIMD_LIVE_FFR_BIT : 0;
	live->call_marker = calls ? simd_call_marker(cls->load, live->marker) : live->marker;
	if (w->more_calls || (calls && cls->load != SIMD_LOAD_V))
		live->rfbm |= 1 << SIMD_LIVE_RELOAD_BIT;
}

static bool has_marker(const mcontext_t *regs)
{
	return simd_live_ip(regs->pc) && regs->regs[28];
}

/* The interrupted code is to go on without a marker. */
static void clear_marker(mcontext_t *regs)
{
	if (has_marker(regs))
		regs->regs[28] = 0;
}

/* ... with it, and saying that its registers have been restored. */
static void keep_marker(mcontext_t *regs)
{
	if (has_marker(regs))
		regs->regs[28] |= SIMD_MARK_RESUMED;
}

/* Counts time without a system call. */
static __u64 ticks(void)
{
	__u64 now;

	asm volatile("mrs %0, cntvct_el0" : "=r" (now));
	return now;
}

static __u64 ticks_per_second(void)
{
	__u64 rate;

	asm("mrs %0, cntfrq_el0" : "=r" (rate));
	return rate;
}

/* There are, but not in the registers that are sampled here. */
static inline long enable_shadow_stack(void)
{
	return -1;
}

#endif /* SIMD_REGS_WORKER_ARM64_H */
