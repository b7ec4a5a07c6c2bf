// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests on top of kernel code that uses vector registers itself, reached
 * through AF_ALG: the user's values are in memory then, and the registers are
 * the kernel's, which only a privileged event may see. That is decided by who
 * opens the event, whatever the setting perf_event_paranoid lets him sample.
 */
#include <errno.h>
#include <time.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"
#include "simd_regs_record.h"

/* Sections of the kernel that use vector registers: arm64 shows none of them. */
#ifdef __aarch64__
#define NEVER_SHOWN	true
#else
#define NEVER_SHOWN	false
#endif

FIXTURE(kernel)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(kernel)
{
	enum simd_scope scope;
	bool privileged;
	bool container;
	bool user_mode_only;
	int paranoid;
};

FIXTURE_VARIANT_ADD(kernel, task)
{
	.scope = SIMD_EACH_TASK,
	.paranoid = 1,
};

/* At the usual setting, hits in the kernel are not for everybody. */
FIXTURE_VARIANT_ADD(kernel, task_user_mode)
{
	.scope = SIMD_EACH_TASK,
	.user_mode_only = true,
	.paranoid = 2,
};

/* Root of a container has all capabilities, but not over this kernel. */
FIXTURE_VARIANT_ADD(kernel, task_container)
{
	.scope = SIMD_EACH_TASK,
	.container = true,
	.paranoid = 1,
};

FIXTURE_VARIANT_ADD(kernel, cpu_container)
{
	.scope = SIMD_EACH_CPU,
	.container = true,
	.paranoid = 0,
};

FIXTURE_VARIANT_ADD(kernel, task_privileged)
{
	.scope = SIMD_EACH_TASK,
	.privileged = true,
	.paranoid = 2,
};

FIXTURE_VARIANT_ADD(kernel, cpu)
{
	.scope = SIMD_EACH_CPU,
	.paranoid = 0,
};

/* The setting lets everybody do everything; it does not make them privileged. */
FIXTURE_VARIANT_ADD(kernel, cpu_not_paranoid)
{
	.scope = SIMD_EACH_CPU,
	.paranoid = -1,
};

FIXTURE_VARIANT_ADD(kernel, cpu_privileged)
{
	.scope = SIMD_EACH_CPU,
	.privileged = true,
	.paranoid = 2,
};

FIXTURE_SETUP(kernel)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->run = simd_run_new(variant->scope, variant->privileged, variant->paranoid);
	self->run->container = variant->container;
	self->run->attr.exclude_kernel = variant->user_mode_only;
}

FIXTURE_TEARDOWN(kernel)
{
	simd_run_free(self->run);
}

/*
 * One algorithm for each worker, and another pattern for each request: what was
 * saved for the request before is wrong for this one.
 */
static void add_crypto(struct simd_run *run, __u16 seed, unsigned int what)
{
	struct simd_worker *w = simd_run_add(run, seed, what);

	w->nr_phases = 64;
	w->rounds = 1;
	w->spin = run->attr.exclude_kernel ? 10000 : 20;
}

static int try_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = simd_perf_event_open(attr, pid, cpu, -1);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static bool shows_kernel_vectors(const struct simd_run *run)
{
	return run->privileged && !NEVER_SHOWN;
}

static void run_and_judge(struct __test_metadata *_metadata, struct simd_run *run,
			  const char *name)
{
	if (!run->attr.exclude_kernel) {
		/* Either way it shows that there were vector-using sections at all. */
		if (shows_kernel_vectors(run))
			simd_run_demand(run, intr[1].kfpu, 1);
		else
			simd_run_demand(run, intr[1].absent, 1);
		demand_kernel_hits(run);
	}
	if (!start_run(_metadata, run))
		return;
	finish_run(_metadata, run, name);
	if (run->attr.exclude_kernel)
		EXPECT_EQ(0UL, run->check.n.samples[1]);
	if (!shows_kernel_vectors(run))
		EXPECT_EQ(0UL, run->check.n.intr[1].kfpu);
}

/* The task that is sampled makes the requests. */
TEST_F_TIMEOUT(kernel, hash, SIMD_TEST_SECONDS)
{
	add_crypto(self->run, 0x5100, SIMD_DO_HASH);
	run_and_judge(_metadata, self->run, "hash");
}

TEST_F_TIMEOUT(kernel, cipher, SIMD_TEST_SECONDS)
{
	add_crypto(self->run, 0x5200, SIMD_DO_CBC);
	run_and_judge(_metadata, self->run, "cipher");
}

/* Several at once, and one that only has its registers to lose */
TEST_F_TIMEOUT(kernel, crowd, SIMD_TEST_SECONDS)
{
	struct simd_worker *w;

	add_crypto(self->run, 0x5300, SIMD_DO_HASH | SIMD_DO_YIELD);
	add_crypto(self->run, 0x5400, SIMD_DO_CTR | SIMD_DO_YIELD);
	add_crypto(self->run, 0x5500, SIMD_DO_XTS | SIMD_DO_YIELD);
	w = simd_run_add(self->run, 0x5600, SIMD_DO_YIELD);
	w->spin = 200;
	w->rounds = 2;
	run_and_judge(_metadata, self->run, "crowd");
}

