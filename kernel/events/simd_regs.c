// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples: which events have them, and where the registers
 * are kept between the interrupt and the end of the sample.
 *
 * A sample is prepared, its size then being known, and written afterwards. In
 * between the registers have to be somewhere. They are too large for the stack
 * of an overflow handler, so each CPU has a struct perf_simd_buf for every
 * context level: a sample taken in an NMI must not touch what an interrupt,
 * which the NMI hit, is about to write.
 *
 *	task    softirq    hardirq    NMI
 *	 |         |          |        |
 *	buf       buf        buf      buf	of a CPU, while an event that can be
 *						sampled at this level is open
 *
 * Samples of one level nest: writing one can read another event, whose PMU then
 * drains its records; a BPF program can do the same; and an exception, such as a
 * breakpoint's, can hit what writes. So a buffer has two descriptions of a sample,
 * and one place for saved registers, which belongs to the first sample. A sample
 * that interrupts it shows what needs no saving: a record, what memory has, or what
 * has been saved for all samples of a PMI. The next one that interrupts both shows
 * nothing.
 *
 * A sample goes through four steps:
 *
 *  perf_simd_regs_begin_sample()	takes a description, forgets what an earlier
 *					sample saved
 *  perf_simd_regs_prepare()		for each side that the event samples; has
 *					the architecture find a trustworthy source,
 *					save the live registers if that is one, and
 *					describe where the wanted ones are
 *  perf_simd_regs_output()		gathers them, simd_output.c
 *  perf_simd_regs_end_sample()		gives the description back
 *
 * A PMU whose handler knows that all of its samples are of the same interrupt
 * puts perf_simd_regs_begin_overflow() and perf_simd_regs_end_overflow() around
 * them. In between nothing is forgotten, so the registers are saved once. One
 * whose hardware records registers names the record, and nothing is copied.
 */
#include <linux/capability.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "simd_regs.h"

/**
 * perf_event_wants_simd_regs - does an event sample registers by this file?
 * @event: the event, its attribute valid
 *
 * It does so if its attribute says so, or if it asks for registers in an older
 * way that its PMU does not serve by itself.
 */
bool perf_event_wants_simd_regs(struct perf_event *event)
{
	return arch_perf_wants_simd_regs(event);
}

static bool is_uprobe(const struct perf_event *event)
{
#ifdef CONFIG_EVENT_TRACING
	return event->tp_event && event->tp_event->flags & TRACE_EVENT_FL_UPROBE;
#else
	return false;
#endif
}

/* Where the architecture doesn't know better. */
static unsigned int sample_levels(const struct perf_event *event)
{
	/* Of the PMUs without an NMI, the clocks have a type of their own. */
	if (event->pmu && event->pmu->capabilities & PERF_PMU_CAP_NO_NMI &&
	    event->attr.type != PERF_TYPE_SOFTWARE)
		return BIT(PERF_SIMD_HARDIRQ);

	/* The task that hits one runs its handler before it returns to user mode. */
	if (is_uprobe(event))
		return BIT(PERF_SIMD_TASK);

	return GENMASK(PERF_SIMD_NMI, PERF_SIMD_TASK);
}

