// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples, the x86 part: finds a source that can be trusted
 * and describes where in it the registers are.
 *
 * Where current's user state is, the FPU code tells: asm/fpu/user_state.h.
 *
 * What each side of a sample shows:
 *
 *	user			  current's user state, if it has one
 *	intr, hit in user mode	  the same
 *	intr, hit in the kernel	  the registers, if they hold current's user
 *				  state; or if the kernel uses the FPU, the
 *				  event may see that, and what the kernel has
 *				  not overwritten is current's. After a context
 *				  switch they can still be the previous task's:
 *				  then nothing.
 *
 * A precise event brings a record of the interrupted context. Of a hit in user
 * mode it has current's user state. For a hit in the kernel the same holds as
 * above, and the record is shown in place of the registers; the user side is as
 * above, unless the record is too old for that.
 *
 * A sample that is taken while another one is written has nothing saved for it:
 * it shows a record, the state in memory, what a PMI saved for all of its samples,
 * or nothing.
 *
 * Both formats of XSAVE are understood. A component that XSTATE_BV does not
 * have is in its initial state, all zeros, which is as good as any other.
 */
#include <linux/bitops.h>
#include <linux/cpufeature.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/fpu/types.h>
#include <asm/fpu/user_state.h>
#include <asm/fpu/xstate.h>

#include "simd_regs.h"

/* Do the registers hold current's user state? */
static bool regs_are_currents(void)
{
	const struct fpstate *fpstate;

	return fpu_find_user_state(&fpstate) == FPU_USER_IN_REGS;
}

/* A sample of an NMI in between must not take what an earlier one has left. */
static noinline const struct xregs_state *save_regs(struct perf_simd_buf *buf, u64 state)
{
	struct xregs_state *xsave = (void *)buf->state;

	buf->saved = 0;
	barrier();
	xsave_regs(xsave, state);
	barrier();
	buf->saved = state;

	return xsave;
}

static const struct xregs_state *live_regs(struct perf_simd_buf *buf, u64 state)
{
	if (perf_simd_has_saved(buf, state))
		return (void *)buf->state;
	if (!perf_simd_may_save(buf))
		return NULL;

	return save_regs(buf, state | buf->asked);
}

static const struct xregs_state *user_regs(struct perf_simd_buf *buf, u64 state)
{
	const struct fpstate *fpstate;

	switch (fpu_find_user_state(&fpstate)) {
	case FPU_USER_IN_REGS:
		return live_regs(buf, state);
	case FPU_USER_IN_MEMORY:
		return &fpstate->regs.xsave;
	default:
		return NULL;
	}
}

/* A place that has all of what a side asks for, or none if both are NULL. */
struct simd_source {
	const struct xregs_state	*xsave;
	const struct perf_simd_record	*record;
};

#define NOWHERE			((struct simd_source) {})
#define IN_XSAVE(_xsave)	((struct simd_source) { .xsave = (_xsave) })
#define IN_RECORD(_record)	((struct simd_source) { .record = (_record) })

static bool has_state(const struct perf_simd_record *record, u64 state)
{
	return record && !(state & ~record->state);
}

/* What a task can have in a component that a PMU may record. */
static const u16 component_bytes[] = {
	[XFEATURE_SSE]		= SIMD_NR_XMM * 16,
	[XFEATURE_YMM]		= SIMD_NR_XMM * 16,
	[XFEATURE_OPMASK]	= 8 * 8,
	[XFEATURE_ZMM_Hi256]	= 16 * 32,
	[XFEATURE_Hi16_ZMM]	= 16 * 64,
	[XFEATURE_APX]		= 16 * 8,
};

/* Are these still the values that @record has? */
static bool same_regs(const struct perf_simd_record *record,
		      const struct xregs_state *xsave, u64 state)
{
	const void *now[XFEATURE_MAX];
	const void *recorded;
	size_t bytes;
	int i;

	xstate_locate(xsave, state, now);

	for (i = 0; i < ARRAY_SIZE(component_bytes); i++) {
		if (!(state & BIT_ULL(i)))
			continue;

		bytes = component_bytes[i];
		recorded = record->component[i];
		if (now[i] ? memcmp(recorded, now[i], bytes) :
			     !!memchr_inv(recorded, 0, bytes))
			return false;
	}

	return true;
}

