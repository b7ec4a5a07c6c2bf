// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of the registers of SVE, in streaming mode too: Z, P and FFR in
 * all widths and vector lengths.
 */
#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "simd_regs_arm64.h"
#include "simd_regs_expect.h"
#include "simd_regs_live.h"

FIXTURE(sve)
{
	struct simd_run *run;
};

#define VL	0xffffU		/* the width that the task has */

FIXTURE_VARIANT(sve)
{
	const char *cls;
	unsigned int vl;		/* in bytes, or what comes next below it */
	unsigned int qwords;		/* of the vectors, 0 for no vectors */
	__u64 vectors;
	__u32 preds;
	unsigned int what;
	bool vls;			/* changes the vector length, too */
	bool cycles;
};

/* All of the registers, as wide as they are with vectors of @bytes */
#define ALL(bytes)	.vl = (bytes), .qwords = VL, .vectors = ALL_VECTORS, .preds = ALL_P | FFR

FIXTURE_VARIANT_ADD(sve, z_128)
{
	.cls = "z",
	ALL(16),
};

FIXTURE_VARIANT_ADD(sve, z_256)
{
	.cls = "z",
	ALL(32),
};

FIXTURE_VARIANT_ADD(sve, z_512)
{
	.cls = "z",
	ALL(64),
};

FIXTURE_VARIANT_ADD(sve, z_2048)
{
	.cls = "z",
	ALL(256),
};

FIXTURE_VARIANT_ADD(sve, z_traps)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_TRAP,
};

FIXTURE_VARIANT_ADD(sve, z_syscalls)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_SYSCALLS | SIMD_DO_TRAP,
};

FIXTURE_VARIANT_ADD(sve, z_sleep)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_YIELD | SIMD_DO_SLEEP,
};

FIXTURE_VARIANT_ADD(sve, z_signals)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_SIGNAL | SIMD_DO_TIMER,
};

FIXTURE_VARIANT_ADD(sve, z_crypto)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_HASH | SIMD_DO_CTR,
};

FIXTURE_VARIANT_ADD(sve, z_fork)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_FORK,
};

FIXTURE_VARIANT_ADD(sve, z_cycles)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_TRAP,
	.cycles = true,
};

FIXTURE_VARIANT_ADD(sve, z_signals_cycles)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_SIGNAL | SIMD_DO_TIMER,
	.cycles = true,
};

FIXTURE_VARIANT_ADD(sve, z_vls)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_GETPPID | SIMD_DO_TRAP,
	.vls = true,
};

FIXTURE_VARIANT_ADD(sve, z_vls_cycles)
{
	.cls = "z",
	ALL(64),
	.what = SIMD_DO_GETPPID | SIMD_DO_TRAP,
	.vls = true,
	.cycles = true,
};

FIXTURE_VARIANT_ADD(sve, z_narrow)
{
	.cls = "z",
	.vl = 256,
	.qwords = 4,
	.vectors = ALL_VECTORS,
	.preds = ALL_P | FFR,
};

FIXTURE_VARIANT_ADD(sve, z_wide)
{
	.cls = "z",
	.vl = 32,
	.qwords = 16,
	.vectors = ALL_VECTORS,
	.preds = ALL_P | FFR,
};

FIXTURE_VARIANT_ADD(sve, z_some)
{
	.cls = "z",
	.vl = 64,
	.qwords = VL,
	.vectors = 0x80018001,
	.preds = 0x8421,
};

FIXTURE_VARIANT_ADD(sve, v_of_z)
{
	.cls = "z",
	.vl = 64,
	.qwords = 2,
	.vectors = ALL_VECTORS,
};

FIXTURE_VARIANT_ADD(sve, v_p_of_z)
{
	.cls = "z",
	.vl = 64,
	.qwords = 2,
	.vectors = 0xf0f0,
	.preds = 0xffff,
};

FIXTURE_VARIANT_ADD(sve, p_only)
{
	.cls = "z",
	.vl = 64,
	.preds = ALL_P,
};

FIXTURE_VARIANT_ADD(sve, ffr_only)
{
	.cls = "z",
	.vl = 64,
	.preds = FFR,
};

FIXTURE_VARIANT_ADD(sve, v_as_z)
{
	.cls = "v",
	.vl = 64,
	.qwords = 8,
	.vectors = ALL_VECTORS,
	.preds = ALL_P | FFR,
	.what = SIMD_DO_SYSCALLS,
};