/* This is no use of the capability that an audit would have to know of. */
static bool may_see_kernel_state(const struct perf_event *event,
				 const struct perf_simd_event *simd)
{
	if (!simd->state[PERF_SIMD_INTR] || event->attr.exclude_kernel)
		return false;

	return ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/**
 * perf_simd_regs_init_event - make an event ready to sample SIMD registers
 * @event: the event, its attribute valid and its PMU known
 *
 * What the event may see goes by who opens it; its children share that.
 *
 * Context: task, may sleep. Undone by perf_simd_regs_free_event().
 * Return: 0, also if the event needs nothing, or -ENOMEM.
 */
int perf_simd_regs_init_event(struct perf_event *event)
{
	struct perf_simd_event *simd;
	int err;

	/* It outlives its children. */
	if (event->parent) {
		event->simd = event->parent->simd;
		return 0;
	}

	if (!perf_event_wants_simd_regs(event))
		return 0;

	simd = kzalloc_obj(*simd);
	if (!simd)
		return -ENOMEM;

	arch_perf_simd_regs_init_event(event, simd);
	perf_simd_regs_set_bounds(&event->attr, simd);
	simd->kernel = may_see_kernel_state(event, simd);
	if (!simd->levels)
		simd->levels = sample_levels(event);

	err = perf_simd_get_bufs(simd);
	if (err) {
		kfree(simd);
		return err;
	}

	event->simd = simd;

	return 0;
}

/**
 * perf_simd_regs_free_event - release what perf_simd_regs_init_event() took
 * @event: an event that won't be sampled any more, its PMU being done with it
 *
 * Context: task, may sleep.
 */
void perf_simd_regs_free_event(struct perf_event *event)
{
	struct perf_simd_event *simd = event->simd;

	if (!simd || event->parent)
		return;

	perf_simd_put_bufs(simd);
	kfree_rcu(simd, rcu_head);
}

/* Inside of a sample the saved registers are that one's. */
void __perf_simd_regs_begin_overflow(void)
{
	struct perf_simd_buf *buf = perf_simd_this_buf();

	if (!buf || buf->depth)
		return;

	buf->saved = 0;
	buf->asked = perf_simd_asked_state();
	/* A sample of an NMI in between must not take what an earlier interrupt has left. */
	barrier();
	buf->shared = true;
}

/* The buffers can be new since the beginning. */
void __perf_simd_regs_end_overflow(void)
{
	struct perf_simd_buf *buf = perf_simd_this_buf();

	if (buf && !buf->depth)
		buf->shared = false;
}

/**
 * perf_simd_regs_set_record - hand over the registers that a PMU recorded
 * @record: where they are, valid until this is called again; NULL for no more
 *
 * For a PMU whose hardware records the registers of the interrupted context:
 * before each sample of an event that has SIMD registers, and with what it
 * returned after it, so that no later sample can see the record.
 *
 * Context: that of the sample.
 * Return: the record of the sample that this one interrupts, or NULL.
 */
const struct perf_simd_record *
perf_simd_regs_set_record(const struct perf_simd_record *record)
{
	const struct perf_simd_record *old;
	struct perf_simd_buf *buf = perf_simd_this_buf();

	if (!buf)
		return NULL;

	old = buf->record;
	buf->record = record;

	return old;
}

/**
 * perf_simd_regs_begin_sample - take a place for the SIMD registers of a sample
 * @data: the sample
 * @event: the event, which has SIMD registers
 *
 * Before perf_simd_regs_prepare(). What was saved for an earlier sample is
 * forgotten.
 *
 * Context: any, with preemption disabled until perf_simd_regs_end_sample().
 */
void perf_simd_regs_begin_sample(struct perf_sample_data *data, struct perf_event *event)
{
	struct perf_simd_buf *buf = perf_simd_this_buf();
	unsigned int depth = buf ? buf->depth : PERF_SIMD_MAX_DEPTH;

	if (unlikely(depth == PERF_SIMD_MAX_DEPTH)) {
		data->regs_user.simd = NULL;
		data->regs_intr.simd = NULL;
		return;
	}

	/* From here on, who interrupts this is nested, and leaves the rest alone. */
	WRITE_ONCE(buf->depth, depth + 1);
	barrier();

	if (!depth && !buf->shared) {
		buf->saved = 0;
		/* Of both sides: a second save would move what the first side shows. */
		buf->asked = perf_simd_event_state(event->simd);
	}

	data->regs_user.simd = &buf->regs[depth][PERF_SIMD_USER];
	data->regs_intr.simd = &buf->regs[depth][PERF_SIMD_INTR];
}

/* The size of a side's block that has been prepared */
static unsigned int block_bytes(const struct perf_event *event, const struct perf_regs *regs,
				enum perf_simd_side side)
{
	if (likely(regs->simd))
		return regs->simd->block_bytes;

	return regs->abi ? event->simd->gpr_bytes[side] : sizeof(regs->abi);
}

/**
 * perf_simd_regs_end_sample - give back what perf_simd_regs_begin_sample() took
 * @data: the sample, whose register blocks have been written, or are not going to be
 * @event: the event
 *
 * The sample has no registers any more. Should @data be used for another one of
 * the same event, they are looked for again.
 *
 * Context: that of perf_simd_regs_begin_sample().
 */
void perf_simd_regs_end_sample(struct perf_sample_data *data, struct perf_event *event)
{
	struct perf_simd_buf *buf;

	if (data->sample_flags & PERF_SAMPLE_REGS_USER)
		data->dyn_size -= block_bytes(event, &data->regs_user, PERF_SIMD_USER);
	if (data->sample_flags & PERF_SAMPLE_REGS_INTR)
		data->dyn_size -= block_bytes(event, &data->regs_intr, PERF_SIMD_INTR);
	data->sample_flags &= ~(u64)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR);

	if (unlikely(!data->regs_user.simd))
		return;

	buf = data->regs_user.simd->buf;
	/* It has one place to give back, not two. */
	data->regs_user.simd = NULL;
	barrier();
	WRITE_ONCE(buf->depth, buf->depth - 1);
}

