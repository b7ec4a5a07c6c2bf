// SPDX-License-Identifier: GPL-2.0
/*
 * Ask the running kernel which vector, predicate and extended general purpose
 * registers it samples: open events that want just one group of them, and see
 * which it takes. It answers for the CPU, for its own configuration and for its
 * age alike. The events are never enabled. What the CPU has is asked separately,
 * to tell the user what a refusal comes from.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "debug.h"
#include "event.h"
#include "perf_regs.h"
#include "pmu.h"
#include "pmus.h"
#include "simd-regs-probe.h"
#include "util.h"
#include "../perf-sys.h"

/* The widest vectors that SVE can have: 2048 bits. */
#define SCALABLE_QWORDS_MAX	32
/* Their width is a multiple of 128 bits. */
#define SCALABLE_QWORDS_STEP	2
/* A predicate has one bit for each byte of a vector. */
#define PRED_QWORDS(vec_qwords)	DIV_ROUND_UP(vec_qwords, 8)

/* No class is halved below this: a 32-bit x86 kernel has 8 XMM registers of 16. */
#define CLASS_NR_MIN		8

/**
 * simd_regs__try_open - ask the kernel whether it accepts an event
 * @attr: of the event, which is closed again and never enabled
 *
 * Events of dynamic PMUs are opened on a CPU if the PMU has no per-task events. An event
 * of a group for an AUX area is opened without what it needs the group for.
 *
 * has_attr_feature() asks in the same way, but does not return the error: E2BIG,
 * EACCES and EOPNOTSUPP lead to different messages here.
 *
 * Returns 0, or the negative error of the first attempt. Leaves errno alone, which
 * can be about another event that the caller has not reported yet.
 */
int simd_regs__try_open(struct perf_event_attr attr)
{
	int fd, err = 0, old_errno = errno;

	attr.disabled = 1;
	attr.enable_on_exec = 0;
	attr.inherit = 0;
	attr.aux_output = 0;
	attr.aux_sample_size = 0;
	attr.aux_action = 0;
	fd = sys_perf_event_open(&attr, /*pid=*/0, /*cpu=*/-1, /*group_fd=*/-1,
				 PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		if (attr.type >= PERF_TYPE_MAX)
			fd = sys_perf_event_open(&attr, /*pid=*/-1, /*cpu=*/0, /*group_fd=*/-1,
						 PERF_FLAG_FD_CLOEXEC);
	}
	if (fd >= 0) {
		close(fd);
		err = 0;
	}
	errno = old_errno;
	return err;
}

/*
 * It is enough if one kind of event can: which kind the user wants to record is
 * not known yet. A machine without a PMU, most virtual ones, still has cpu-clock.
 */
static int try_events(struct perf_event_attr *attr)
{
	struct perf_pmu *pmu;
	int err, hw_err;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	err = simd_regs__try_open(*attr);
	if (!err || err == -E2BIG)
		return err;

	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
	/* The core PMUs of a hybrid machine are expected to have the same registers. */
	if (perf_pmus__num_core_pmus() > 1) {
		pmu = perf_pmus__scan_core(NULL);
		if (pmu)
			attr->config |= (u64)pmu->type << PERF_PMU_TYPE_SHIFT;
	}
	hw_err = simd_regs__try_open(*attr);

	/* If neither can, the event that is always there knows why. */
	return hw_err ? err : 0;
}

static struct perf_event_attr base_attr(uint16_t e_machine, bool intr)
{
	struct perf_event_attr attr = {
		.sample_period			= 1000000,
		.exclude_kernel			= 1,
		.exclude_hv			= 1,
		.sample_simd_regs_enabled	= 1,
	};

	event_attr_init(&attr);
	if (intr) {
		attr.sample_type = PERF_SAMPLE_REGS_INTR;
		attr.sample_regs_intr = 1ULL << perf_arch_reg_ip(e_machine);
	} else {
		attr.sample_type = PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = 1ULL << perf_arch_reg_ip(e_machine);
	}
	return attr;
}