/* The record of the sample in progress: an event that is not precise has none. */
static const struct perf_simd_record *record_of(struct perf_event *event,
						const struct perf_simd_buf *buf)
{
	return event->simd->precise ? buf->record : NULL;
}

/*
 * A record of user mode has current's registers. All of a side comes from one
 * place, so that no register is put together from two moments.
 */
static struct simd_source user_hit(struct perf_event *event, enum perf_simd_side side,
				   struct perf_simd_buf *buf, u64 state)
{
	const struct perf_simd_record *record = record_of(event, buf);

	if (has_state(record, state))
		return IN_RECORD(record);

	if (event->simd->precise && (side == PERF_SIMD_INTR || !record || !record->fresh))
		return NOWHERE;

	return IN_XSAVE(user_regs(buf, state));
}

static struct simd_source kernel_hit_user(struct perf_event *event,
					  struct perf_simd_buf *buf, u64 state)
{
	const struct perf_simd_record *record = record_of(event, buf);

	/* By now the registers can be newer than the sample, or a later task's. */
	if (event->simd->precise && (!record || !record->fresh))
		return NOWHERE;

	return IN_XSAVE(user_regs(buf, state));
}

/*
 * What is known of the registers is known for now. A record is a bit older: when
 * it was written they could have been the previous task's. So if they should be
 * current's, they have to be unchanged.
 */
static struct simd_source kernel_hit_intr(struct perf_event *event,
					  struct perf_simd_buf *buf, u64 state)
{
	const struct perf_simd_record *record = record_of(event, buf);
	const struct xregs_state *xsave;

	if (event->simd->precise && !has_state(record, state))
		return NOWHERE;

	if (regs_are_currents()) {
		xsave = live_regs(buf, state);
		if (!xsave || !event->simd->precise)
			return IN_XSAVE(xsave);

		return same_regs(record, xsave, state) ? IN_RECORD(record) : NOWHERE;
	}

	if (event->simd->kernel && fpu_kernel_left_user_regs()) {
		if (!event->simd->precise)
			return IN_XSAVE(live_regs(buf, state));

		/* A fresh record is younger than the last load of current's registers. */
		return record->fresh ? IN_RECORD(record) : NOWHERE;
	}

	return NOWHERE;
}

/*
 * A guest was hit: what is here belongs to the way out of it, or to another guest.
 * KVM's @pt_regs are those of its task in the kernel. Xen's are the guest's.
 */
static bool is_guests(enum perf_simd_side side, struct pt_regs *pt_regs)
{
	bool xen = cpu_feature_enabled(X86_FEATURE_XENPV) && user_mode(pt_regs);

	return (side == PERF_SIMD_INTR || xen) && perf_guest_state();
}

/**
 * arch_perf_simd_regs_capture - find the registers of one side of a sample
 * @event: the event, which has SIMD registers, be it on the other side
 * @side: which side
 * @pt_regs: registers of the interrupted context; only its mode is looked at
 * @simd: gets where the registers are; its buffer is where live ones are saved
 *
 * Context: any, NMI included, with interrupts disabled.
 * Return: the components of @event that can be trusted.
 */
u64 arch_perf_simd_regs_capture(struct perf_event *event,
				enum perf_simd_side side,
				struct pt_regs *pt_regs,
				struct perf_simd_regs *simd)
{
	bool user = side == PERF_SIMD_USER;
	u64 state = event->simd->state[side];
	const void **source = simd->source;
	struct simd_source src = NOWHERE;
	u64 known = 0;

	/* The kernel runs without the user's shadow stack: there SSP is 0. */
	if (!user && !user_mode(pt_regs)) {
		source[XFEATURE_CET_USER] = NULL;
		known = state & XFEATURE_MASK_CET_USER;
		state &= ~XFEATURE_MASK_CET_USER;
	}

	if (!state || is_guests(side, pt_regs))
		return known;

	if (user_mode(pt_regs))
		src = user_hit(event, side, simd->buf, state);
	else
		src = user ? kernel_hit_user(event, simd->buf, state) :
			     kernel_hit_intr(event, simd->buf, state);
	if (!src.xsave && !src.record)
		return known;

	known |= state;
	if (src.xsave) {
		xstate_locate(src.xsave, state, source);
	} else {
		for (; state; state &= state - 1)
			source[__ffs64(state)] = src.record->component[__ffs64(state)];
	}

	return known;
}