static __always_inline u64
capture(struct perf_event *event, enum perf_simd_side side, struct pt_regs *pt_regs,
	struct perf_simd_regs *simd)
{
	if (likely(!simd->buf->irqs_on))
		return arch_perf_simd_regs_capture(event, side, pt_regs, simd);

	/* An interrupt could use the registers after they were found to be current's. */
	guard(irqsave)();

	return arch_perf_simd_regs_capture(event, side, pt_regs, simd);
}

/* Let a block end with the words of sample_regs_*, or drop them as well. */
static unsigned int drop_vectors(const struct perf_simd_event *wanted, struct perf_regs *regs,
				 enum perf_simd_side side, u64 found)
{
	unsigned int bytes = wanted->gpr_bytes[side];

	if (!regs->abi || wanted->ext_state[side] & ~found) {
		regs->abi = PERF_SAMPLE_REGS_ABI_NONE;
		bytes = sizeof(regs->abi);
	}

	if (regs->simd) {
		regs->simd->bytes = regs->simd->layout->ext_bytes;
		regs->simd->block_bytes = bytes;
	}

	return bytes;
}

/*
 * What of @found a sample can have that is not like the others: raw data can leave
 * no room for vectors; and a tracepoint of the scheduler is hit for the task that
 * it is about, while current is another one, whose registers are not the event's.
 */
static u64 limit_found(struct perf_sample_data *data, struct perf_event *event,
		       enum perf_simd_side side, u64 found)
{
	const struct perf_simd_event *wanted = event->simd;
	const struct perf_event_context *ctx = event->ctx;

	if (ctx && ctx->task && ctx->task != current)
		return 0;
	if (perf_sample_data_size(data, event) + wanted->max_bytes[side] > U16_MAX)
		return found & wanted->ext_state[side];

	return found;
}

/**
 * perf_simd_regs_prepare - find the SIMD registers of one side of a sample
 * @data: the sample; its block of that side has its ABI, and gets what there is to
 *	show. The ABI becomes PERF_SAMPLE_REGS_ABI_NONE where the event's
 *	sample_regs_* name a register that cannot be trusted now: their words have
 *	fixed places
 * @event: the event, which has SIMD registers
 * @side: which side
 * @pt_regs: registers of the interrupted context
 *
 * Context: any, between perf_simd_regs_begin_sample() and
 * perf_simd_regs_end_sample().
 * Return: the size of the block, in bytes.
 */
unsigned int perf_simd_regs_prepare(struct perf_sample_data *data, struct perf_event *event,
				    enum perf_simd_side side, struct pt_regs *pt_regs)
{
	struct perf_regs *regs = side == PERF_SIMD_USER ? &data->regs_user : &data->regs_intr;
	const struct perf_simd_event *wanted = event->simd;
	struct perf_simd_regs *simd = regs->simd;
	const struct perf_simd_layout *layout;
	u64 found = 0;

	if (likely(simd)) {
		simd->layout = &wanted->layout[side];
		if (likely(regs->abi))
			found = capture(event, side, pt_regs, simd);
	}

	if (unlikely(wanted->check_sample))
		found = limit_found(data, event, side, found);

	/* The vectors alone can be missing. */
	if (unlikely(found != wanted->state[side] || !found))
		return drop_vectors(wanted, regs, side, found);

	layout = simd->layout;
	simd->bytes = layout->bytes;
	simd->block_bytes = wanted->gpr_bytes[side] + layout->bytes - layout->ext_bytes;
	simd->source[PERF_SIMD_HEAD] = layout->head;
	if (layout->bytes > layout->ext_bytes)
		regs->abi |= PERF_SAMPLE_REGS_ABI_SIMD;

	return simd->block_bytes;
}
