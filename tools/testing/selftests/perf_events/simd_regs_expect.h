/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the value tests expect of every run, as kselftest assertions. To be
 * included after kselftest_harness.h.
 */
#ifndef SIMD_REGS_EXPECT_H
#define SIMD_REGS_EXPECT_H

#include "simd_regs_run.h"

/* More than a run gets to collect its samples, so that it can say how far it got */
#define SIMD_TEST_SECONDS	900
/* ... and what a test with a loop of its own gives that for all samples together */
#define SIMD_LOOP_SECONDS	600

/* No value that the task did not have, and no absence without a reason. */
static void expect_clean(struct __test_metadata *_metadata, const struct simd_check *check,
			 const char *name)
{
	const struct simd_count *n = &check->n;

	simd_check_print(check, name);

	EXPECT_EQ(0UL, n->wrong);
	EXPECT_EQ(0UL, n->foreign);
	EXPECT_EQ(0UL, n->residue);
	EXPECT_EQ(0UL, n->malformed);
	EXPECT_EQ(0UL, n->partial);
	/* Only a vector-using kernel thread may have some, for a privileged event. */
	if (!check->privileged)
		EXPECT_EQ(0UL, n->stateless_regs);
	/* The registers of a task in user mode are always there. */
	EXPECT_LE(n->user[0].absent, check->may_lack);
	EXPECT_LE(n->intr[0].absent, check->may_lack);
	/*
	 * In the kernel the user's are too, live or saved; a few may be in between:
	 * 6 in 100 where every round changes the state.
	 */
	if (!check->kernel_may_lack)
		EXPECT_LE(n->user[1].absent * 10, n->samples[1]);
#ifdef __aarch64__
	/* The interrupted kernel has no vector registers. */
	EXPECT_EQ(0UL, n->intr[1].exact + n->intr[1].unmarked);
#endif
}

/* The registers of the user were to be seen at hits in the kernel, if it is sampled. */
static inline void demand_kernel_hits(struct simd_run *run)
{
	if (!simd_run_has_kernel(run))
		return;
	simd_run_demand(run, user[1].exact, 1);
#ifdef __aarch64__
	simd_run_demand(run, intr[1].absent, 1);
#else
	simd_run_demand(run, intr[1].exact, 1);
#endif
}

/* Starts the run, or fails the test, or skips it where it cannot be run: false */
static bool start_run(struct __test_metadata *_metadata, struct simd_run *run)
{
	int err = simd_run_start(run);

	if (err == -ENOENT || err == -EAFNOSUPPORT || err == -ENODEV)
		SKIP(return false, "%s: %s", run->error, strerror(-err));
	ASSERT_EQ(0, err)
		TH_LOG("%s: %s", run->error, strerror(-err));
	return true;
}

/* Collects the samples, ends the run, and has it judged. */
static inline void finish_run(struct __test_metadata *_metadata, struct simd_run *run,
			      const char *name)
{
	int err;

	simd_run_demand(run, samples[0], 1);
	err = simd_run_collect(run);
	EXPECT_EQ(0, err)
		TH_LOG("%s: %s", run->error, strerror(-err));
	err = simd_run_stop(run);
	EXPECT_EQ(0, err)
		TH_LOG("%s: %s", run->error, strerror(-err));
	expect_clean(_metadata, &run->check, name);
	EXPECT_GE(simd_run_marked(run), run->min_samples);
}

#endif /* SIMD_REGS_EXPECT_H */
