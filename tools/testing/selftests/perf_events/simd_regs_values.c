// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests: tasks that keep known patterns in their vector registers are
 * sampled in user and in kernel mode, and every sample has to have exactly those.
 */
#include <asm/perf_regs.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"
#include "simd_regs_record.h"

FIXTURE(values)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(values)
{
	enum simd_scope scope;
	bool privileged;
	bool cycles;
	unsigned int parts;	/* SIMD_MARK_*; 0: all that there is */
};

FIXTURE_VARIANT_ADD(values, task)
{
	.scope = SIMD_EACH_TASK,
};

FIXTURE_VARIANT_ADD(values, task_privileged)
{
	.scope = SIMD_EACH_TASK,
	.privileged = true,
};

FIXTURE_VARIANT_ADD(values, cpu)
{
	.scope = SIMD_EACH_CPU,
};

FIXTURE_VARIANT_ADD(values, cpu_privileged)
{
	.scope = SIMD_EACH_CPU,
	.privileged = true,
};

FIXTURE_VARIANT_ADD(values, cycles_task)
{
	.scope = SIMD_EACH_TASK,
	.cycles = true,
};

FIXTURE_VARIANT_ADD(values, cycles_cpu_privileged)
{
	.scope = SIMD_EACH_CPU,
	.privileged = true,
	.cycles = true,
};

FIXTURE_SETUP(values)
{
	const char *refused = simd_run_refused(variant->scope, variant->privileged);

	if (refused)
		SKIP(return, "%s", refused);
	if (variant->parts & ~simd_class_find("all")->parts)
		SKIP(return, "this CPU has not all of these registers");
	self->run = simd_run_new(variant->scope, variant->privileged, 0);
	if (variant->parts) {
		self->run->attr = simd_clock_attr();
		simd_attr_parts(&self->run->attr, variant->parts);
	}
	if (variant->cycles) {
		simd_run_use_cycles(self->run);
		/* An emulated PMU is slow. */
		self->run->min_samples = 1500;
	}
}

FIXTURE_TEARDOWN(values)
{
	simd_run_free(self->run);
}

/* Nothing but user mode: whatever is in the registers, it is the task's own. */
TEST_F_TIMEOUT(values, spin, SIMD_TEST_SECONDS)
{
	simd_run_add(self->run, 0x1100, 0);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, variant->cycles ? "spin, cycles" : "spin");
}

/* Hits in system calls have the values that the task went in with. */
TEST_F_TIMEOUT(values, syscalls, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x1200, SIMD_DO_SYSCALLS);

	w->spin = 500;
	demand_kernel_hits(self->run);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "system calls");
}

/*
 * Between switch-in and return to user mode, the registers still are those of
 * the task that ran before.
 */
TEST_F_TIMEOUT(values, three_processes, SIMD_TEST_SECONDS)
{
	const unsigned int what[] = {
		SIMD_DO_YIELD | SIMD_DO_READ, SIMD_DO_YIELD | SIMD_DO_PIPE,
		SIMD_DO_YIELD | SIMD_DO_SLEEP,
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct simd_worker *w = simd_run_add(self->run, 0x2100 + (i << 8), what[i]);

		w->spin = 300 * (i + 1);
		w->rounds = 1;
	}
	demand_kernel_hits(self->run);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "three processes");
}

/* Initial state is all zero, and valid. */
TEST_F_TIMEOUT(values, initial_state, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x1300, SIMD_DO_GETPPID);

	w->cls = simd_class_find("zero");
	if (!simd_class_supported(w->cls))
		SKIP(return, "no XSAVE");
	/* Somebody else's registers to mistake for this one's */
	simd_run_add(self->run, 0x1400, SIMD_DO_YIELD);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "initial state");
}

/*
 * Some parts in their initial state and some not: what an XSAVE area has in the
 * place of the former is left over from whatever was saved there before.
 */
TEST_F_TIMEOUT(values, initial_parts, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, 0x1600,
					     SIMD_DO_INIT | SIMD_DO_GETPPID | SIMD_DO_YIELD);

	if (w->cls->load != SIMD_LOAD_XSTATE)
		SKIP(return, "no XSAVE");
	w->nr_phases = 2 * SIMD_MARK_PARTS + 2;
	w->rounds = 1;
	simd_run_add(self->run, 0x1700, SIMD_DO_YIELD)->rounds = 1;
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "initial parts");
}

#ifndef __aarch64__	/* simd_regs_sve.c has its own */

FIXTURE_VARIANT_ADD(values, cpu_xmm)
{
	.scope = SIMD_EACH_CPU,
	.parts = SIMD_MARK_XMM,
};

FIXTURE_VARIANT_ADD(values, cpu_ymm)
{
	.scope = SIMD_EACH_CPU,
	.parts = SIMD_MARK_XMM | SIMD_MARK_YMM,
};

FIXTURE(shapes)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(shapes)
{
	const char *cls;
	unsigned int qwords;
	__u64 intr, user;
	__u32 pred_intr, pred_user;
	__u64 gprs;			/* further ones on both sides */
	bool legacy;			/* XMM by the old bits instead */
	bool precise;			/* which a clock is not, and does not mind */
};

