// SPDX-License-Identifier: GPL-2.0
/*
 * The SIMD fields of perf_event_attr in a recording: filled in from what the
 * user asked for, and given up for the older way to sample XMM registers where
 * that is the only one.
 */
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "debug.h"
#include "dwarf-regs.h"
#include "evsel.h"
#include "perf_regs.h"
#include "record.h"
#include "reg-list.h"
#include "sample-regs.h"
#include "simd-regs.h"
#include "simd-regs-attr.h"
#include "simd-regs-probe.h"

/**
 * record_opts__has_regs - whether registers have been asked for
 * @opts: of the recording
 * @intr: on the interrupt side, else on the user side
 */
bool record_opts__has_regs(const struct record_opts *opts, bool intr)
{
	const struct simd_regs_request *simd = &opts->simd_regs;

	if (intr)
		return opts->sample_intr_regs || simd->vec_intr || simd->pred_intr;
	return opts->sample_user_regs || simd->vec_user || simd->pred_user;
}

/**
 * record_opts__add_regs - ask for registers in all events of a recording
 * @opts: of the recording
 * @list: the registers
 * @intr: on the interrupt side, else on the user side
 *
 * Both sides share a width, that of the widest class on any of them, or that of the
 * vectors which their predicates are for.
 */
void record_opts__add_regs(struct record_opts *opts, const struct reg_list *list, bool intr)
{
	struct simd_regs_request *simd = &opts->simd_regs;

	if (intr) {
		opts->sample_intr_regs = list->regs;
		simd->vec_intr = list->vec;
		simd->pred_intr = list->pred;
	} else {
		opts->sample_user_regs = list->regs;
		simd->vec_user = list->vec;
		simd->pred_user = list->pred;
	}
	if (list->vec_qwords > simd->vec_qwords)
		simd->whole_vec = list->whole_vec;
	simd->whole_pred |= list->whole_pred;
	simd->vec_qwords = max(simd->vec_qwords, list->vec_qwords);
	simd->pred_qwords = max(simd->pred_qwords, list->pred_qwords);
	simd->min_vec_qwords = max(simd->min_vec_qwords, list->min_vec_qwords);
	if (simd->vec_intr || simd->vec_user)
		simd->vec_qwords = max(simd->vec_qwords, simd->min_vec_qwords);
	simd->enabled |= list->vec || list->pred || list->ext_gprs;
}

/**
 * record_opts__clear_regs - ask for no registers after all
 * @opts: of the recording
 * @intr: on the interrupt side, else on the user side
 *
 * The other side keeps the width that both have had.
 */
void record_opts__clear_regs(struct record_opts *opts, bool intr)
{
	struct simd_regs_request *simd = &opts->simd_regs;
	bool vec, pred;

	if (intr) {
		opts->sample_intr_regs = 0;
		simd->vec_intr = 0;
		simd->pred_intr = 0;
		simd->precise_xmm = 0;
	} else {
		opts->sample_user_regs = 0;
		simd->vec_user = 0;
		simd->pred_user = 0;
	}

	/* A width goes with a mask. */
	vec = simd->vec_intr || simd->vec_user;
	pred = simd->pred_intr || simd->pred_user;
	if (!vec)
		simd->vec_qwords = 0;
	if (!pred) {
		simd->pred_qwords = 0;
		simd->min_vec_qwords = 0;
	}
	if (!vec && !pred)
		simd->enabled &= !!((opts->sample_intr_regs | opts->sample_user_regs) &
				    simd_ext_gprs(EM_HOST));
}

/* The mask to ask a kernel for that takes whole classes only; @whole is 0 for others. */
static u64 whole_class(u64 mask, u64 whole)
{
	return mask ? mask | whole : 0;
}

/**
 * evsel__config_sample_regs - fill in the attr's fields for registers
 * @evsel: the event
 * @opts: of the recording
 */
