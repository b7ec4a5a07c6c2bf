// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in PEBS records: which events can have theirs from there, what
 * the hardware is told to record for them, and where it is in a record.
 *
 * Adaptive PEBS has the XMM registers, as one group for all events of a CPU.
 * Architectural PEBS has a group for each XSAVE component, which each counter
 * selects, and the shadow stack pointer among the general purpose registers.
 *
 * A sample's interrupt side comes from the record or not at all, so an event
 * whose PMU cannot record it is refused. The user side can be had without the
 * record. It is recorded as well if it can be as a whole; then it is exact where
 * user mode was hit, and the records may wait in the buffer unless SSP is asked
 * for.
 *
 * Nothing is copied. The record stays in the buffer until the sample is written.
 */
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>

#include <asm/fpu/types.h>
#include <asm/msr-index.h>
#include <asm/shstk.h>

#include "../perf_event.h"
#include "../simd_regs.h"
#include "pebs_record.h"
#include "pebs_simd.h"

/* The components that the records of a PMU can have. */
static u64 recordable_state(struct pmu *pmu)
{
	u64 caps, state = 0;
	int i;

	if (x86_pmu.ds_pebs && x86_pmu.intel_cap.pebs_baseline)
		return XFEATURE_MASK_SSE;
	if (!x86_pmu.arch_pebs)
		return 0;

	caps = hybrid(pmu, arch_pebs_cap).caps;
	for (i = 0; i < ARRAY_SIZE(arch_pebs_xer); i++) {
		if (caps & arch_pebs_xer[i].format)
			state |= BIT_ULL(arch_pebs_xer[i].xfeature);
	}
	if (caps & ARCH_PEBS_GPR)
		state |= XFEATURE_MASK_CET_USER;

	return state;
}

static bool is_recordable(struct perf_event *event, enum perf_simd_side side)
{
	return !(simd_wanted_state(&event->attr, side) & ~recordable_state(event->pmu));
}

/* The components that the records of an event shall have. */
static u64 recorded_state(struct perf_event *event)
{
	u64 state;

	if (!event->simd)
		return 0;

	state = event->simd->state[PERF_SIMD_INTR];
	if (event->hw.flags & PERF_X86_EVENT_PEBS_SIMD_USER)
		state |= event->simd->state[PERF_SIMD_USER];

	return state;
}

/**
 * intel_pebs_can_sample_simd - can a precise event have its SIMD registers?
 * @event: a precise event that is being opened, and has SIMD registers
 *
 * Records that go to Intel PT never become samples of the kernel's. If so, the
 * event's flags say whether the user side is recorded too: that takes a while to
 * find out, and is asked whenever the event is enabled.
 */
bool intel_pebs_can_sample_simd(struct perf_event *event)
{
	if (event->attr.aux_output || !is_recordable(event, PERF_SIMD_INTR))
		return false;

	if (is_recordable(event, PERF_SIMD_USER))
		event->hw.flags |= PERF_X86_EVENT_PEBS_SIMD_USER;

	return true;
}

/**
 * intel_pebs_simd_can_wait - is all of a side still there when records are old?
 * @event: a precise event that is being opened, and has SIMD registers
 * @side: which side
 *
 * What is not recorded is found when a sample is taken, which has to be at once. So
 * is whether the task has a shadow stack, which it can change.
 */
bool intel_pebs_simd_can_wait(struct perf_event *event, enum perf_simd_side side)
{
	return is_recordable(event, side) &&
	       !(simd_wanted_state(&event->attr, side) & XFEATURE_MASK_CET_USER);
}

/**
 * intel_pebs_simd_data_cfg - groups of adaptive PEBS that an event needs
 * @event: a precise event
 *
 * Return: bits of PEBS_DATA_CFG.
 */
u64 intel_pebs_simd_data_cfg(struct perf_event *event)
{
	return recorded_state(event) & XFEATURE_MASK_SSE ? PEBS_DATACFG_XMMS : 0;
}

/**
 * intel_pebs_simd_cfg_c - groups of architectural PEBS that an event needs
 * @event: a precise event
 *
 * Return: bits of the counter's CFG_C.
 */
u64 intel_pebs_simd_cfg_c(struct perf_event *event)
{
	u64 state = recorded_state(event);
	u64 cfg = 0;
	int i;

	if (!state)
		return 0;

	for (i = 0; i < ARRAY_SIZE(arch_pebs_xer); i++) {
		if (state & BIT_ULL(arch_pebs_xer[i].xfeature))
			cfg |= arch_pebs_xer[i].format;
	}
	if (state & XFEATURE_MASK_CET_USER)
		cfg |= ARCH_PEBS_GPR;

	return cfg;
}

