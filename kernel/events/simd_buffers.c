// SPDX-License-Identifier: GPL-2.0
/*
 * The buffers for SIMD registers in samples: one for each possible CPU, for every
 * context level at which an open event can be sampled. simd_regs.c says what is
 * in them.
 *
 * They come with the first event that needs them. After the last one they stay
 * for a second: whoever opens and closes events all the time finds them again,
 * so that not more than one set of them ever waits for RCU.
 */
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "simd_regs.h"

static DEFINE_MUTEX(simd_mutex);		/* for the buffers */
static DEFINE_SPINLOCK(nr_lock);		/* for what counts events; taken last */
static unsigned int nr_level_events[PERF_NR_CONTEXTS];
static unsigned int nr_state_events[BITS_PER_TYPE(u64)];
static u64 asked_state;			/* what any of the events needs */
DEFINE_PER_CPU(struct perf_simd_buf __rcu *, perf_simd_bufs[PERF_NR_CONTEXTS]);
DEFINE_STATIC_KEY_FALSE(perf_simd_used);

static struct perf_simd_buf *alloc_buf(int cpu, enum perf_simd_level level)
{
	struct perf_simd_buf *buf;
	enum perf_simd_side side;
	size_t size;
	int depth;

	/*
	 * Zeroed: no byte of a sample can come from elsewhere. kmalloc() aligns
	 * to the largest power of two that divides the size.
	 */
	size = ALIGN(struct_size_t(struct perf_simd_buf, state, arch_perf_simd_regs_size()),
		     __alignof__(struct perf_simd_buf));
	buf = kzalloc_node(size, GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
	if (!buf)
		return NULL;

	buf->irqs_on = level < PERF_SIMD_HARDIRQ;
	for (depth = 0; depth < PERF_SIMD_MAX_DEPTH; depth++) {
		for (side = 0; side < PERF_SIMD_SIDES; side++)
			buf->regs[depth][side].buf = buf;
	}

	return buf;
}

/* Handlers may be looking until a grace period has passed. */
static struct perf_simd_buf *take_buf(int cpu, enum perf_simd_level level)
{
	return rcu_replace_pointer(per_cpu(perf_simd_bufs[level], cpu), NULL,
				   lockdep_is_held(&simd_mutex));
}

static int alloc_level(enum perf_simd_level level)
{
	struct perf_simd_buf *buf;
	int cpu;

	/* Buffers of a failed attempt, or that the worker has yet to free, are used again. */
	for_each_possible_cpu(cpu) {
		if (rcu_access_pointer(per_cpu(perf_simd_bufs[level], cpu)))
			continue;
		buf = alloc_buf(cpu, level);
		if (!buf)
			return -ENOMEM;
		rcu_assign_pointer(per_cpu(perf_simd_bufs[level], cpu), buf);
	}

	return 0;
}

/* The other levels stay unused for as long as simd_mutex is held. */
static unsigned int find_used_levels(void)
{
	unsigned int used_levels = 0;
	int level;

	guard(spinlock)(&nr_lock);

	for (level = 0; level < PERF_NR_CONTEXTS; level++) {
		if (nr_level_events[level])
			used_levels |= BIT(level);
	}

	return used_levels;
}

#define UNUSED_DELAY	HZ

static void free_unused_bufs(struct work_struct *work)
{
	struct perf_simd_buf *buf, *next, *unused = NULL;
	unsigned int used_levels;
	int level, cpu;

	/* A sample that one of the events has prepared is written by then. */
	synchronize_rcu();

	mutex_lock(&simd_mutex);
	used_levels = find_used_levels();
	/*
	 * Closed meanwhile, an event can have a sample under way: leave it to the next
	 * run. Read first, the levels do not miss an event that is closed after this.
	 */
	if (delayed_work_pending(to_delayed_work(work))) {
		mutex_unlock(&simd_mutex);
		return;
	}

	/* First: what has been begun in a buffer that stays has to be ended. */
	if (!used_levels)
		static_branch_disable(&perf_simd_used);

	for (level = 0; level < PERF_NR_CONTEXTS; level++) {
		if (used_levels & BIT(level))
			continue;
		for_each_possible_cpu(cpu) {
			buf = take_buf(cpu, level);
			if (!buf)
				continue;
			buf->next_unused = unused;
			unused = buf;
		}
	}
	mutex_unlock(&simd_mutex);

	synchronize_rcu();
	for (buf = unused; buf; buf = next) {
		next = buf->next_unused;
		kfree(buf);
	}
}

static DECLARE_DELAYED_WORK(unused_work, free_unused_bufs);

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

	WRITE_ONCE(asked_state, asked);
}

/**
 * perf_simd_asked_state - the components that any open event asks for
 *
 * Context: any. A sample that finds an old value adds what it misses itself.
 */
u64 perf_simd_asked_state(void)
{
	return READ_ONCE(asked_state);
}

/* Without simd_mutex: munmap() can close the last of an event. */
static void put_levels(const struct perf_simd_event *simd, unsigned int levels)
{
	bool unused = false;
	int level;

	guard(spinlock)(&nr_lock);

	count_state(perf_simd_event_state(simd), -1);
	for (level = 0; level < PERF_NR_CONTEXTS; level++) {
		if (levels & BIT(level))
			unused |= !--nr_level_events[level];
	}

	if (unused)
		mod_delayed_work(system_dfl_wq, &unused_work, UNUSED_DELAY);
}

static int get_level(enum perf_simd_level level)
{
	bool first;

	scoped_guard(spinlock, &nr_lock)
		first = !nr_level_events[level]++;

	return first ? alloc_level(level) : 0;
}

/**
 * perf_simd_get_bufs - have buffers for the samples of an event
 * @simd: what it samples, at which levels
 *
 * Context: task, may sleep. Undone by perf_simd_put_bufs().
 * Return: 0 or -ENOMEM.
 */
int perf_simd_get_bufs(const struct perf_simd_event *simd)
{
	unsigned int levels = 0;
	int level, err;

	guard(mutex)(&simd_mutex);

	scoped_guard(spinlock, &nr_lock)
		count_state(perf_simd_event_state(simd), 1);
	for (level = 0; level < PERF_NR_CONTEXTS; level++) {
		if (!(simd->levels & BIT(level)))
			continue;
		levels |= BIT(level);
		err = get_level(level);
		if (err) {
			put_levels(simd, levels);
			return err;
		}
	}
	if (!static_key_enabled(&perf_simd_used))
		static_branch_enable(&perf_simd_used);

	return 0;
}

/**
 * perf_simd_put_bufs - release what perf_simd_get_bufs() took
 * @simd: the same
 *
 * Context: task, also with mmap_lock.
 */
void perf_simd_put_bufs(const struct perf_simd_event *simd)
{
	put_levels(simd, simd->levels);
}
