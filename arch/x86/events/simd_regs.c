// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples, the x86 part: finds a source that can be trusted
 * and describes where in it the registers are.
 *
 * Where current's user state is. All of it is read by an NMI or interrupt on
 * the CPU that runs current, and written in an order to suit that:
 *
 *	fpu->__task_fpstate set	  there: the registers and fpu->fpstate are a
 *				  KVM guest's
 *	TIF_NEED_FPU_LOAD clear	  in the registers
 *	fpu->in_flux set	  nowhere: fpu->fpstate is being rewritten
 *	else			  in fpu->fpstate
 *
 * What each side of a sample shows:
 *
 *	user			  current's user state, if it has one
 *	intr, hit in user mode	  the same
 *	intr, hit in the kernel	  the registers, if they hold current's user
 *				  state; or if the kernel uses the FPU, the
 *				  event may see that, and what the kernel has
 *				  not overwritten is current's. After a context
 *				  switch they can still be the previous task's:
 *				  then nothing.
 *
 * Both formats of XSAVE are understood. A component that XSTATE_BV does not
 * have is in its initial state, all zeros, which is as good as any other.
 */
#include <linux/bitops.h>
#include <linux/cpufeature.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/sched.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/fpu/xstate.h>

/* A piece of a register: its component, and its size in a sample. */
struct simd_piece {
	u8	xfeature;
	u8	bytes;
};

/* Registers first..first+nr-1 of a class, stored alike. */
struct simd_bank {
	u8			first;
	u8			nr;
	u8			nr_pieces;
	struct simd_piece	piece[PERF_SIMD_MAX_PARTS];
};

struct simd_class {
	u8			qwords;
	u8			nr;
	u8			nr_banks;
	struct simd_bank	bank[2];
};

#ifdef CONFIG_X86_64
#define NR_XMM	PERF_X86_SIMD_XMM_REGS
#else
#define NR_XMM	8
#endif

#define PIECE_XMM	{ XFEATURE_SSE, 16 }
#define PIECE_YMMH	{ XFEATURE_YMM, 16 }
#define PIECE_ZMMH	{ XFEATURE_ZMM_Hi256, 32 }
#define PIECE_HI16	{ XFEATURE_Hi16_ZMM, 64 }
#define PIECE_OPMASK	{ XFEATURE_OPMASK, 8 }

static const struct simd_class vec_classes[] = {
	{
		.qwords = PERF_X86_SIMD_XMM_QWORDS, .nr = NR_XMM, .nr_banks = 1,
		.bank = { { 0, NR_XMM, 1, { PIECE_XMM } } },
	}, {
		.qwords = PERF_X86_SIMD_YMM_QWORDS, .nr = NR_XMM, .nr_banks = 1,
		.bank = { { 0, NR_XMM, 2, { PIECE_XMM, PIECE_YMMH } } },
	}, {
		.qwords = PERF_X86_SIMD_ZMM_QWORDS,
		.nr = PERF_X86_SIMD_ZMM_REGS, .nr_banks = 2,
		.bank = {
			{ 0, 16, 3, { PIECE_XMM, PIECE_YMMH, PIECE_ZMMH } },
			{ 16, 16, 1, { PIECE_HI16 } },
		},
	},
};

static const struct simd_class pred_classes[] = {
	{
		.qwords = PERF_X86_SIMD_OPMASK_QWORDS,
		.nr = PERF_X86_SIMD_OPMASK_REGS, .nr_banks = 1,
		.bank = { { 0, PERF_X86_SIMD_OPMASK_REGS, 1, { PIECE_OPMASK } } },
	},
};

/* The bits of sample_regs_* that are not in pt_regs, and where they are. */
#define EGPRS	GENMASK_ULL(PERF_REG_X86_R31, PERF_REG_X86_R16)
#define SSP	BIT_ULL(PERF_REG_X86_SSP)

static const struct simd_bank egpr_bank = {
	0, 16, 1, { { XFEATURE_APX, sizeof(u64) } },
};

/* The older way to ask for XMM registers: each word of them has a bit. */
static const struct simd_bank xmm_word_bank = {
	0, 2 * PERF_X86_SIMD_XMM_REGS, 1, { { XFEATURE_SSE, sizeof(u64) } },
};

/* What one side of an event asks for. */
struct simd_request {
	u64			regs;
	u64			vec;
	u64			pred;
	const struct simd_class	*vec_class;
	const struct simd_class	*pred_class;
	bool			xmm_words;
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

static void get_request(const struct perf_event_attr *attr,
			enum perf_simd_side side, struct simd_request *req)
{
	bool user = side == PERF_SIMD_USER;