/**
 * simd_regs__try_gprs - ask the kernel for registers of sample_regs_* with the SIMD fields
 * @e_machine: the architecture of this machine
 * @intr: for PERF_SAMPLE_REGS_INTR, else for PERF_SAMPLE_REGS_USER
 * @mask: the registers
 *
 * Returns 0 if a kind of events can sample them, or a negative error.
 */
int simd_regs__try_gprs(uint16_t e_machine, bool intr, u64 mask)
{
	struct perf_event_attr attr = base_attr(e_machine, intr);

	if (intr)
		attr.sample_regs_intr |= mask;
	else
		attr.sample_regs_user |= mask;
	return try_events(&attr);
}

static int try_simd(uint16_t e_machine, bool intr, bool gpr, bool pred, u64 mask, u16 qwords)
{
	struct perf_event_attr attr = base_attr(e_machine, intr);

	if (!gpr) {
		attr.sample_regs_intr = 0;
		attr.sample_regs_user = 0;
	}

	if (pred) {
		attr.sample_simd_pred_reg_qwords = qwords;
		if (intr)
			attr.sample_simd_pred_reg_intr = mask;
		else
			attr.sample_simd_pred_reg_user = mask;
	} else {
		attr.sample_simd_vec_reg_qwords = qwords;
		if (intr)
			attr.sample_simd_vec_reg_intr = mask;
		else
			attr.sample_simd_vec_reg_user = mask;
	}
	return try_events(&attr);
}

static u64 class_mask(const struct simd_class *class, unsigned int nr)
{
	return ((1ULL << nr) - 1) << class->first;
}

/*
 * Whole classes first, and as many registers as possible: subsets of a class
 * are something that not every kernel takes.
 */
static void probe_class(struct simd_regs_caps *caps, size_t idx, const struct simd_class *class,
			uint16_t e_machine, bool intr, u16 qwords)
{
	unsigned int nr = class->nr;
	int err;

	do {
		u64 mask = class_mask(class, nr);

		err = try_simd(e_machine, intr, /*gpr=*/true, class->pred, mask, qwords);
		if (!err) {
			caps->class[idx].mask = mask;
			caps->class[idx].qwords = qwords;
			break;
		}
		nr /= 2;
	} while (err == -EINVAL && nr >= CLASS_NR_MIN);

	caps->class[idx].err = -err;
}

/* Finds the widest vectors that the kernel takes. Returns their width, 0 for none. */
static u16 probe_scalable(struct simd_regs_caps *caps, size_t idx, const struct simd_class *class,
			  uint16_t e_machine, bool intr)
{
	/* No width is worth a try then. */
	if (!(caps->cpu >> class->cpu_bit & 1)) {
		caps->class[idx].err = EOPNOTSUPP;
		return 0;
	}

	for (u16 qwords = SCALABLE_QWORDS_MAX; qwords; qwords -= SCALABLE_QWORDS_STEP) {
		probe_class(caps, idx, class, e_machine, intr, qwords);
		if (caps->class[idx].mask)
			return qwords;
	}
	return 0;
}

static void probe_classes(struct simd_regs_caps *caps, uint16_t e_machine, bool intr)
{
	size_t nr, scalable = SIMD_CLASSES_MAX;
	const struct simd_class *classes = simd_classes(e_machine, &nr);
	bool scalable_pred = false;
	u16 vec_qwords = 0;

	for (size_t i = 0; i < nr; i++) {
		if (classes[i].qwords) {
			probe_class(caps, i, &classes[i], e_machine, intr, classes[i].qwords);
		} else if (!classes[i].pred) {
			scalable = i;
			vec_qwords = probe_scalable(caps, i, &classes[i], e_machine, intr);
		} else if (vec_qwords) {
			probe_class(caps, i, &classes[i], e_machine, intr, PRED_QWORDS(vec_qwords));
			scalable_pred |= !!caps->class[i].mask;
		} else {
			caps->class[i].err = EOPNOTSUPP;
		}
	}

	/*
	 * Vectors of the smallest scalable width look like those of a CPU that
	 * has no others. It has no predicates then.
	 */
	if (scalable < nr && vec_qwords == SCALABLE_QWORDS_STEP && !scalable_pred) {
		caps->class[scalable].mask = 0;
		caps->class[scalable].err = EOPNOTSUPP;
	}
}

