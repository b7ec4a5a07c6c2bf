// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples, the x86 part: finds a source that can be trusted
 * and describes where in it the registers are.
 *
 * Where current's user state is. All of it is read by an NMI or interrupt on
 * the CPU that runs current, and written in an order to suit that:
 *
 *	fpu->__task_fpstate set	  there: the registers and fpu->fpstate are a
 *				  KVM guest's
 *	TIF_NEED_FPU_LOAD clear	  in the registers
 *	fpu->in_flux set	  nowhere: fpu->fpstate is being rewritten
 *	else			  in fpu->fpstate
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
 * Both formats of XSAVE are understood. A component that XSTATE_BV does not
 * have is in its initial state, all zeros, which is as good as any other.
 */
#include <linux/bitops.h>
#include <linux/cpufeature.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/fpu/xstate.h>

#include "simd_regs.h"

static bool has_user_state(void)
{
	return !(current->flags & (PF_KTHREAD | PF_USER_WORKER));
}

/* Do the registers hold current's user state? */
static bool regs_are_currents(void)
{
	return has_user_state() && !test_thread_flag(TIF_NEED_FPU_LOAD) &&
	       !READ_ONCE(x86_task_fpu(current)->__task_fpstate);
}

/* Does the kernel use the registers, and is the rest in them current's? */
static bool regs_are_kernels(void)
{
	struct fpu *fpu;

	if (this_cpu_read(kernel_fpu_allowed) || !has_user_state())
		return false;

	fpu = x86_task_fpu(current);

	return this_cpu_read(fpu_fpregs_last_owner) == fpu &&
	       fpu->last_cpu == smp_processor_id() &&
	       !READ_ONCE(fpu->__task_fpstate);
}

static const struct xregs_state *live_regs(struct perf_simd_buf *buf, u64 state)
{
	struct xregs_state *xsave = (void *)buf->state;

	if (state & ~buf->saved) {
		buf->saved = state | buf->asked;
		xsave_regs(xsave, buf->saved);
	}

	return xsave;
}

static const struct xregs_state *user_regs(struct perf_simd_buf *buf, u64 state)
{
	struct fpstate *task_fpstate;
	struct fpu *fpu;

	if (!has_user_state())
		return NULL;

	fpu = x86_task_fpu(current);
	task_fpstate = READ_ONCE(fpu->__task_fpstate);
	if (task_fpstate)
		return &task_fpstate->regs.xsave;

	if (!test_thread_flag(TIF_NEED_FPU_LOAD))
		return live_regs(buf, state);

	if (READ_ONCE(fpu->in_flux))
		return NULL;

	return &fpu->fpstate->regs.xsave;
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

/*
 * A record of user mode has current's registers. All of a side comes from one
 * place, so that no register is put together from two moments.
 */
static struct simd_source user_hit(struct perf_event *event, enum perf_simd_side side,
				   struct perf_simd_buf *buf, u64 state)
{
	const struct perf_simd_record *record = buf->record;

	if (has_state(record, state))
		return IN_RECORD(record);

	if (event->attr.precise_ip && (side == PERF_SIMD_INTR || !record || !record->fresh))
		return NOWHERE;

	return IN_XSAVE(user_regs(buf, state));
}

static struct simd_source kernel_hit_user(struct perf_event *event,
					  struct perf_simd_buf *buf, u64 state)
{
	/* By now the registers can be newer than the sample, or a later task's. */
	if (event->attr.precise_ip && (!buf->record || !buf->record->fresh))
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
	const struct perf_simd_record *record = buf->record;
	const struct xregs_state *xsave;

	/* A guest was hit: what is here belongs to the way out of it. */
	if (perf_guest_state())
		return NOWHERE;

	if (event->attr.precise_ip && !has_state(record, state))
		return NOWHERE;

	if (regs_are_currents()) {
		xsave = live_regs(buf, state);
		if (!event->attr.precise_ip)
			return IN_XSAVE(xsave);

		return same_regs(record, xsave, state) ? IN_RECORD(record) : NOWHERE;
	}

	if (event->simd->kernel && regs_are_kernels()) {
		if (!event->attr.precise_ip)
			return IN_XSAVE(live_regs(buf, state));

		/* Loading current's registers and coming here takes longer. */
		return record->fresh ? IN_RECORD(record) : NOWHERE;
	}

	return NOWHERE;
}

/**
 * arch_perf_simd_regs_capture - find the registers of one side of a sample
 * @event: the event, which samples SIMD registers on either side
 * @side: which side
 * @pt_regs: registers of the interrupted context; only its mode is looked at
 * @buf: where to save live registers, and to describe what there is
 *
 * Context: any, NMI included, with preemption disabled.
 * Return: false if there is nothing that can be trusted, or nothing to show.
 */
bool arch_perf_simd_regs_capture(struct perf_event *event,
				 enum perf_simd_side side,
				 struct pt_regs *pt_regs,
				 struct perf_simd_buf *buf)
{
	const void **source = buf->regs[side].source;
	bool user = side == PERF_SIMD_USER;
	bool kernel = !user && !user_mode(pt_regs);
	u64 state = event->simd->state[side];
	struct simd_source src = NOWHERE;

	if (!state)
		return false;

	/* The kernel runs without the user's shadow stack: there SSP is 0. */
	if (kernel) {
		source[XFEATURE_CET_USER] = NULL;
		state &= ~XFEATURE_MASK_CET_USER;
		if (!state)
			return true;
	}

	if (user_mode(pt_regs))
		src = user_hit(event, side, buf, state);
	else
		src = user ? kernel_hit_user(event, buf, state) :
			     kernel_hit_intr(event, buf, state);
	if (!src.xsave && !src.record)
		return false;

	if (src.xsave) {
		xstate_locate(src.xsave, state, source);
	} else {
		for (; state; state &= state - 1)
			source[__ffs64(state)] = src.record->component[__ffs64(state)];
	}

	return true;
}