static void add_component(struct perf_simd_record *record, int xfeature, const void *at)
{
	record->component[xfeature] = at;
	record->state |= BIT_ULL(xfeature);
}

/**
 * adaptive_pebs_find_simd - find the SIMD registers of an adaptive record
 * @at: the record, measured by adaptive_pebs_measure()
 * @record: gets what there is, in addition to what it has
 */
void adaptive_pebs_find_simd(const void *at, struct perf_simd_record *record)
{
	const struct pebs_basic *basic = at;

	if (!(basic->format_group & PEBS_DATACFG_XMMS))
		return;

	at += sizeof(*basic);
	if (basic->format_group & PEBS_DATACFG_MEMINFO)
		at += sizeof(struct pebs_meminfo);
	if (basic->format_group & PEBS_DATACFG_GP)
		at += sizeof(struct pebs_gprs);

	add_component(record, XFEATURE_SSE, at);
}

/*
 * The instruction that was hit can be a system call. Then the registers are those
 * after it, and the shadow stack is no longer that of the user.
 *
 * Without a shadow stack the task's SSP is 0, as XSAVE has it. The record has the
 * register, in which can be what another task has left there.
 */
static void add_ssp(struct perf_simd_record *record, const struct arch_pebs_gprs *gprs,
		    bool shstk)
{
	const void *cet = (void *)&gprs->ssp - offsetof(struct cet_user_state, user_ssp);

	if (!kernel_ip(gprs->ip))
		add_component(record, XFEATURE_CET_USER, shstk ? cet : NULL);
}

static void find_in_fragment(const struct arch_pebs_header *header, bool shstk,
			     struct perf_simd_record *record)
{
	const struct arch_pebs_gprs *gprs;
	const void *at = header + 1;
	int i;

	if (header->basic)
		at += sizeof(struct arch_pebs_basic);
	if (header->aux)
		at += sizeof(struct arch_pebs_aux);
	if (header->gpr) {
		gprs = at;
		add_ssp(record, gprs, shstk);
		at += sizeof(*gprs);
	}

	at += sizeof(struct arch_pebs_xer_header);
	for (i = 0; i < ARRAY_SIZE(arch_pebs_xer); i++) {
		if (!(header->format & arch_pebs_xer[i].format))
			continue;
		add_component(record, arch_pebs_xer[i].xfeature, at);
		at += arch_pebs_xer[i].bytes;
	}
}

/**
 * arch_pebs_find_simd - find the SIMD registers of an architectural record
 * @at: the record, measured by arch_pebs_record_bytes()
 * @shstk: the task that was hit has a shadow stack
 * @record: gets what there is, in addition to what it has
 */
void arch_pebs_find_simd(const void *at, bool shstk, struct perf_simd_record *record)
{
	const struct arch_pebs_header *header;

	do {
		header = at;
		find_in_fragment(header, shstk, record);
		at += header->size;
	} while (arch_pebs_record_continued(header));
}

/**
 * intel_pebs_simd_sample - take a sample whose SIMD registers are in a record
 * @event: a precise event that has SIMD registers
 * @data: the sample
 * @regs: registers of the interrupted context, from the record
 * @at: the record, can be NULL
 * @pmi: the record is drained by its interrupt, not some time later
 * @sample: what takes the sample: perf_event_output() or perf_event_overflow()
 *
 * Context: that of draining the records.
 * Return: what @sample returned.
 */
int intel_pebs_simd_sample(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs, const void *at, bool pmi,
			   pebs_sample_fn sample)
{
	const struct perf_simd_record *old;
	struct perf_simd_record record;
	int ret;

	record.state = 0;
	record.fresh = pmi && !(event->hw.flags & PERF_X86_EVENT_LARGE_PEBS);
	/*
	 * Records are drained before another task runs: current was hit. Those
	 * with SSP do not wait: its shadow stack is as it was then.
	 */
	if (at && x86_pmu.arch_pebs)
		arch_pebs_find_simd(at, shstk_is_enabled(), &record);
	else if (at && x86_pmu.intel_cap.pebs_baseline)
		adaptive_pebs_find_simd(at, &record);

	old = perf_simd_regs_set_record(&record);
	ret = sample(event, data, regs);
	perf_simd_regs_set_record(old);

	return ret;
}