static void probe_ext_gprs(struct simd_regs_caps *caps, uint16_t e_machine, bool intr)
{
	const u64 abi = PERF_SAMPLE_REGS_ABI_SIMD, all = simd_ext_gprs(e_machine);

	if (!all)
		return;

	caps->ext_gprs = all & (intr ? perf_intr_reg_mask(e_machine, abi) :
				       perf_user_reg_mask(e_machine, abi));
	if (caps->ext_gprs != all)
		caps->ext_gprs_err = EOPNOTSUPP;
}

/* Mainline's first kernel with the SIMD fields is one that has no parts of a class. */
static void probe_whole_classes(struct simd_regs_caps *caps, uint16_t e_machine, bool intr)
{
	size_t nr;
	const struct simd_class *classes = simd_classes(e_machine, &nr);

	for (size_t i = 0; i < nr; i++) {
		u64 mask = caps->class[i].mask;

		if (hweight64(mask) < 2)
			continue;
		/* All but the lowest. */
		caps->whole_classes = try_simd(e_machine, intr, /*gpr=*/true, classes[i].pred,
					       mask & (mask - 1), caps->class[i].qwords) != 0;
		return;
	}
}

static void probe_needs_gpr(struct simd_regs_caps *caps, uint16_t e_machine, bool intr)
{
	size_t nr;
	const struct simd_class *classes = simd_classes(e_machine, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!caps->class[i].mask)
			continue;
		caps->needs_gpr = try_simd(e_machine, intr, /*gpr=*/false, classes[i].pred,
					   caps->class[i].mask, caps->class[i].qwords) != 0;
		return;
	}
}

static bool simd_regs_caps__any(const struct simd_regs_caps *caps)
{
	u64 any = caps->ext_gprs;

	for (size_t i = 0; i < ARRAY_SIZE(caps->class); i++)
		any |= caps->class[i].mask;
	return any != 0;
}

/**
 * simd_regs__cpu - what the CPU has, whatever the kernel makes of it
 * @e_machine: the architecture of this machine
 *
 * Returns a mask of the CPU_BIT_* of the architecture.
 */
u64 simd_regs__cpu(uint16_t e_machine)
{
	const struct simd_arch *arch = simd_arch(e_machine);

	return arch ? arch->cpu_bits() : ~0ULL;
}

/**
 * simd_regs__probe - find out what the running kernel samples
 * @caps: is filled in
 * @e_machine: the architecture of this machine
 * @intr: for PERF_SAMPLE_REGS_INTR, else for PERF_SAMPLE_REGS_USER
 */
void simd_regs__probe(struct simd_regs_caps *caps, uint16_t e_machine, bool intr)
{
	size_t nr;
	int err;

	memset(caps, 0, sizeof(*caps));
	caps->cpu = simd_regs__cpu(e_machine);

	if (!simd_classes(e_machine, &nr)) {
		caps->err = EOPNOTSUPP;
		return;
	}

	/* The fields as such, without a register that would need them. */
	err = -simd_regs__try_gprs(e_machine, intr, 0);
	if (err != E2BIG && err != EACCES && err != EPERM) {
		probe_ext_gprs(caps, e_machine, intr);
		probe_classes(caps, e_machine, intr);
		probe_whole_classes(caps, e_machine, intr);
		probe_needs_gpr(caps, e_machine, intr);
	}

	/* A kernel can be picky about fields without a register, and yet have some. */
	if (!simd_regs_caps__any(caps))
		caps->err = err ?: EOPNOTSUPP;

	pr_debug2("SIMD registers, %s side: %s\n", intr ? "intr" : "user",
		  caps->err ? strerror(caps->err) : caps->whole_classes ? "whole classes" : "ok");
}
