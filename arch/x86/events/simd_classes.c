// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples, the x86 part: which registers there are, as tables.
 *
 * A register is made of pieces, each of which is in another XSAVE component; a
 * bank is a run of registers stored alike; a class has one or two banks. What an
 * attribute may ask for, and which components that takes, follows from these.
 */
#include <linux/bitops.h>
#include <linux/cpufeature.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/string.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/fpu/xstate.h>

#include "perf_event.h"
#include "simd_regs.h"

/* Registers first..first+nr-1 of a class, stored alike. */
struct simd_bank {
	u8			first;
	u8			nr;
	u8			nr_parts;
	struct perf_simd_part	part[3];
};

struct simd_class {
	u8			qwords;
	u8			nr;
	u8			nr_banks;
	struct simd_bank	bank[2];
};

/* Component, offset of register 0 in it, from one register to the next, bytes */
#define PART_XMM	{ XFEATURE_SSE, 0, 16, 16 }
#define PART_YMMH	{ XFEATURE_YMM, 0, 16, 16 }
#define PART_ZMMH	{ XFEATURE_ZMM_Hi256, 0, 32, 32 }
#define PART_HI16	{ XFEATURE_Hi16_ZMM, 0, 64, 64 }
#define PART_OPMASK	{ XFEATURE_OPMASK, 0, 8, 8 }
#define PART_EGPR	{ XFEATURE_APX, 0, 8, 8 }
#define PART_SSP	{ XFEATURE_CET_USER, offsetof(struct cet_user_state, user_ssp), 8, 8 }
#define PART_XMM_WORD	{ XFEATURE_SSE, 0, 8, 8 }

static const struct simd_class vec_classes[] = {
	{
		.qwords = PERF_X86_XMM_QWORDS, .nr = SIMD_NR_XMM, .nr_banks = 1,
		.bank = { { 0, SIMD_NR_XMM, 1, { PART_XMM } } },
	}, {
		.qwords = PERF_X86_YMM_QWORDS, .nr = SIMD_NR_XMM, .nr_banks = 1,
		.bank = { { 0, SIMD_NR_XMM, 2, { PART_XMM, PART_YMMH } } },
	}, {
		.qwords = PERF_X86_ZMM_QWORDS,
		.nr = PERF_X86_SIMD_ZMM_REGS, .nr_banks = 2,
		.bank = {
			{ 0, 16, 3, { PART_XMM, PART_YMMH, PART_ZMMH } },
			{ 16, 16, 1, { PART_HI16 } },
		},
	},
};

static const struct simd_class pred_classes[] = {
	{
		.qwords = PERF_X86_OPMASK_QWORDS,
		.nr = PERF_X86_SIMD_OPMASK_REGS, .nr_banks = 1,
		.bank = { { 0, PERF_X86_SIMD_OPMASK_REGS, 1, { PART_OPMASK } } },
	},
};

/* Those that are words of sample_regs_*. */
static const struct simd_class egpr_class = {
	.nr = 16, .nr_banks = 1,
	.bank = { { 0, 16, 1, { PART_EGPR } } },
};

static const struct simd_class ssp_class = {
	.nr = 1, .nr_banks = 1,
	.bank = { { 0, 1, 1, { PART_SSP } } },
};

/* The older way to ask for XMM registers: each word of them has a bit. */
static const struct simd_class xmm_word_class = {
	.nr = 2 * SIMD_NR_XMM, .nr_banks = 1,
	.bank = { { 0, 2 * SIMD_NR_XMM, 1, { PART_XMM_WORD } } },
};

static const struct simd_class *
find_class(const struct simd_class *class, unsigned int nr, u16 qwords)
{
	for (; nr; class++, nr--) {
		if (class->qwords == qwords)
			return class;
	}

	return NULL;
}

/* Registers of a class that one side of an event asks for. */
struct simd_request {
	const struct simd_class	*class;		/* NULL: there is no such class */
	u64			mask;
};

enum { REQ_EGPR, REQ_SSP, REQ_VEC, REQ_PRED, NR_REQS };

/* sample_regs_* of a side, 0 if it is not sampled at all. */
static u64 sampled_regs(const struct perf_event_attr *attr, enum perf_simd_side side)
{
	if (side == PERF_SIMD_USER)
		return attr->sample_type & PERF_SAMPLE_REGS_USER ? attr->sample_regs_user : 0;

	return attr->sample_type & PERF_SAMPLE_REGS_INTR ? attr->sample_regs_intr : 0;
}