FIXTURE_VARIANT_ADD(shapes, ymm3)
{
	.cls = "ymm",
	.qwords = 4,
	.intr = 1 << 3,
	.user = 1 << 3,
};

FIXTURE_VARIANT_ADD(shapes, ymm0_1_user)
{
	.cls = "ymm",
	.qwords = 4,
	.user = 3,
};

FIXTURE_VARIANT_ADD(shapes, ymm15_intr)
{
	.cls = "ymm",
	.qwords = 4,
	.intr = 1 << 15,
};

FIXTURE_VARIANT_ADD(shapes, ymm_different)
{
	.cls = "ymm",
	.qwords = 4,
	.intr = 0x8421,
	.user = 0x5a5a,
};

FIXTURE_VARIANT_ADD(shapes, xmm_of_ymm)
{
	.cls = "ymm",
	.qwords = 2,
	.intr = 0xffff,
	.user = 0xffff,
};

FIXTURE_VARIANT_ADD(shapes, xmm_of_xmm)
{
	.cls = "xmm",
	.qwords = 2,
	.intr = 0x00f1,
	.user = 0xffff,
};

FIXTURE_VARIANT_ADD(shapes, ymm_gprs)
{
	.cls = "ymm",
	.qwords = 4,
	.intr = 0xff00,
	.user = 0xff,
	.gprs = 0xff0fff,
};

FIXTURE_VARIANT_ADD(shapes, legacy)
{
	.cls = "xmm",
	.legacy = true,
	.intr = 0xffff,
	.user = 0xffff,
};

FIXTURE_VARIANT_ADD(shapes, legacy_some)
{
	.cls = "xmm",
	.legacy = true,
	.intr = 0x8003,
	.user = 0x10,
};

FIXTURE_VARIANT_ADD(shapes, precise)
{
	.cls = "xmm",
	.qwords = 2,
	.intr = 1,
	.user = 1,
	.precise = true,
};

FIXTURE_VARIANT_ADD(shapes, zmm)
{
	.cls = "zmm",
	.qwords = 8,
	.intr = 0xffffffff,
	.user = 0xffffffff,
};

FIXTURE_VARIANT_ADD(shapes, zmm_some)
{
	.cls = "zmm",
	.qwords = 8,
	.intr = 0x80010001,
	.user = 0x00ff0f00,
};

FIXTURE_VARIANT_ADD(shapes, ymm_of_zmm)
{
	.cls = "zmm",
	.qwords = 4,
	.intr = 0xffff,
	.user = 0xffff,
};

FIXTURE_VARIANT_ADD(shapes, opmask)
{
	.cls = "opmask",
	.pred_intr = 0xff,
	.pred_user = 0xff,
};

FIXTURE_VARIANT_ADD(shapes, opmask_ymm)
{
	.cls = "opmask",
	.qwords = 4,
	.intr = 3,
	.user = 3,
	.pred_intr = 0x81,
	.pred_user = 0x18,
};

FIXTURE_VARIANT_ADD(shapes, egprs)
{
	.cls = "egpr",
	.qwords = 2,
	.intr = 1,
	.user = 1,
	.gprs = SIMD_EGPR_REGS,
};

FIXTURE_SETUP(shapes)
{
	const char *refused = simd_run_refused(SIMD_EACH_TASK, false);
	struct perf_event_attr *attr;

	if (refused)
		SKIP(return, "%s", refused);
	self->run = simd_run_new(SIMD_EACH_TASK, false, 0);
	attr = &self->run->attr;
	*attr = simd_clock_attr();
	attr->precise_ip = variant->precise;
	if (variant->legacy) {
		unsigned int reg;

		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		for (reg = 0; reg < 16; reg++) {
			__u64 bits = 3ULL << (PERF_REG_X86_XMM0 + 2 * reg);

			attr->sample_regs_intr |= variant->intr >> reg & 1 ? bits : 0;
			attr->sample_regs_user |= variant->user >> reg & 1 ? bits : 0;
		}
	} else {
		simd_attr_vectors(attr, variant->qwords, variant->intr, variant->user);
	}
	attr->sample_regs_user |= variant->gprs;
	attr->sample_regs_intr |= variant->gprs;
	if (variant->pred_intr | variant->pred_user) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_simd_pred_reg_qwords = 1;
		attr->sample_simd_pred_reg_intr = variant->pred_intr;
		attr->sample_simd_pred_reg_user = variant->pred_user;
	}
	if (attr->sample_regs_intr)
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
}

FIXTURE_TEARDOWN(shapes)
{
	simd_run_free(self->run);
}

/* Any choice of registers comes out as chosen, in user and in kernel mode. */
TEST_F_TIMEOUT(shapes, values, SIMD_TEST_SECONDS)
{
	const struct simd_class *cls = simd_class_find(variant->cls);
	struct simd_worker *w;

	if (!simd_class_supported(cls))
		SKIP(return, "this CPU has no %s", variant->cls);

	w = simd_run_add(self->run, 0x1500, SIMD_DO_SYSCALLS);
	w->cls = cls;
	w->spin = 500;
	self->run->min_samples = 1000;
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, variant->cls);
}

#endif

TEST_HARNESS_MAIN