void evsel__config_sample_regs(struct evsel *evsel, const struct record_opts *opts)
{
	const struct simd_regs_request *simd = &opts->simd_regs;
	struct perf_event_attr *attr = &evsel->core.attr;

	if (record_opts__has_regs(opts, /*intr=*/true)) {
		attr->sample_regs_intr = opts->sample_intr_regs;
		evsel__set_sample_bit(evsel, REGS_INTR);
	}

	if (record_opts__has_regs(opts, /*intr=*/false)) {
		attr->sample_regs_user |= opts->sample_user_regs;
		evsel__set_sample_bit(evsel, REGS_USER);
	}

	if (!simd->enabled) {
		/* -I alone has always had them in precise events of CPUs with adaptive PEBS. */
		if (attr->precise_ip || evsel->precise_max) {
			attr->sample_regs_intr |= simd->precise_xmm;
			evsel->optional_regs = simd->precise_xmm;
		}
		return;
	}

	/* Their bits mean other registers now. */
	if (simd->precise_xmm && (attr->precise_ip || evsel->precise_max))
		pr_warning_once("WARNING: -I without a list samples no XMM registers if --user-regs names SIMD or extended registers; name them, e.g. -Iip,xmm.\n");

	attr->sample_simd_regs_enabled = 1;
	attr->sample_simd_vec_reg_qwords = simd->vec_qwords;
	attr->sample_simd_vec_reg_intr = whole_class(simd->vec_intr, simd->whole_vec);
	attr->sample_simd_vec_reg_user = whole_class(simd->vec_user, simd->whole_vec);
	attr->sample_simd_pred_reg_qwords = simd->pred_qwords;
	attr->sample_simd_pred_reg_intr = whole_class(simd->pred_intr, simd->whole_pred);
	attr->sample_simd_pred_reg_user = whole_class(simd->pred_user, simd->whole_pred);
}

/* Vectors of this class at the interrupt, and nothing else that needs the SIMD fields. */
static bool attr__wants_just(const struct perf_event_attr *attr, const struct simd_class *class,
			     uint16_t e_machine)
{
	return attr->sample_simd_regs_enabled &&
	       attr->sample_simd_vec_reg_qwords == class->qwords &&
	       attr->sample_simd_vec_reg_intr &&
	       !attr->sample_simd_vec_reg_user &&
	       !attr->sample_simd_pred_reg_qwords &&
	       !((attr->sample_regs_intr | attr->sample_regs_user) & simd_ext_gprs(e_machine));
}

/**
 * evsel__simd_regs_fallback - change an event that the kernel has refused
 * @evsel: the event
 * @err: what sys_perf_event_open() returned, negative
 *
 * A kernel can have XMM registers from the hardware's record for precise events
 * and know only the older way to ask for them there. Rather take that than to
 * make the event less precise.
 *
 * Returns true if it is worth another try.
 */
bool evsel__simd_regs_fallback(struct evsel *evsel, int err)
{
	struct perf_event_attr *attr = &evsel->core.attr;
	const struct simd_arch *arch = simd_arch(EM_HOST);
	u64 bits;

	if (err != -EOPNOTSUPP || !attr->precise_ip)
		return false;
	if (!arch || !arch->legacy_class || !attr__wants_just(attr, arch->legacy_class, EM_HOST))
		return false;

	bits = simd_legacy_bits(EM_HOST, attr->sample_simd_vec_reg_intr);
	if (bits & ~perf_intr_reg_mask(EM_HOST, /*abi=*/0))
		return false;

	attr->sample_regs_intr |= bits;
	perf_event_attr__clear_simd_regs(attr);

	pr_debug2("%s: asking for %s registers without the SIMD fields\n", evsel__name(evsel),
		  arch->legacy_class->name);
	return true;
}

/**
 * evsel__drop_optional_regs - retry without the XMM registers that -I alone adds
 * @evsel: the event
 * @err: what sys_perf_event_open() returned, negative
 *
 * Not every event of a PMU can be precise, and only precise events have them
 * on every kernel.
 *
 * Returns true if the event is worth another try.
 */
bool evsel__drop_optional_regs(struct evsel *evsel, int err)
{
	if (!evsel->optional_regs || (err != -EINVAL && err != -EOPNOTSUPP))
		return false;

	evsel->core.attr.sample_regs_intr &= ~evsel->optional_regs;
	evsel->optional_regs = 0;
	pr_debug2("%s: not asking for XMM registers\n", evsel__name(evsel));
	return true;
}

/**
 * simd_regs__warn_dwarf - tell who wants DWARF callchains what they can't have
 * @e_machine: the architecture of this machine
 *
 * The unwinder's library has no numbers for R16 to R31. To sample them would not
 * help it, and cost the other registers where these are not known. Few programs
 * have such functions: it is no warning.
 */
void simd_regs__warn_dwarf(uint16_t e_machine)
{
	const struct simd_arch *arch = simd_arch(e_machine);

	for (size_t i = 0; arch && i < arch->nr_ext_gprs; i++) {
		const struct simd_ext_gprs *gprs = &arch->ext_gprs[i];

		if (gprs->frame_base && simd_regs__cpu(e_machine) >> gprs->cpu_bit & 1)
			pr_debug("--call-graph=dwarf cannot unwind functions that use %s as frame base.\n",
				 gprs->feature);
	}
}
