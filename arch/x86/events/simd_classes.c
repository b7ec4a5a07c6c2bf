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

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/fpu/xstate.h>

#include "simd_regs.h"

#define PIECE_XMM	{ XFEATURE_SSE, 16 }
#define PIECE_YMMH	{ XFEATURE_YMM, 16 }
#define PIECE_ZMMH	{ XFEATURE_ZMM_Hi256, 32 }
#define PIECE_HI16	{ XFEATURE_Hi16_ZMM, 64 }
#define PIECE_OPMASK	{ XFEATURE_OPMASK, 8 }

static const struct perf_simd_class vec_classes[] = {
	{
		.qwords = PERF_X86_SIMD_XMM_QWORDS, .nr = SIMD_NR_XMM, .nr_banks = 1,
		.bank = { { 0, SIMD_NR_XMM, 1, { PIECE_XMM } } },
	}, {
		.qwords = PERF_X86_SIMD_YMM_QWORDS, .nr = SIMD_NR_XMM, .nr_banks = 1,
		.bank = { { 0, SIMD_NR_XMM, 2, { PIECE_XMM, PIECE_YMMH } } },
	}, {
		.qwords = PERF_X86_SIMD_ZMM_QWORDS,
		.nr = PERF_X86_SIMD_ZMM_REGS, .nr_banks = 2,
		.bank = {
			{ 0, 16, 3, { PIECE_XMM, PIECE_YMMH, PIECE_ZMMH } },
			{ 16, 16, 1, { PIECE_HI16 } },
		},
	},
};

static const struct perf_simd_class pred_classes[] = {
	{
		.qwords = PERF_X86_SIMD_OPMASK_QWORDS,
		.nr = PERF_X86_SIMD_OPMASK_REGS, .nr_banks = 1,
		.bank = { { 0, PERF_X86_SIMD_OPMASK_REGS, 1, { PIECE_OPMASK } } },
	},
};

const struct simd_bank simd_egpr_bank = {
	0, 16, 1, { { XFEATURE_APX, sizeof(u64) } },
};

/* The older way to ask for XMM registers: each word of them has a bit. */
const struct simd_bank simd_xmm_word_bank = {
	0, 2 * PERF_X86_SIMD_XMM_REGS, 1, { { XFEATURE_SSE, sizeof(u64) } },
};

/* What one side of an event asks for. */
struct simd_request {
	u64				regs;
	u64				vec;
	u64				pred;
	const struct perf_simd_class	*vec_class;
	const struct perf_simd_class	*pred_class;
};

static const struct perf_simd_class *
find_class(const struct perf_simd_class *class, unsigned int nr, u16 qwords)
{
	for (; nr; class++, nr--) {
		if (class->qwords == qwords)
			return class;
	}

	return NULL;
}

static const struct perf_simd_class *find_vec_class(const struct perf_event_attr *attr)
{
	return find_class(vec_classes, ARRAY_SIZE(vec_classes),
			  attr->sample_simd_vec_reg_qwords);
}

static const struct perf_simd_class *find_pred_class(const struct perf_event_attr *attr)
{
	return find_class(pred_classes, ARRAY_SIZE(pred_classes),
			  attr->sample_simd_pred_reg_qwords);
}

static void get_request(const struct perf_event_attr *attr,
			enum perf_simd_side side, struct simd_request *req)
{
	bool user = side == PERF_SIMD_USER;

	*req = (struct simd_request) {};

	if (!(attr->sample_type & (user ? PERF_SAMPLE_REGS_USER : PERF_SAMPLE_REGS_INTR)))
		return;

	req->regs = user ? attr->sample_regs_user : attr->sample_regs_intr;
	req->vec = user ? attr->sample_simd_vec_reg_user :
			  attr->sample_simd_vec_reg_intr;
	req->pred = user ? attr->sample_simd_pred_reg_user :
			   attr->sample_simd_pred_reg_intr;
	req->vec_class = find_vec_class(attr);
	req->pred_class = find_pred_class(attr);
}

static u64 bank_state(const struct simd_bank *bank, u64 mask)
{
	u64 state = 0;
	int i;

	if (simd_bank_mask(bank, mask)) {
		for (i = 0; i < bank->nr_pieces; i++)
			state |= BIT_ULL(bank->piece[i].xfeature);
	}

	return state;
}

static u64 class_state(const struct perf_simd_class *class, u64 mask)
{
	u64 state = 0;
	int i;

	for (i = 0; class && i < class->nr_banks; i++)
		state |= bank_state(&class->bank[i], mask);

	return state;
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
	struct simd_request req;
	u64 state;

	get_request(attr, side, &req);

	if (!attr->sample_simd_regs_enabled)
		return bank_state(&simd_xmm_word_bank, req.regs >> PERF_REG_X86_XMM0);

	state = class_state(req.vec_class, req.vec) |
		class_state(req.pred_class, req.pred) |
		bank_state(&simd_egpr_bank, req.regs >> PERF_REG_X86_R16);
	if (req.regs & SIMD_SSP)
		state |= XFEATURE_MASK_CET_USER;

	return state;
}

/* The components that tasks have on this machine. */
static u64 supported_state(void)
{
	u64 state = 0;

	if (cpu_feature_enabled(X86_FEATURE_XSAVE))
		state = fpu_kernel_cfg.default_features;

	if (!IS_ENABLED(CONFIG_X86_64))
		state &= XFEATURE_MASK_SSE | XFEATURE_MASK_YMM;
	if (!cpu_feature_enabled(X86_FEATURE_USER_SHSTK))
		state &= ~XFEATURE_MASK_CET_USER;

	return state;
}

static int validate_side(const struct perf_event_attr *attr,
			 enum perf_simd_side side)
{
	struct simd_request req;
	u64 gprs;

	get_request(attr, side, &req);

	if (req.vec && (!req.vec_class || fls64(req.vec) > req.vec_class->nr))
		return -EINVAL;
	if (req.pred && (!req.pred_class || fls64(req.pred) > req.pred_class->nr))
		return -EINVAL;

	gprs = req.regs & ~(SIMD_EGPRS | SIMD_SSP);
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

/**
 * arch_perf_wants_simd_regs - are an event's registers to be found here?
 * @attr: the event's attribute
 *
 * XMM registers that are asked for in the older way are, unless the event is
 * precise: those come with the PEBS record.
 */
bool arch_perf_wants_simd_regs(const struct perf_event_attr *attr)
{
	if (attr->sample_simd_regs_enabled)
		return true;

	return !attr->precise_ip && supported_state() &&
	       (attr->sample_regs_user | attr->sample_regs_intr) & PERF_REG_EXTENDED_MASK;
}

/**
 * arch_perf_simd_regs_init_event - work out what an event's samples need
 * @attr: the event's attribute
 * @simd: gets the components for each side, the classes of registers, and which
 *	sample_regs_* are not in pt_regs
 */
void arch_perf_simd_regs_init_event(const struct perf_event_attr *attr,
				    struct perf_simd_event *simd)
{
	enum perf_simd_side side;

	for (side = 0; side < PERF_SIMD_SIDES; side++)
		simd->state[side] = simd_wanted_state(attr, side);

	simd->vec_class = find_vec_class(attr);
	simd->pred_class = find_pred_class(attr);
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