FIXTURE_VARIANT_ADD(sve, streaming_128)
{
	.cls = "streaming",
	ALL(16),
};

FIXTURE_VARIANT_ADD(sve, streaming_256)
{
	.cls = "streaming",
	ALL(32),
};

FIXTURE_VARIANT_ADD(sve, streaming_2048)
{
	.cls = "streaming",
	ALL(256),
};

FIXTURE_VARIANT_ADD(sve, streaming_traps)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_TRAP,
};

FIXTURE_VARIANT_ADD(sve, streaming_syscalls)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_SYSCALLS | SIMD_DO_TRAP,
};

FIXTURE_VARIANT_ADD(sve, streaming_sleep)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_YIELD | SIMD_DO_SLEEP,
};

FIXTURE_VARIANT_ADD(sve, streaming_signals)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_SIGNAL | SIMD_DO_TIMER,
};

FIXTURE_VARIANT_ADD(sve, streaming_crypto)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_HASH | SIMD_DO_CTR,
};

FIXTURE_VARIANT_ADD(sve, streaming_fork)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_FORK,
};

FIXTURE_VARIANT_ADD(sve, streaming_cycles)
{
	.cls = "streaming",
	ALL(32),
	.what = SIMD_DO_TRAP,
	.cycles = true,
};

FIXTURE_VARIANT_ADD(sve, streaming_narrow)
{
	.cls = "streaming",
	.vl = 256,
	.qwords = 2,
	.vectors = ALL_VECTORS,
	.preds = ALL_P,
};

static void ask_for(struct perf_event_attr *attr, unsigned int qwords, __u64 vectors,
		    unsigned int pred_qwords, __u32 preds)
{
	simd_attr_vectors(attr, qwords, vectors, vectors);
	attr->sample_type |= PERF_SAMPLE_REGS_INTR;
	attr->sample_simd_pred_reg_qwords = preds ? pred_qwords : 0;
	attr->sample_simd_pred_reg_intr = preds;
	attr->sample_simd_pred_reg_user = preds;
}

FIXTURE_SETUP(sve)
{
	const char *refused = simd_run_refused(SIMD_EACH_TASK, false);
	unsigned int qwords;

	if (refused)
		SKIP(return, "%s", refused);
	if (!have_class(variant->cls) || !have_sve())
		SKIP(return, "this CPU has no %s", variant->cls);
	if (variant->preds == FFR && !have_ffr())
		SKIP(return, "this CPU has no FFR");
	if (variant->qwords != VL && variant->qwords > longest_vl() / 8)
		SKIP(return, "this CPU has no vectors of %u words", variant->qwords);

	set_vl(PR_SVE_SET_VL, variant->vl);
	set_vl(PR_SME_SET_VL, variant->vl);
	qwords = variant->qwords == VL || !variant->qwords ?
		 simd_marker_vq(simd_class_find(variant->cls)->parts) * 2 :
		 variant->qwords;

	self->run = simd_run_new(SIMD_EACH_TASK, false, 0);
	ask_for(&self->run->attr, qwords, variant->vectors, (qwords + 7) / 8,
		have_ffr() ? variant->preds : variant->preds & ~FFR);
	self->run->min_samples = 1000;
	simd_run_demand(self->run, user[0].exact, 100);
	simd_run_demand(self->run, intr[0].exact, 1);
	/* A signal's return replaces the registers, which takes a while. */
	if (variant->what & (SIMD_DO_SIGNAL | SIMD_DO_TIMER))
		self->run->check.kernel_may_lack = true;
	self->run->check.exits = variant->what & SIMD_DO_FORK;
	/* Predicates are absent until SVE is used. */
	if (!variant->vectors) {
		self->run->check.kernel_may_lack = true;
		self->run->check.may_lack = ULONG_MAX;
	}
	if (variant->cycles)
		simd_run_use_cycles(self->run);
}

FIXTURE_TEARDOWN(sve)
{
	simd_run_free(self->run);
}

