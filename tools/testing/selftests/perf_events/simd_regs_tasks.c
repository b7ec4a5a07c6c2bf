// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests around the life of a task and of an event: fork, exec, signals,
 * migration, CPU hotplug, events that come and go, events that overflow
 * together, and tasks that have no user state at all.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"

FIXTURE(tasks)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(tasks)
{
	enum simd_scope scope;
	bool privileged;
};

FIXTURE_VARIANT_ADD(tasks, cpu)
{
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(tasks, cpu_privileged)
{
	.scope = SIMD_EACH_CPU,
	.privileged = true,
};

FIXTURE_SETUP(tasks)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->run = simd_run_new(variant->scope, variant->privileged, 0);
}

FIXTURE_TEARDOWN(tasks)
{
	simd_run_free(self->run);
}

/* A child starts with its parent's registers. */
TEST_F_TIMEOUT(tasks, fork, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x3100, SIMD_DO_FORK);

	w->spin = 20000;
	w->rounds = 1;
	self->run->check.exits = true;
	simd_run_demand(self->run, user[1].exact, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "fork");
}

/* A new program starts with zeros, whatever was there before. */
TEST_F_TIMEOUT(tasks, exec, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x3200, 0);

	w->program = simd_run_program("simd_regs_exec");
	ASSERT_NE(NULL, w->program);
	simd_run_demand(self->run, user[1].exact, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "exec");
}

/* A handler has its own values, and afterwards the old ones are back. */
TEST_F_TIMEOUT(tasks, signals, SIMD_TEST_SECONDS)
{
	struct simd_worker *w;

	w = simd_run_add(self->run, 0x3300, SIMD_DO_SIGNAL | SIMD_DO_GETPPID);
	w->rounds = 8;
	w = simd_run_add(self->run, 0x3400, SIMD_DO_TIMER);
	w->rounds = 50;
	/* A signal's return replaces the registers, which takes a while: 11 in 100. */
	self->run->check.kernel_may_lack = true;
	simd_run_demand(self->run, user[1].exact, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "signals");
	EXPECT_LE(self->run->check.n.user[1].absent * 4, self->run->check.n.samples[1]);
}

/* Idle and kernel threads have no registers that a sample could show. */
TEST_F_TIMEOUT(tasks, no_user_state, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x3500, SIMD_DO_SLEEP);

	w->rounds = 1;
	self->run->min_samples = 300;
	simd_run_demand(self->run, stateless, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "no user state");
	EXPECT_EQ(0UL, self->run->check.n.stateless_regs);
}

FIXTURE(events)
{
	struct simd_run *run;
};

FIXTURE_SETUP(events)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->run = simd_run_new(SIMD_EACH_TASK, true, 0);
}

FIXTURE_TEARDOWN(events)
{
	simd_run_free(self->run);
}

/* From one CPU to another in the middle of everything */
TEST_F_TIMEOUT(events, migration, SIMD_TEST_SECONDS)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct simd_worker *w;

		w = simd_run_add(self->run, 0x4100 + (i << 8), SIMD_DO_MIGRATE);
		w->spin = 20000;
		w->rounds = 2;
		w->cpu = -1;
	}
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "migration");
}

/* 0, or a negative errno */
static int set_online(int cpu, bool online)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	if (write(fd, online ? "1" : "0", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

/* The CPU goes, and its buffers with it; it comes back, and so do they. */
TEST_F_TIMEOUT(events, cpu_hotplug, SIMD_TEST_SECONDS)
{
	int cpu = simd_test_cpu(), err, i;

	/* Some refuse only when they are asked. */
	err = set_online(cpu, false);
	if (!err)
		err = set_online(cpu, true);
	if (err)
		SKIP(return, "CPU %d cannot be taken offline: %s", cpu, strerror(-err));

	for (i = 0; i < 2; i++) {
		struct simd_worker *w;

		w = simd_run_add(self->run, 0x4300 + (i << 8), SIMD_DO_READ);
		w->cpu = -1;
	}
	if (!start_run(_metadata, self->run))
		return;
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, set_online(cpu, false));
		usleep(50000);
		simd_run_drain(self->run);
		EXPECT_EQ(0, set_online(cpu, true));
		usleep(50000);
		simd_run_drain(self->run);
	}
	/* On top of what there is, so that some are from after the last change */
	self->run->min_samples = simd_run_marked(self->run) + 500;
	finish_run(_metadata, self->run, "CPU hotplug");
}