	*req = (struct simd_request) {
		.xmm_words = !attr->sample_simd_regs_enabled,
	};

	if (!(attr->sample_type & (user ? PERF_SAMPLE_REGS_USER : PERF_SAMPLE_REGS_INTR)))
		return;

	req->regs = user ? attr->sample_regs_user : attr->sample_regs_intr;
	req->vec = user ? attr->sample_simd_vec_reg_user :
			  attr->sample_simd_vec_reg_intr;
	req->pred = user ? attr->sample_simd_pred_reg_user :
			   attr->sample_simd_pred_reg_intr;
	req->vec_class = find_class(vec_classes, ARRAY_SIZE(vec_classes),
				    attr->sample_simd_vec_reg_qwords);
	req->pred_class = find_class(pred_classes, ARRAY_SIZE(pred_classes),
				     attr->sample_simd_pred_reg_qwords);
}

static u32 bank_mask(const struct simd_bank *bank, u64 mask)
{
	return (mask >> bank->first) & GENMASK_ULL(bank->nr - 1, 0);
}

static u64 bank_state(const struct simd_bank *bank, u64 mask)
{
	u64 state = 0;
	int i;

	if (bank_mask(bank, mask)) {
		for (i = 0; i < bank->nr_pieces; i++)
			state |= BIT_ULL(bank->piece[i].xfeature);
	}

	return state;
}

static u64 class_state(const struct simd_class *class, u64 mask)
{
	u64 state = 0;
	int i;

	for (i = 0; class && i < class->nr_banks; i++)
		state |= bank_state(&class->bank[i], mask);

	return state;
}

/* The XSAVE components that hold what a side asks for. */
static u64 request_state(const struct simd_request *req)
{
	u64 state = class_state(req->vec_class, req->vec) |
		    class_state(req->pred_class, req->pred);

	if (req->xmm_words)
		return bank_state(&xmm_word_bank, req->regs >> PERF_REG_X86_XMM0);

	state |= bank_state(&egpr_bank, req->regs >> PERF_REG_X86_R16);
	if (req->regs & SSP)
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

	gprs = req.regs & ~(EGPRS | SSP);
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
	struct simd_request req;
	u64 state = 0;
	int ret;

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		ret = validate_side(attr, side);
		if (ret)
			return ret;

		get_request(attr, side, &req);
		state |= request_state(&req);
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
 * @simd: gets the components for each side, and which sample_regs_* are there
 */
void arch_perf_simd_regs_init_event(const struct perf_event_attr *attr,
				    struct perf_simd_event *simd)
{
	enum perf_simd_side side;
	struct simd_request req;

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		get_request(attr, side, &req);
		simd->state[side] = request_state(&req);
	}

	simd->ext_regs = attr->sample_simd_regs_enabled ? EGPRS | SSP :
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

static bool has_user_state(void)
{
	return !(current->flags & (PF_KTHREAD | PF_USER_WORKER));
}

/* Do the registers hold current's user state? */
static bool regs_are_currents(void)
{
	return has_user_state() && !test_thread_flag(TIF_NEED_FPU_LOAD) &&
	       !READ_ONCE(x86_task_fpu(current)->__task_fpstate);
}

/* Does the kernel use the registers, and is the rest in them current's? */
static bool regs_are_kernels(void)
{
	struct fpu *fpu;

	if (this_cpu_read(kernel_fpu_allowed) || !has_user_state())
		return false;

	fpu = x86_task_fpu(current);

	return this_cpu_read(fpu_fpregs_last_owner) == fpu &&
	       fpu->last_cpu == smp_processor_id() &&
	       !READ_ONCE(fpu->__task_fpstate);
}

static const struct xregs_state *live_regs(struct perf_simd_buf *buf, u64 state)
{
	struct xregs_state *xsave = (void *)buf->state;

	if (state & ~buf->saved) {
		buf->saved = state | buf->asked;
		xsave_regs(xsave, buf->saved);
	}

	return xsave;
}

static const struct xregs_state *user_regs(struct perf_simd_buf *buf, u64 state)
{
	struct fpstate *task_fpstate;
	struct fpu *fpu;

	if (!has_user_state())
		return NULL;

	fpu = x86_task_fpu(current);
	task_fpstate = READ_ONCE(fpu->__task_fpstate);
	if (task_fpstate)
		return &task_fpstate->regs.xsave;

	if (!test_thread_flag(TIF_NEED_FPU_LOAD))
		return live_regs(buf, state);

	if (READ_ONCE(fpu->in_flux))
		return NULL;

	return &fpu->fpstate->regs.xsave;
}

static const struct xregs_state *intr_regs(struct perf_event *event,
					   struct pt_regs *pt_regs,
					   struct perf_simd_buf *buf, u64 state)
{
	if (user_mode(pt_regs))
		return user_regs(buf, state);

	/* A guest was hit: what is here belongs to the way out of it. */
	if (perf_guest_state())
		return NULL;

	if (regs_are_currents() || (event->simd->kernel && regs_are_kernels()))
		return live_regs(buf, state);

	return NULL;
}

static void show_bank(struct perf_simd_regs *simd, const struct simd_bank *bank,
		      u64 wanted, const struct xregs_state *xsave)
{
	u32 mask = bank_mask(bank, wanted);
	const struct simd_piece *piece;
	struct perf_simd_bank *out;
	const void *base;

	if (!mask)
		return;

	out = perf_simd_add_bank(simd, mask);
	for (piece = bank->piece; piece < bank->piece + bank->nr_pieces; piece++) {
		base = NULL;
		if (xsave->header.xfeatures & BIT_ULL(piece->xfeature))
			base = (void *)xsave + xfeature_get_offset(xsave->header.xcomp_bv,
								   piece->xfeature);
		perf_simd_add_part(simd, out, base, piece->bytes);
	}
}

static void show_ssp(struct perf_simd_regs *simd, const struct xregs_state *xsave)
{
	const struct cet_user_state *cet = NULL;

	if (xsave && xsave->header.xfeatures & XFEATURE_MASK_CET_USER)
		cet = (void *)xsave + xfeature_get_offset(xsave->header.xcomp_bv,
							  XFEATURE_CET_USER);

	perf_simd_add_part(simd, perf_simd_add_bank(simd, 1),
			   cet ? &cet->user_ssp : NULL, sizeof(u64));
}

static void show_class(struct perf_simd_regs *simd, const struct simd_class *class,
		       u64 wanted, const struct xregs_state *xsave)
{
	int i;

	for (i = 0; wanted && i < class->nr_banks; i++)
		show_bank(simd, &class->bank[i], wanted, xsave);
}

/**
 * arch_perf_simd_regs_capture - find the registers of one side of a sample
 * @event: the event, which samples SIMD registers on either side
 * @side: which side
 * @pt_regs: registers of the interrupted context; only its mode is looked at
 * @buf: where to save live registers, and to describe what there is
 *
 * Context: any, NMI included, with preemption disabled.
 * Return: false if there is nothing that can be trusted, or nothing to show.
 */
bool arch_perf_simd_regs_capture(struct perf_event *event,
				 enum perf_simd_side side,
				 struct pt_regs *pt_regs,
				 struct perf_simd_buf *buf)
{
	bool kernel_hit = side == PERF_SIMD_INTR && !user_mode(pt_regs);
	struct perf_simd_regs *simd = &buf->regs[side];
	const struct xregs_state *xsave = NULL;
	u64 state = event->simd->state[side];
	struct simd_request req;

	if (!state)
		return false;

	/* The kernel runs without the user's shadow stack. */
	if (kernel_hit)
		state &= ~XFEATURE_MASK_CET_USER;

	if (state) {
		xsave = side == PERF_SIMD_USER ? user_regs(buf, state) :
						 intr_regs(event, pt_regs, buf, state);
		if (!xsave)
			return false;
	}

	get_request(&event->attr, side, &req);

	if (req.xmm_words) {
		show_bank(simd, &xmm_word_bank, req.regs >> PERF_REG_X86_XMM0, xsave);
		return true;
	}

	show_bank(simd, &egpr_bank, (req.regs & EGPRS) >> PERF_REG_X86_R16, xsave);
	if (req.regs & SSP)
		show_ssp(simd, kernel_hit ? NULL : xsave);

	if (req.vec || req.pred) {
		perf_simd_add_head(simd,
				   hweight64(req.vec), event->attr.sample_simd_vec_reg_qwords,
				   hweight64(req.pred), event->attr.sample_simd_pred_reg_qwords);
		show_class(simd, req.vec_class, req.vec, xsave);
		show_class(simd, req.pred_class, req.pred, xsave);
	}

	return true;
}
