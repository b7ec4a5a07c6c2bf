// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples: which events have them, and where the registers
 * are kept between the interrupt and the end of the sample.
 *
 * A sample is prepared, its size then being known, and written afterwards. In
 * between the registers have to be somewhere. They are too large for the stack
 * of an overflow handler, so each CPU has a struct perf_simd_buf for every
 * context level: a sample taken in an NMI must not touch what an interrupt,
 * which the NMI hit, is about to write. Samples of one level don't nest.
 *
 *	task    softirq    hardirq    NMI
 *	 |         |          |        |
 *	buf       buf        buf      buf	of a CPU, while any event needs it
 *
 * A sample goes through three steps:
 *
 *  perf_simd_regs_begin_sample()	forgets what an earlier sample saved
 *  perf_simd_regs_prepare()		for each side that the event samples; has
 *					the architecture find a trustworthy source,
 *					save the live registers if that is one, and
 *					describe where the wanted ones are
 *  perf_simd_regs_output()		gathers them, simd_output.c
 *
 * A PMU whose handler knows that all of its samples are of the same interrupt
 * puts perf_simd_regs_begin_overflow() and perf_simd_regs_end_overflow() around
 * them. In between nothing is forgotten, so the registers are saved once. One
 * whose hardware records registers names the record, and nothing is copied.
 */
#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "internal.h"

/* Zeroed when allocated: no byte of it can come from elsewhere. */
struct perf_simd_bufs {
	struct rcu_head		rcu_head;
	size_t			stride;
	u8			*cpu[];		/* PERF_NR_CONTEXTS buffers each */
};

static DEFINE_MUTEX(simd_mutex);
static unsigned int nr_simd_events;
static unsigned int nr_state_events[BITS_PER_TYPE(u64)];
static u64 asked_state;			/* what any of the events needs */
struct perf_simd_bufs __rcu *perf_simd_bufs;

static void free_bufs(struct perf_simd_bufs *bufs)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfree(bufs->cpu[cpu]);
	kfree(bufs);
}

static void free_bufs_rcu(struct rcu_head *head)
{
	free_bufs(container_of(head, struct perf_simd_bufs, rcu_head));
}

static struct perf_simd_bufs *alloc_bufs(void)
{
	struct perf_simd_bufs *bufs;
	int cpu;

	bufs = kzalloc_flex(*bufs, cpu, nr_cpu_ids);
	if (!bufs)
		return NULL;

	/* kmalloc() aligns to the largest power of two that divides the size. */
	bufs->stride = ALIGN(struct_size_t(struct perf_simd_buf, state,
					   arch_perf_simd_regs_size()),
			     __alignof__(struct perf_simd_buf));

	for_each_possible_cpu(cpu) {
		bufs->cpu[cpu] = kzalloc_node(bufs->stride * PERF_NR_CONTEXTS,
					      GFP_KERNEL, cpu_to_node(cpu));
		if (!bufs->cpu[cpu]) {
			free_bufs(bufs);
			return NULL;
		}
	}

	return bufs;
}

/*
 * The buffer of this CPU and context level, NULL if there are none. Where an
 * event with SIMD registers is active there are: it holds a reference.
 */
static struct perf_simd_buf *this_buf(void)
{
	struct perf_simd_bufs *bufs = rcu_dereference_sched(perf_simd_bufs);

	if (!bufs)
		return NULL;

	return (void *)bufs->cpu[smp_processor_id()] +
	       bufs->stride * interrupt_context_level();
}

static void count_state(u64 state, int n)
{
	u64 asked = 0;
	int i;

	for (i = 0; i < BITS_PER_TYPE(u64); i++) {
		if (state & BIT_ULL(i))
			nr_state_events[i] += n;
		if (nr_state_events[i])
			asked |= BIT_ULL(i);
	}

	/* A sample that finds the old value adds what it misses itself. */
	WRITE_ONCE(asked_state, asked);
}

static u64 event_state(const struct perf_simd_event *simd)
{
	return simd->state[PERF_SIMD_USER] | simd->state[PERF_SIMD_INTR];
}

static int get_bufs(const struct perf_simd_event *simd)
{
	struct perf_simd_bufs *bufs;

	guard(mutex)(&simd_mutex);

	if (!nr_simd_events) {
		bufs = alloc_bufs();
		if (!bufs)
			return -ENOMEM;
		rcu_assign_pointer(perf_simd_bufs, bufs);
	}

	nr_simd_events++;
	count_state(event_state(simd), 1);

	return 0;
}

static void put_bufs(const struct perf_simd_event *simd)
{
	struct perf_simd_bufs *bufs;

	guard(mutex)(&simd_mutex);

	count_state(event_state(simd), -1);
	if (--nr_simd_events)
		return;

	/* Handlers of other events may be looking. */
	bufs = rcu_replace_pointer(perf_simd_bufs, NULL, lockdep_is_held(&simd_mutex));
	call_rcu(&bufs->rcu_head, free_bufs_rcu);
}

