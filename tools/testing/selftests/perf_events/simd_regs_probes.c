// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of events that no PMU counts: uprobes, kprobes, tracepoints,
 * breakpoints, page faults, context switches and migrations. They sample where a
 * task does something, mostly in its own context and with interrupts enabled,
 * while others that share the CPU have values of their own.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"
#include "simd_regs_probe.h"

#define NR_WORKERS	3
#define MIN_SAMPLES	10000
#define MIN_MIGRATIONS	1000

#ifdef __aarch64__
#define GETPPID		"__arm64_sys_getppid"
#else
#define GETPPID		"__x64_sys_getppid"
#endif

enum source {
	UPROBE, KPROBE, SYSCALL, SCHED, WATCHPOINT, BREAKPOINT, PAGE_FAULT,
	PAGE_FAULT_IN_KERNEL, SWITCH, MIGRATION,
};

FIXTURE(probes)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(probes)
{
	enum source source;
	enum simd_scope scope;
};

FIXTURE_VARIANT_ADD(probes, uprobe)
{
	.source = UPROBE,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, uprobe_cpu)
{
	.source = UPROBE,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(probes, kprobe)
{
	.source = KPROBE,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, kprobe_cpu)
{
	.source = KPROBE,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(probes, syscall)
{
	.source = SYSCALL,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, syscall_cpu)
{
	.source = SYSCALL,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(probes, sched)
{
	.source = SCHED,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, watchpoint)
{
	.source = WATCHPOINT,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, breakpoint)
{
	.source = BREAKPOINT,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, page_fault)
{
	.source = PAGE_FAULT,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, page_fault_cpu)
{
	.source = PAGE_FAULT,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(probes, page_fault_in_kernel)
{
	.source = PAGE_FAULT_IN_KERNEL,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, context_switch)
{
	.source = SWITCH,
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(probes, context_switch_cpu)
{
	.source = SWITCH,
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(probes, migration)
{
	.source = MIGRATION,
	.scope = SIMD_EACH_TASK,
};

/* The same address in all workers: written to, and in a page that comes and goes */
static __u64 *written;

/* The page is fresh in each round. */
static int forget_page(struct simd_call *calls, unsigned int *nr)
{
	const struct simd_call madvise = {
		.nr = SYS_madvise,
		.arg = { SIMD_ADDRESS(written), sysconf(_SC_PAGESIZE), MADV_DONTNEED },
	};

	calls[(*nr)++] = madvise;
	return 0;
}

/* The kernel is the first one to write to it. */
static int have_it_written(struct simd_call *calls, unsigned int *nr)
{
	const struct simd_call getcwd = {
		.nr = SYS_getcwd, .arg = { SIMD_ADDRESS(written), 64 },
	};

	forget_page(calls, nr);
	calls[(*nr)++] = getcwd;
	return 0;
}

static int source_attr(struct perf_event_attr *attr, enum source source)
{
	attr->sample_period = 1;
	switch (source) {
	case UPROBE:
		return simd_uprobe_attr(attr, simd_live_probe);
	case KPROBE:
		return simd_kprobe_attr(attr, GETPPID);
	case SYSCALL:
		return simd_tracepoint_attr(attr, "syscalls/sys_enter_getppid");
	case SCHED:
		return simd_tracepoint_attr(attr, "sched/sched_switch");
	case WATCHPOINT:
		simd_breakpoint_attr(attr, HW_BREAKPOINT_W, written);
		return 0;
	case BREAKPOINT:
		simd_breakpoint_attr(attr, HW_BREAKPOINT_X, simd_live_probe);
		return 0;
	case PAGE_FAULT:
	case PAGE_FAULT_IN_KERNEL:
		attr->config = PERF_COUNT_SW_PAGE_FAULTS;
		return 0;
	case SWITCH:
		attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		return 0;
	case MIGRATION:
		attr->config = PERF_COUNT_SW_CPU_MIGRATIONS;
		return 0;
	}
	return -EINVAL;
}

static void set_worker(struct simd_worker *w, enum source source)
{
	switch (source) {
	case WATCHPOINT:
		w->write = written;
		break;
	case PAGE_FAULT:
		w->write = written;
		w->more_calls = forget_page;
		break;
	case PAGE_FAULT_IN_KERNEL:
		w->more_calls = have_it_written;
		break;
	case MIGRATION:
		w->what |= SIMD_DO_MIGRATE;
		w->cpu = -1;
		break;
	default:
		break;
	}
}

FIXTURE_SETUP(probes)
{
	struct perf_event_attr attr;
	int err, fd;

	if (geteuid())
		SKIP(return, "needs root");
	if (!written)
		written = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, written);

	self->run = simd_run_new(variant->scope, true, 0);
	attr = self->run->attr;
	err = source_attr(&attr, variant->source);
	/* Without registers it has to be there; then it has to be with them. */
	fd = err ? -1 : simd_perf_event_open(&attr, 0, -1, -1);
	if (fd < 0 && !err && errno != EOPNOTSUPP)
		err = -errno;
	if (err) {
		simd_run_free(self->run);
		SKIP(return, "no such event here: %s", strerror(-err));
	}
	EXPECT_LE(0, fd);
	close(fd);
	self->run->attr = attr;
	self->run->min_samples = variant->source == MIGRATION ? MIN_MIGRATIONS : MIN_SAMPLES;
}

FIXTURE_TEARDOWN(probes)
{
	simd_run_free(self->run);
}

TEST_F_TIMEOUT(probes, values, SIMD_TEST_SECONDS)
{
	const unsigned int what[NR_WORKERS] = {
		SIMD_DO_GETPPID | SIMD_DO_YIELD, SIMD_DO_GETPPID | SIMD_DO_READ | SIMD_DO_YIELD,
		SIMD_DO_GETPPID | SIMD_DO_PIPE | SIMD_DO_YIELD,
	};
	const struct simd_count *n = &self->run->check.n;
	bool in_user_mode;
	unsigned int i;

	for (i = 0; i < NR_WORKERS; i++) {
		struct simd_worker *w = simd_run_add(self->run, 0x7100 + (i << 8), what[i]);

		w->spin = 100 * i;
		w->rounds = 2;
		set_worker(w, variant->source);
	}

	/* A tracepoint of system calls has the registers that the task came with. */
	in_user_mode = variant->source == UPROBE || variant->source == WATCHPOINT ||
		       variant->source == BREAKPOINT || variant->source == PAGE_FAULT ||
		       variant->source == SYSCALL;
	/* The kernel faults on a few of the pages: these don't count. */
	if (in_user_mode) {
		simd_run_demand(self->run, user[0].exact, self->run->min_samples);
		simd_run_demand(self->run, intr[0].exact, self->run->min_samples);
	}
	if (!start_run(_metadata, self->run))
		return;
	EXPECT_EQ(0, simd_run_collect(self->run));
	EXPECT_EQ(0, simd_run_stop(self->run));
	expect_clean(_metadata, &self->run->check, "probes");
	EXPECT_GE(simd_run_marked(self->run), self->run->min_samples);
	if (!in_user_mode)
		EXPECT_GE(n->user[1].exact, self->run->min_samples * 9 / 10);
}

TEST_HARNESS_MAIN