/* One who watches only himself, among others who have something to hide */
TEST_F_TIMEOUT(kernel, watcher, SIMD_TEST_SECONDS)
{
	struct simd_worker *w;

	if (variant->scope != SIMD_EACH_TASK)
		SKIP(return, "not about CPUs");
	add_crypto(self->run, 0x5700, SIMD_DO_HASH | SIMD_DO_READ | SIMD_DO_YIELD);
	add_crypto(self->run, 0x5800, SIMD_DO_XTS | SIMD_DO_YIELD);
	w = simd_run_add(self->run, 0x5900, SIMD_DO_SLEEP | SIMD_DO_READ);
	w->rounds = 2;
	self->run->nr_sampled = 1;
	/* It has a third of the CPU, and is in user mode for a part of that. */
	if (variant->user_mode_only)
		self->run->min_samples = 1000;
	run_and_judge(_metadata, self->run, "watcher");
}

/* What perf_event_paranoid keeps from those without CAP_PERFMON */
TEST_F(kernel, refused)
{
	struct perf_event_attr attr = self->run->attr;

	if (variant->privileged || variant->paranoid < 0)
		SKIP(return, "nothing is refused");
	ASSERT_EQ(0, variant->container ? simd_enter_container() : simd_drop_perfmon());

	attr.exclude_kernel = 1;
	EXPECT_EQ(variant->paranoid >= 1 ? -EACCES : 0, try_open(&attr, -1, 0));
	EXPECT_EQ(0, try_open(&attr, 0, -1));
	attr.exclude_kernel = 0;
	EXPECT_EQ(variant->paranoid >= 2 ? -EACCES : 0, try_open(&attr, 0, -1));
}

#ifndef __aarch64__

struct gprs_count {
	const struct perf_event_attr *attr;
	unsigned long samples, without_gprs, without_vectors, malformed;
};

static void count_gprs(const struct perf_event_header *header, void *arg)
{
	struct gprs_count *n = arg;
	struct simd_sample s;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	if (simd_decode(header, n->attr, &s)) {
		n->malformed++;
		return;
	}
	n->samples++;
	n->without_gprs += s.intr.abi == PERF_SAMPLE_REGS_ABI_NONE;
	n->without_vectors += !s.intr.nr_vectors;
}

/* Hits in the kernel with AX, SSP, and one of the widest registers */
static struct perf_event_attr gprs_attr(void)
{
	struct perf_event_attr attr = simd_cycles_attr();
	bool zmm = simd_class_supported(simd_class_find("zmm"));

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr.exclude_user = 1;
	simd_attr_vectors(&attr, zmm ? 8 : 2, 1, 0);
	attr.sample_type &= ~PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 0;
	attr.sample_regs_intr = 1ULL << PERF_REG_X86_AX | SIMD_SSP_REG;
	if (try_open(&attr, 0, -1) == -EOPNOTSUPP)
		attr.sample_regs_intr &= ~SIMD_SSP_REG;
	return attr;
}

FIXTURE(gprs)
{
	struct simd_run *run;
};

FIXTURE_SETUP(gprs)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->run = simd_run_new(SIMD_EACH_CPU, true, 0);
}

FIXTURE_TEARDOWN(gprs)
{
	simd_run_free(self->run);
}

/* Where the vectors cannot be told, what can be told is there nevertheless. */
TEST_F_TIMEOUT(gprs, without_vectors, SIMD_TEST_SECONDS)
{
	struct gprs_count n = { .attr = &self->run->attr };
	time_t end = time(NULL) + SIMD_LOOP_SECONDS;
	unsigned int i;

	self->run->attr = gprs_attr();
	if (try_open(&self->run->attr, 0, -1))
		SKIP(return, "no PMU that interrupts");
	for (i = 0; i < 2; i++) {
		struct simd_worker *w = simd_run_add(self->run, 0x5a00 + (i << 8),
						     SIMD_DO_SYSCALLS | SIMD_DO_YIELD);

		w->spin = 10;
	}
	if (!start_run(_metadata, self->run))
		return;
	while (n.samples < 1000 && time(NULL) < end) {
		usleep(5000);
		simd_event_drain(&self->run->events[0], count_gprs, &n);
	}
	EXPECT_EQ(0, simd_run_stop(self->run));
	printf("# kernel: samples %lu without GPRs %lu without vectors %lu malformed %lu\n",
	       n.samples, n.without_gprs, n.without_vectors, n.malformed);
	EXPECT_GE(n.samples, 1000UL);
	EXPECT_EQ(0UL, n.malformed);
	EXPECT_EQ(0UL, n.without_gprs);
	EXPECT_GT(n.without_vectors, 0UL);
}

#endif

TEST_HARNESS_MAIN