/* Events with all kinds of masks come and go beside the one that is judged. */
TEST_F_TIMEOUT(events, storm, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x4500, SIMD_DO_SYSCALLS);
	struct perf_event_attr attr;
	struct simd_event event;
	unsigned int i;

	w->spin = 500;
	if (!start_run(_metadata, self->run))
		return;
	for (i = 0; i < 60; i++) {
		attr = simd_clock_attr();
		simd_attr_vectors(&attr, 2, i % 3 ? 1 << (i % 16) : 0, 1 << (i % 7));
		attr.sample_period += i * 100;
		attr.disabled = 0;
		ASSERT_EQ(0, simd_event_open(&event, &attr, i % 2 ? w->pid : -1,
					     i % 2 ? -1 : w->cpu, NULL));
		usleep(500);
		simd_event_close(&event);
		simd_run_drain(self->run);
	}
	self->run->min_samples = simd_run_marked(self->run) + 500;
	finish_run(_metadata, self->run, "events come and go");
}

/* Has a second event of the first worker judged beside the run's own. */
static int start_second(struct simd_run *run, struct perf_event_attr *attr,
			struct simd_event *event, struct simd_check *check,
			const struct simd_event *leader)
{
	int err;

	memcpy(check->tasks, run->check.tasks, sizeof(check->tasks));
	check->nr_tasks = run->check.nr_tasks;
	check->privileged = run->privileged;
	check->attr = attr;
	attr->disabled = 0;
	err = simd_event_open(event, attr, run->workers[0].pid, -1, leader);

	/* On a busy host the run may have all its samples before this one begins. */
	simd_run_drain(run);
	run->min_samples += simd_run_marked(run);
	return err;
}

static void finish_second(struct __test_metadata *_metadata, struct simd_event *event,
			  struct simd_check *check, const char *name)
{
	simd_event_disable(event);
	simd_event_drain(event, simd_check_record, check);
	expect_clean(_metadata, check, name);
	EXPECT_GT(check->n.samples[0] + check->n.samples[1], 0UL);
	simd_event_close(event);
}

/* A group with different registers, often due at the same moment */
TEST_F_TIMEOUT(events, group, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x4600, SIMD_DO_SYSCALLS);
	static struct simd_check check;
	struct perf_event_attr attr = simd_clock_attr();
	struct simd_event sibling;

	w->spin = 500;
	simd_attr_vectors(&attr, 2, 0x00f0, 0x0f01);
	if (!start_run(_metadata, self->run))
		return;
	ASSERT_EQ(0, start_second(self->run, &attr, &sibling, &check,
				  &self->run->events[0]));
	finish_run(_metadata, self->run, "group: leader");
	finish_second(_metadata, &sibling, &check, "group: sibling");
}

/*
 * An NMI can sample while an interrupt is writing out what it has sampled. The
 * one in the NMI asks for less, and so would leave something else in a buffer
 * that they shared.
 */
TEST_F_TIMEOUT(events, nested, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x4700, SIMD_DO_SYSCALLS);
	struct perf_event_attr attr = simd_cycles_attr();
	static struct simd_check check;
	struct simd_event inner;
	int err;

	w->spin = 500;
	simd_attr_vectors(&attr, 2, 0x0001, 0x0001);
	attr.sample_period = attr.sample_period * 2 / 5;
	self->run->attr.sample_period = self->run->attr.sample_period * 3 / 8;
	/* The interrupt hardly gets to run between NMIs that are emulated. */
	self->run->min_samples = 1000;
	if (!start_run(_metadata, self->run))
		return;
	err = start_second(self->run, &attr, &inner, &check, NULL);
	if (err == -ENOENT || err == -EOPNOTSUPP) {
		simd_run_stop(self->run);
		SKIP(return, "no PMU that interrupts: %s", strerror(-err));
	}
	ASSERT_EQ(0, err);
	finish_run(_metadata, self->run, "nested: interrupt");
	finish_second(_metadata, &inner, &check, "nested: NMI");
}

TEST_HARNESS_MAIN