static void get_requests(const struct perf_event_attr *attr, enum perf_simd_side side,
			 struct simd_request *req)
{
	bool user = side == PERF_SIMD_USER;
	u64 regs = sampled_regs(attr, side);

	memset(req, 0, NR_REQS * sizeof(*req));

	if (!attr->sample_simd_regs_enabled) {
		req[0].class = &xmm_word_class;
		req[0].mask = regs >> PERF_REG_X86_XMM0;
		return;
	}

	req[REQ_EGPR].class = &egpr_class;
	req[REQ_EGPR].mask = (regs & SIMD_EGPRS) >> PERF_REG_X86_R16;
	req[REQ_SSP].class = &ssp_class;
	req[REQ_SSP].mask = (regs & SIMD_SSP) >> PERF_REG_X86_SSP;
	req[REQ_VEC].class = find_class(vec_classes, ARRAY_SIZE(vec_classes),
					attr->sample_simd_vec_reg_qwords);
	req[REQ_VEC].mask = user ? attr->sample_simd_vec_reg_user :
				   attr->sample_simd_vec_reg_intr;
	req[REQ_PRED].class = find_class(pred_classes, ARRAY_SIZE(pred_classes),
					 attr->sample_simd_pred_reg_qwords);
	req[REQ_PRED].mask = user ? attr->sample_simd_pred_reg_user :
				    attr->sample_simd_pred_reg_intr;
}

static u32 bank_mask(const struct simd_bank *bank, u64 mask)
{
	return (mask >> bank->first) & GENMASK_ULL(bank->nr - 1, 0);
}

static u64 request_state(const struct simd_request *req)
{
	const struct simd_bank *bank;
	u64 state = 0;
	int i, part;

	for (i = 0; req->class && i < req->class->nr_banks; i++) {
		bank = &req->class->bank[i];
		for (part = 0; bank_mask(bank, req->mask) && part < bank->nr_parts; part++)
			state |= BIT_ULL(bank->part[part].source);
	}

	return state;
}

/* The components that hold words of sample_regs_* */
static u64 ext_state(const struct simd_request *req, const struct perf_event_attr *attr)
{
	if (!attr->sample_simd_regs_enabled)
		return request_state(&req[0]);

	return request_state(&req[REQ_EGPR]) | request_state(&req[REQ_SSP]);
}

/**
 * simd_wanted_state - the XSAVE components that hold what a side asks for
 * @attr: an event's attribute
 * @side: which side
 *
 * Return: their mask, 0 if pt_regs has everything.
 */
u64 simd_wanted_state(const struct perf_event_attr *attr, enum perf_simd_side side)
{
	struct simd_request req[NR_REQS];
	u64 state = 0;
	int i;

	get_requests(attr, side, req);
	for (i = 0; i < NR_REQS; i++)
		state |= request_state(&req[i]);

	return state;
}

/* The components that registers of these classes are in */
#define SIMD_STATE	(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM | XFEATURE_MASK_OPMASK | \
			 XFEATURE_MASK_ZMM_Hi256 | XFEATURE_MASK_Hi16_ZMM | \
			 XFEATURE_MASK_APX | XFEATURE_MASK_CET_USER)

/* Those of them that tasks have on this machine. */
static u64 supported_state(void)
{
	u64 state = 0;

	if (cpu_feature_enabled(X86_FEATURE_XSAVE))
		state = fpu_kernel_cfg.default_features & SIMD_STATE;

	if (!IS_ENABLED(CONFIG_X86_64))
		state &= XFEATURE_MASK_SSE | XFEATURE_MASK_YMM;
	if (!cpu_feature_enabled(X86_FEATURE_USER_SHSTK))
		state &= ~XFEATURE_MASK_CET_USER;

	return state;
}

static int validate_side(const struct perf_event_attr *attr,
			 enum perf_simd_side side)
{
	u64 gprs = sampled_regs(attr, side) & ~(SIMD_EGPRS | SIMD_SSP);
	struct simd_request req[NR_REQS];
	int i;

	get_requests(attr, side, req);
	for (i = 0; i < NR_REQS; i++) {
		if (req[i].mask && (!req[i].class || fls64(req[i].mask) > req[i].class->nr))
			return -EINVAL;
	}

	if (gprs >> PERF_REG_X86_64_MAX || (gprs && perf_reg_validate(gprs)))
		return -EINVAL;

	return 0;
}

/**
 * arch_perf_simd_regs_validate - check what perf_simd_regs_validate() can't
 * @attr: an attribute with sample_simd_regs_enabled, sound as far as the
 *	architecture does not matter
 *
 * Return: 0, -EINVAL for registers that x86 does not have, -EOPNOTSUPP for
 * those that this CPU or kernel does not have.
 */