/* To another vector length and back, in both modes: only V registers survive that. */
static int change_vls(struct simd_call *calls, unsigned int *nr)
{
	static const struct {
		int get, set;
	} modes[] = {
		{ PR_SVE_GET_VL, PR_SVE_SET_VL }, { PR_SME_GET_VL, PR_SME_SET_VL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		int vl = prctl(modes[i].get);

		if (vl < 0)
			continue;
		vl &= PR_SVE_VL_LEN_MASK;
		calls[(*nr)++] = (struct simd_call) {
			.nr = SYS_prctl, .arg = { modes[i].set, vl == 16 ? 32 : 16 },
		};
		calls[(*nr)++] = (struct simd_call) {
			.nr = SYS_prctl, .arg = { modes[i].set, vl },
		};
	}
	return 0;
}

/*
 * What the task has comes out, all of it that was asked for, in user mode and in
 * the kernel.
 */
TEST_F_TIMEOUT(sve, values, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x6100, variant->what);

	w->cls = simd_class_find(variant->cls);
	/* A fork takes long, in the kernel. */
	w->spin = !variant->what ? 2000 : variant->what & SIMD_DO_FORK ? 20000 : 500;
	/*
	 * Only system calls lose registers, and an interrupt that waits for the end of
	 * a trap seldom hits one.
	 */
	if (variant->what == SIMD_DO_TRAP && simd_run_has_kernel(self->run))
		simd_run_demand(self->run, user[1].exact_of[SIMD_P_FFR], 3);
	if (variant->vls)
		w->more_calls = change_vls;
	/* To load and check many long registers takes a while. */
	if (!(variant->what & ~SIMD_DO_TRAP)) {
		w->rounds = 50;
	} else if (w->cls->load == SIMD_LOAD_STREAMING) {
		/* Nothing is known in system calls, which end the mode. */
		w->spin *= 10;
		self->run->min_samples = 200;
	}
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, variant->cls);
}

FIXTURE(mixed)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(mixed)
{
	bool cycles;
};

FIXTURE_VARIANT_ADD(mixed, clock)
{
};

FIXTURE_VARIANT_ADD(mixed, cycles)
{
	.cycles = true,
};

FIXTURE_SETUP(mixed)
{
	unsigned int qwords;

	if (geteuid())
		SKIP(return, "needs root");
	if (!have_class("z"))
		SKIP(return, "this CPU has no SVE");

	qwords = longest_vl() / 8;
	set_vl(PR_SVE_SET_VL, 64);
	set_vl(PR_SME_SET_VL, 32);
	self->run = simd_run_new(SIMD_EACH_CPU, false, 0);
	ask_for(&self->run->attr, qwords, ALL_VECTORS, (qwords + 7) / 8, ALL_P | FFR);
	if (variant->cycles)
		simd_run_use_cycles(self->run);
}

FIXTURE_TEARDOWN(mixed)
{
	simd_run_free(self->run);
}

/* Tasks in each of the modes on one CPU have nothing of each other. */
TEST_F_TIMEOUT(mixed, modes, SIMD_TEST_SECONDS)
{
	static const struct {
		const char *cls;
		unsigned int what;
	} tasks[] = {
		{ "v", SIMD_DO_YIELD | SIMD_DO_READ },
		{ "z", SIMD_DO_YIELD | SIMD_DO_TRAP },
		{ "streaming", SIMD_DO_YIELD | SIMD_DO_TRAP },
		{ "z", SIMD_DO_TRAP },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct simd_worker *w;

		if (!have_class(tasks[i].cls))
			continue;
		w = simd_run_add(self->run, 0x6200 + (i << 8), tasks[i].what);
		w->cls = simd_class_find(tasks[i].cls);
		w->spin = 300 * (i + 1);
		w->rounds = 2;
	}
	simd_run_demand(self->run, user[1].exact_of[SIMD_P_FFR], 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "mixed modes");
}

/*
 * A task that uses SVE is switched out, at any instruction, by one that wakes up all
 * the time: no system call has ended the use, so each time all is saved, FFR by way of P0.
 */
TEST_F_TIMEOUT(mixed, preempted, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x6700, 0);

	w->cls = simd_class_find("z");
	w->rounds = 50;
	w = simd_run_add(self->run, 0x6800, SIMD_DO_SLEEP);
	w->cls = simd_class_find("v");
	w->spin = 1;
	w->rounds = 50;
	w->preempts = true;

	simd_run_demand(self->run, user[1].exact_of[SIMD_P_FFR], 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "preempted");
}

TEST_HARNESS_MAIN