/**
 * perf_event_wants_simd_regs - does an event sample registers by this file?
 * @event: the event, its attribute valid
 *
 * It does so if its attribute says so, or if it asks for registers in an older
 * way that its PMU does not serve by itself.
 */
bool perf_event_wants_simd_regs(const struct perf_event *event)
{
	return arch_perf_wants_simd_regs(&event->attr);
}

/**
 * perf_simd_regs_init_event - make an event ready to sample SIMD registers
 * @event: the event, its attribute valid and its PMU known
 *
 * What the event may see goes by who opens it; its children inherit that.
 *
 * Context: task, may sleep. Undone by perf_simd_regs_free_event().
 * Return: 0, also if the event needs nothing, or -ENOMEM.
 */
int perf_simd_regs_init_event(struct perf_event *event)
{
	struct perf_simd_event *simd;
	int err;

	if (!perf_event_wants_simd_regs(event))
		return 0;

	simd = kzalloc_obj(*simd);
	if (!simd)
		return -ENOMEM;

	arch_perf_simd_regs_init_event(&event->attr, simd);
	simd->kernel = event->parent ? event->parent->simd->kernel :
				       perfmon_capable();

	err = get_bufs(simd);
	if (err) {
		kfree(simd);
		return err;
	}

	event->simd = simd;

	return 0;
}

/**
 * perf_simd_regs_free_event - release what perf_simd_regs_init_event() took
 * @event: an event that has no sample in progress and won't get another
 *
 * Context: task, may sleep.
 */
void perf_simd_regs_free_event(struct perf_event *event)
{
	struct perf_simd_event *simd = event->simd;

	if (!simd)
		return;

	event->simd = NULL;
	put_bufs(simd);
	kfree(simd);
}

void __perf_simd_regs_begin_overflow(void)
{
	struct perf_simd_buf *buf = this_buf();

	if (!buf)
		return;

	buf->saved = 0;
	buf->asked = READ_ONCE(asked_state);
	buf->shared = true;
}

/* The buffers can be new since the beginning. */
void __perf_simd_regs_end_overflow(void)
{
	struct perf_simd_buf *buf = this_buf();

	if (buf)
		buf->shared = false;
}

/**
 * perf_simd_regs_set_record - hand over the registers that a PMU recorded
 * @record: where they are, valid until this is called again; NULL for no more
 *
 * For a PMU whose hardware records the registers of the interrupted context:
 * before each sample of an event that has SIMD registers, and with NULL after
 * it, so that no later sample can see the record.
 *
 * Context: that of the sample.
 */
void perf_simd_regs_set_record(const struct perf_simd_record *record)
{
	struct perf_simd_buf *buf = this_buf();

	if (!WARN_ON_ONCE(!buf))
		buf->record = record;
}

/**
 * perf_simd_regs_begin_sample - forget what was saved for an earlier sample
 *
 * For each sample of an event that has SIMD registers, before
 * perf_simd_regs_prepare().
 *
 * Context: any, with preemption disabled.
 */
void perf_simd_regs_begin_sample(void)
{
	struct perf_simd_buf *buf = this_buf();

	if (WARN_ON_ONCE(!buf) || buf->shared)
		return;

	buf->saved = 0;
	buf->asked = 0;
}

/**
 * perf_simd_regs_prepare - find the SIMD registers of one side of a sample
 * @event: the event, which has SIMD registers
 * @regs: the side's block, with its ABI; gets what there is to show, or has its
 *	ABI set to PERF_SAMPLE_REGS_ABI_NONE where the event's sample_regs_*
 *	name a register that cannot be trusted now: their words have fixed places
 * @side: which side
 * @pt_regs: registers of the interrupted context
 *
 * Context: any, with preemption disabled until the sample is written.
 * Return: the size in bytes of what follows the words of sample_regs_*.
 */
int perf_simd_regs_prepare(struct perf_event *event, struct perf_regs *regs,
			   enum perf_simd_side side, struct pt_regs *pt_regs)
{
	const struct perf_simd_layout *layout = &event->simd->layout[side];
	struct perf_simd_buf *buf = this_buf();
	struct perf_simd_regs *simd;

	if (WARN_ON_ONCE(!buf)) {
		regs->abi = PERF_SAMPLE_REGS_ABI_NONE;
		return 0;
	}

	simd = &buf->regs[side];
	simd->layout = layout;
	regs->simd = simd;

	/* Of both sides: a second save would move what the first side shows. */
	buf->asked |= event_state(event->simd);

	if (!arch_perf_simd_regs_capture(event, side, pt_regs, buf)) {
		simd->layout = NULL;
		if (layout->ext_bytes)
			regs->abi = PERF_SAMPLE_REGS_ABI_NONE;
		return 0;
	}

	layout = simd->layout;
	simd->source[PERF_SIMD_HEAD] = layout->head;
	if (layout->bytes > layout->ext_bytes)
		regs->abi |= PERF_SAMPLE_REGS_ABI_SIMD;

	return layout->bytes - layout->ext_bytes;
}