int arch_perf_simd_regs_validate(const struct perf_event_attr *attr)
{
	enum perf_simd_side side;
	u64 state = 0;
	int ret;

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		ret = validate_side(attr, side);
		if (ret)
			return ret;

		state |= simd_wanted_state(attr, side);
	}

	return state & ~supported_state() ? -EOPNOTSUPP : 0;
}

/* Does the PMU record the registers, so that they are not looked for elsewhere? */
static bool is_precise(struct perf_event *event)
{
	return event->attr.precise_ip && event->pmu && is_x86_event(event);
}

/* Does it ask for XMM registers in the older way, and only for those that exist? */
static bool asks_for_xmm_words(const struct perf_event_attr *attr)
{
	u64 words = (sampled_regs(attr, PERF_SIMD_USER) |
		     sampled_regs(attr, PERF_SIMD_INTR)) >> PERF_REG_X86_XMM0;

	return words && fls64(words) <= xmm_word_class.nr;
}

/**
 * arch_perf_wants_simd_regs - are an event's registers to be found here?
 * @event: the event, its attribute valid and its PMU known
 *
 * XMM registers that are asked for in the older way are, unless the event is
 * precise: those come with the PEBS record.
 */
bool arch_perf_wants_simd_regs(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->sample_simd_regs_enabled)
		return true;

	return !is_precise(event) && supported_state() && asks_for_xmm_words(attr);
}

static void add_request(struct perf_simd_layout *layout, const struct simd_request *req)
{
	const struct simd_bank *bank;
	int i;

	for (i = 0; req->class && i < req->class->nr_banks; i++) {
		bank = &req->class->bank[i];
		perf_simd_add_regs(layout, bank_mask(bank, req->mask),
				   bank->part, bank->nr_parts);
	}
}

/* In the order of a sample. */
static void lay_out(const struct simd_request *req, struct perf_simd_layout *layout)
{
	const struct simd_request *vec = &req[REQ_VEC], *pred = &req[REQ_PRED];

	add_request(layout, &req[REQ_EGPR]);
	add_request(layout, &req[REQ_SSP]);
	if (!vec->mask && !pred->mask)
		return;

	perf_simd_add_head(layout,
			   hweight64(vec->mask), vec->class ? vec->class->qwords : 0,
			   hweight64(pred->mask), pred->class ? pred->class->qwords : 0);
	add_request(layout, vec);
	add_request(layout, pred);
}

/*
 * The levels at which the PMUs of the CPU take samples: in their NMI, or in Xen's
 * interrupt. PEBS records are drained whenever an event is read or scheduled, too.
 */
static unsigned int sample_levels(const struct perf_event *event,
				  const struct perf_simd_event *simd)
{
	if (!event->pmu || event->pmu->task_ctx_nr != perf_hw_context || simd->precise)
		return 0;

	return BIT(PERF_SIMD_NMI) |
	       (cpu_feature_enabled(X86_FEATURE_XENPV) ? BIT(PERF_SIMD_HARDIRQ) : 0);
}

/**
 * arch_perf_simd_regs_init_event - work out what an event's samples need
 * @event: the event
 * @simd: zeroed; gets the components and the layout of each side, which
 *	sample_regs_* are not in pt_regs, and how the event is sampled
 */
void arch_perf_simd_regs_init_event(struct perf_event *event,
				    struct perf_simd_event *simd)
{
	const struct perf_event_attr *attr = &event->attr;
	struct simd_request req[NR_REQS];
	enum perf_simd_side side;

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		simd->state[side] = simd_wanted_state(attr, side);
		get_requests(attr, side, req);
		simd->ext_state[side] = ext_state(req, attr);
		lay_out(req, &simd->layout[side]);
	}

	simd->precise = is_precise(event);
	simd->levels = sample_levels(event, simd);

	simd->ext_regs = attr->sample_simd_regs_enabled ? SIMD_EGPRS | SIMD_SSP :
							  PERF_REG_EXTENDED_MASK;
}

/**
 * arch_perf_simd_regs_size - size of the state of a struct perf_simd_buf
 *
 * Return: bytes, enough for all components that an event can ask for; 0 on a
 * CPU without XSAVE, where an event can have the numbering and nothing else.
 */
size_t arch_perf_simd_regs_size(void)
{
	u64 state = supported_state();

	if (!state)
		return 0;

	return xstate_calculate_size(state,
				     cpu_feature_enabled(X86_FEATURE_XCOMPACTED));
}
