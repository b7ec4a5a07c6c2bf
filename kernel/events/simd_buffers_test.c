// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of when the buffers for SIMD registers go: some time after the last
 * event, and not before what an event has begun in a sample is written.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "simd_regs.h"

#define TRIES		10

/* Most of the second that buffers stay, and how long they may take to go, in ms */
#define STAY		900
#define MOST		10000

static bool are_there(enum perf_simd_level level)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (rcu_access_pointer(per_cpu(perf_simd_bufs[level], cpu)))
			return true;
	}
	return static_key_enabled(&perf_simd_used);
}

static bool are_gone_soon(enum perf_simd_level level)
{
	int ms;

	for (ms = 0; ms < MOST && are_there(level); ms += 100)
		msleep(100);
	return !are_there(level);
}

static int hold_rcu_read_lock(void *unused)
{
	rcu_read_lock();
	while (!kthread_should_stop())
		cpu_relax();
	rcu_read_unlock();

	return 0;
}

static void get_and_put(struct kunit *test, struct perf_simd_event *simd)
{
	KUNIT_ASSERT_EQ(test, perf_simd_get_bufs(simd), 0);
	perf_simd_put_bufs(simd);
}

/*
 * Who frees the buffers of an event waits for the samples that were begun before. An
 * event that comes and goes during that may have a later one.
 */
static void stay_for_an_event_meanwhile(struct kunit *test)
{
	struct perf_simd_event *simd;
	struct task_struct *reader;
	unsigned long put = 0;
	bool there = false;
	int i;

	if (!IS_ENABLED(CONFIG_PREEMPT_RCU))
		kunit_skip(test, "needs a reader of RCU that can be preempted");
	if (!are_gone_soon(PERF_SIMD_TASK))
		kunit_skip(test, "there are events with SIMD registers");
	simd = kunit_kzalloc(test, sizeof(*simd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, simd);
	simd->levels = BIT(PERF_SIMD_TASK);

	/* On a slow machine the second of the later event may be over too early. */
	for (i = 0; i < TRIES; i++) {
		get_and_put(test, simd);
		msleep(STAY);
		reader = kthread_run(hold_rcu_read_lock, NULL, "perf_simd_reader");
		KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
		msleep(2 * (MSEC_PER_SEC - STAY));
		put = jiffies;
		get_and_put(test, simd);
		kthread_stop(reader);
		msleep(STAY / 4);
		there = are_there(PERF_SIMD_TASK);
		if (time_before(jiffies, put + msecs_to_jiffies(STAY)))
			break;
	}
	KUNIT_ASSERT_LT(test, i, TRIES);
	KUNIT_EXPECT_TRUE(test, there);
	KUNIT_EXPECT_TRUE(test, are_gone_soon(PERF_SIMD_TASK));
}

static struct kunit_case simd_buffers_cases[] = {
	KUNIT_CASE_SLOW(stay_for_an_event_meanwhile),
	{}
};

static struct kunit_suite simd_buffers_suite = {
	.name = "perf_simd_buffers",
	.test_cases = simd_buffers_cases,
};

kunit_test_suite(simd_buffers_suite);
