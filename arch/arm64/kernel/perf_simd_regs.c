// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples, the arm64 part: finds a source that can be trusted
 * and describes where in it the registers are.
 *
 * Where current's user state is, as far as an interrupt or NMI can tell, and
 * what can be had of it:
 *
 *	in the registers
 *	  in a system call		V, the rest is lost
 *	  streaming mode		Z, P; FFR with FEAT_SME_FA64
 *	  TIF_SVE			Z, P, FFR
 *	  else				V, as the task does not use SVE
 *	  and FFR is being saved	the same without P and FFR
 *	in memory
 *	  FP_STATE_FPSIMD		V
 *	  FP_STATE_SVE			Z, P; FFR if there is one in the mode
 *	being replaced			nothing
 *
 * See fpsimd_find_current_state() for how to tell, fpsimd_syscall_enter() for what
 * becomes of SVE in a system call. It follows that a KVM guest's registers are
 * never shown.
 *
 * What each side of a sample shows:
 *
 *	user			  current's user state, if it has one
 *	intr, hit in user mode	  the same
 *	intr, hit in the kernel	  nothing: the kernel has no vector registers but
 *				  in sections of its own, and what is left in
 *				  them then can be any task's
 *
 * As with the general purpose registers, exclude_user and the like say which hits
 * count, not what a sample has. 32-bit tasks have V0-V15: they can neither read nor
 * write the others.
 */
#include <linux/bitops.h>
#include <linux/compat.h>
#include <linux/cpufeature.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <asm/fpsimd.h>
#include <asm/sysreg.h>

/* Parts of the state. P and FFR are saved together, V or Z as the mode has it. */
#define STATE_V		BIT_ULL(0)
#define STATE_Z		BIT_ULL(1)
#define STATE_P		BIT_ULL(2)
#define STATE_FFR	BIT_ULL(3)
#define STATE_PREDS	(STATE_P | STATE_FFR)
#define STATE_SVE	(STATE_Z | STATE_PREDS)

/* A bit of sample_regs_*: the length of vectors outside of streaming mode */
#define REG_VG		BIT_ULL(PERF_REG_ARM64_VG)

/* The V registers that a 32-bit task has, as Q0-Q15 */
#define COMPAT_VREGS	GENMASK_U32(15, 0)

#define V_BYTES		sizeof_field(struct user_fpsimd_state, vregs[0])

/* Sources of a layout: V and Z registers are never in the same sample. */
enum { SOURCE_VEC = PERF_SIMD_HEAD + 1, SOURCE_PRED, SOURCE_ZEROS };

/*
 * How struct perf_simd_buf::state is used: Z, then P, then FFR in sve[]. Layouts
 * that depend on the vector length are made with the sample.
 */
struct live_state {
	struct user_fpsimd_state	fpsimd;
	struct perf_simd_layout		layout[PERF_SIMD_SIDES];
	u8				sve[] __aligned(16);
};

/* What one side of an event asks for, or of that what a sample can show. */
struct simd_request {
	u32		vec;
	u32		pred;
	unsigned int	vec_bytes;
	unsigned int	pred_qwords;
};

/* Registers that can be trusted: one of v and z, preds if the mode has any. */
struct simd_source {
	const void	*v;
	const void	*z;
	const void	*preds;
	unsigned int	vl;
	bool		ffr;
};

/* The longest vectors of the system, in bytes. */
static unsigned int max_vl(void)
{
	unsigned int vl = V_BYTES;

	if (system_supports_sve())
		vl = max_t(unsigned int, vl, sve_max_vl());
	if (system_supports_sme())
		vl = max_t(unsigned int, vl, sme_max_vl());

	return vl;
}

static unsigned int pred_bytes(unsigned int vl)
{
	return vl / BITS_PER_BYTE;
}

static unsigned int pred_qwords(unsigned int vl)
{
	return DIV_ROUND_UP(pred_bytes(vl), sizeof(u64));
}

static void get_request(const struct perf_event_attr *attr,
			enum perf_simd_side side, struct simd_request *req)
{
	bool user = side == PERF_SIMD_USER;

	*req = (struct simd_request) {
		.vec_bytes = attr->sample_simd_vec_reg_qwords * sizeof(u64),
		.pred_qwords = attr->sample_simd_pred_reg_qwords,
	};

	if (!(attr->sample_type & (user ? PERF_SAMPLE_REGS_USER : PERF_SAMPLE_REGS_INTR)))
		return;

	req->vec = user ? attr->sample_simd_vec_reg_user :
			  attr->sample_simd_vec_reg_intr;
	req->pred = user ? attr->sample_simd_pred_reg_user :
			   attr->sample_simd_pred_reg_intr;
}

/* The state that a side asks for: a V register is shown if there is no Z. */
static u64 request_state(const struct simd_request *req)
{
	u64 state = 0;

	if (req->vec)
		state |= STATE_V;
	if (req->vec && req->vec_bytes > V_BYTES)
		state |= STATE_Z;
	if (req->pred & GENMASK(PERF_ARM64_SIMD_FFR - 1, 0))
		state |= STATE_P;
	if (req->pred & BIT(PERF_ARM64_SIMD_FFR))
		state |= STATE_FFR;

	return state;
}

/* The parts that tasks have on this machine. */
static u64 supported_state(void)
{
	u64 state = 0;

	if (system_supports_fpsimd())
		state |= STATE_V;
	if (system_supports_sve() || system_supports_sme())
		state |= STATE_Z | STATE_P;
	if (system_supports_sve() || system_supports_fa64())
		state |= STATE_FFR;

	return state;
}

/* Registers that arm64 has not */
static int validate_side(const struct perf_event_attr *attr,
			 enum perf_simd_side side)
{
	u64 gprs = side == PERF_SIMD_USER ? attr->sample_regs_user :
					    attr->sample_regs_intr;
	u64 vec = side == PERF_SIMD_USER ? attr->sample_simd_vec_reg_user :
					   attr->sample_simd_vec_reg_intr;
	u32 pred = side == PERF_SIMD_USER ? attr->sample_simd_pred_reg_user :
					    attr->sample_simd_pred_reg_intr;

	if (fls64(vec) > PERF_ARM64_SIMD_VEC_REGS || fls(pred) > PERF_ARM64_SIMD_PRED_REGS)
		return -EINVAL;

	return gprs & ~(GENMASK_U64(PERF_REG_ARM64_MAX - 1, 0) | REG_VG) ? -EINVAL : 0;
}

/**
 * arch_perf_simd_regs_validate - check what perf_simd_regs_validate() can't
 * @attr: an attribute with sample_simd_regs_enabled, sound as far as the
 *	architecture does not matter
 *
 * Return: 0, -EINVAL for registers or widths that arm64 does not have,
 * -EOPNOTSUPP for those that this system does not have.
 */
int arch_perf_simd_regs_validate(const struct perf_event_attr *attr)
{
	unsigned int vec = attr->sample_simd_vec_reg_qwords;
	unsigned int pred = attr->sample_simd_pred_reg_qwords;
	enum perf_simd_side side;
	struct simd_request req;
	u64 state = 0;
	int ret;

	if (vec % PERF_ARM64_SIMD_V_QWORDS)
		return -EINVAL;
	if (vec && pred && pred != pred_qwords(vec * sizeof(u64)))
		return -EINVAL;

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		ret = validate_side(attr, side);
		if (ret)
			return ret;

		get_request(attr, side, &req);
		state |= request_state(&req);
	}

	if (vec * sizeof(u64) > max_vl() || pred > pred_qwords(max_vl()))
		return -EOPNOTSUPP;
	if ((attr->sample_regs_user | attr->sample_regs_intr) & REG_VG &&
	    !system_supports_sve())
		return -EOPNOTSUPP;

	return state & ~supported_state() ? -EOPNOTSUPP : 0;
}

/**
 * arch_perf_wants_simd_regs - are an event's registers to be found here?
 * @event: the event, its attribute valid
 */
bool arch_perf_wants_simd_regs(struct perf_event *event)
{
	return event->attr.sample_simd_regs_enabled;
}

static void add_vectors(struct perf_simd_layout *layout, u32 mask,
			unsigned int bytes, unsigned int stride)
{
	const struct perf_simd_part part = {
		.source = SOURCE_VEC, .stride = stride, .bytes = bytes,
	};

	perf_simd_add_regs(layout, mask, &part, 1);
}

/* FFR is stored behind P15. What is short of a word is filled up. */
static void add_predicates(struct perf_simd_layout *layout, u32 mask,
			   unsigned int qwords, unsigned int stride)
{
	unsigned int bytes = qwords * sizeof(u64), used = min(stride, bytes);
	const struct perf_simd_part part[] = {
		{ .source = SOURCE_PRED, .stride = stride, .bytes = used },
		{ .source = SOURCE_ZEROS, .bytes = bytes - used },
	};

	perf_simd_add_regs(layout, mask, part, used < bytes ? 2 : 1);
}

/* Lay out what is @shown of vectors stored every @stride bytes, and predicates of @vl */
static void lay_out(struct perf_simd_layout *layout, const struct simd_request *shown,
		    unsigned int stride, unsigned int vl)
{
	/* Columns are written as they are added. */
	memset(layout, 0, offsetof(struct perf_simd_layout, column));

	perf_simd_add_head(layout, hweight32(shown->vec), shown->vec_bytes / sizeof(u64),
			   hweight32(shown->pred), shown->pred_qwords);
	add_vectors(layout, shown->vec, shown->vec_bytes, stride);
	add_predicates(layout, shown->pred, shown->pred_qwords, pred_bytes(vl));
}

/**
 * arch_perf_simd_regs_init_event - work out what an event's samples need
 * @event: the event
 * @simd: zeroed; gets the parts of the state for each side, the layout of a
 *	sample that has V registers, and the levels of the CPU's PMUs
 *
 * All of sample_regs_* is had without the state, VG included.
 */
void arch_perf_simd_regs_init_event(struct perf_event *event,
				    struct perf_simd_event *simd)
{
	enum perf_simd_side side;
	struct simd_request req;

	for (side = 0; side < PERF_SIMD_SIDES; side++) {
		get_request(&event->attr, side, &req);
		simd->state[side] = request_state(&req);
		if (!req.vec)
			continue;

		req.vec_bytes = V_BYTES;
		req.pred = 0;
		lay_out(&simd->layout[side], &req, V_BYTES, 0);
	}

	/* The PMUs of the CPU take samples in their interrupt, which can be a pseudo-NMI. */
	if (event->pmu && event->pmu->task_ctx_nr == perf_hw_context)
		simd->levels = BIT(PERF_SIMD_HARDIRQ) | BIT(PERF_SIMD_NMI);
}

/**
 * arch_perf_simd_regs_size - size of the state of a struct perf_simd_buf
 *
 * Return: bytes, enough for all that an event can ask for.
 */
size_t arch_perf_simd_regs_size(void)
{
	unsigned int vl = max_vl();

	return struct_size_t(struct live_state, sve,
			     PERF_ARM64_SIMD_VEC_REGS * vl +
			     PERF_ARM64_SIMD_PRED_REGS * pred_bytes(vl));
}

/* What to save: if anything of @state has to be, all that is asked for as well. */
static u64 missing(const struct perf_simd_buf *buf, u64 state)
{
	return state & ~buf->saved ? (state | buf->asked) & ~buf->saved : 0;
}

static const void *live_vregs(struct perf_simd_buf *buf)
{
	struct live_state *live = (void *)buf->state;

	if (!perf_simd_has_saved(buf, STATE_V)) {
		fpsimd_save_vregs(&live->fpsimd);
		barrier();
		buf->saved |= STATE_V;
	}

	return live->fpsimd.vregs;
}

/* Where the predicates are in an SVE state: FFR is behind P15. */
static const void *preds_of(const void *sve, unsigned int vl)
{
	return sve + PERF_ARM64_SIMD_VEC_REGS * vl;
}

/* What can be trusted of the SVE registers, and is in them in this mode */
static void live_sve(struct perf_simd_buf *buf, u64 state, u64 trusted, bool ffr,
		     struct simd_source *src)
{
	struct live_state *live = (void *)buf->state;
	struct arm64_sve_state *sve = (void *)live->sve;
	unsigned int vl = sve_get_vl();
	u64 save = missing(buf, state & trusted) & trusted;

	if (WARN_ON_ONCE(vl > max_vl()))
		return;

	if (save & STATE_Z) {
		__sve_save_z(sve, vl);
		buf->saved |= STATE_Z;
	}
	if (save & STATE_PREDS) {
		sve_save_live_preds(sve, vl, ffr);
		buf->saved |= STATE_PREDS;
	}

	if (state & trusted & STATE_Z)
		src->z = live->sve;
	if (state & trusted & STATE_PREDS)
		src->preds = preds_of(live->sve, vl);
	src->vl = vl;
	src->ffr = ffr;
}

static bool is_streaming(void)
{
	return system_supports_sme() && read_sysreg_s(SYS_SVCR) & SVCR_SM_MASK;
}

static void find_live(struct perf_simd_buf *buf, u64 state, struct simd_source *src)
{
	u64 trusted = sve_live_preds_are_sound() ? STATE_SVE : STATE_Z;

	/* Nothing is saved inside of another sample, and V can be less than the task has. */
	if (!perf_simd_may_save(buf) &&
	    (state != STATE_V || !perf_simd_has_saved(buf, STATE_V)))
		return;

	if (state & trusted &&
	    __this_cpu_read(fpsimd_last_state.to_save) == FP_STATE_CURRENT) {
		if (is_streaming())
			live_sve(buf, state, trusted, system_supports_fa64(), src);
		else if (test_thread_flag(TIF_SVE))
			live_sve(buf, state, trusted, true, src);
	}

	if (state & STATE_V && !src->z)
		src->v = live_vregs(buf);
}

static void find_saved(struct simd_source *src)
{
	struct thread_struct *thread = &current->thread;

	switch (READ_ONCE(thread->fp_type)) {
	case FP_STATE_FPSIMD:
		src->v = thread->uw.fpsimd_state.vregs;
		break;
	case FP_STATE_SVE:
		src->vl = thread_get_cur_vl(thread);
		src->z = thread->sve_state;
		src->preds = preds_of(thread->sve_state, src->vl);
		src->ffr = !thread_sm_enabled(thread) || system_supports_fa64();
		break;
	case FP_STATE_CURRENT:
		break;
	}
}

/* Find the user state of current. */
static void find_source(struct perf_simd_buf *buf, u64 state, struct simd_source *src)
{
	if (current->flags & (PF_KTHREAD | PF_USER_WORKER))
		return;

	switch (fpsimd_find_current_state()) {
	case FPSIMD_IN_REGS:
		find_live(buf, state, src);
		break;
	case FPSIMD_IN_MEMORY:
		find_saved(src);
		break;
	case FPSIMD_NOWHERE:
		break;
	}
}

/* What of a request the source has */
static void limit_request(struct simd_request *req, const struct simd_source *src)
{
	if (!src->v && !src->z)
		req->vec = 0;
	if (is_compat_task())
		req->vec &= COMPAT_VREGS;
	if (!src->preds)
		req->pred = 0;
	if (!src->ffr)
		req->pred &= ~BIT(PERF_ARM64_SIMD_FFR);

	req->vec_bytes = src->z ? min(src->vl, req->vec_bytes) : V_BYTES;
	req->pred_qwords = min(pred_qwords(src->vl), req->pred_qwords);
}

/**
 * arch_perf_simd_regs_capture - find the registers of one side of a sample
 * @event: the event, which has SIMD registers, be it on the other side
 * @side: which side
 * @pt_regs: registers of the interrupted context; only its mode is looked at
 * @simd: gets where the registers are; its buffer is where live ones are saved
 *
 * Context: any, NMI included, with interrupts disabled.
 * Return: what the event asks for, of which @simd->layout has as much as there is;
 * 0 if there is nothing that can be trusted, or nothing to show.
 */
u64 arch_perf_simd_regs_capture(struct perf_event *event,
				enum perf_simd_side side,
				struct pt_regs *pt_regs,
				struct perf_simd_regs *simd)
{
	struct live_state *live = (void *)simd->buf->state;
	u64 state = event->simd->state[side];
	struct simd_source src = {};
	struct simd_request req;

	lockdep_assert_irqs_disabled();

	if (!state || (side == PERF_SIMD_INTR && !user_mode(pt_regs)))
		return 0;

	find_source(simd->buf, state, &src);

	get_request(&event->attr, side, &req);
	limit_request(&req, &src);
	if (!req.vec && !req.pred)
		return 0;

	simd->source[SOURCE_VEC] = src.z ?: src.v;
	simd->source[SOURCE_PRED] = src.preds;
	simd->source[SOURCE_ZEROS] = NULL;

	/* The event's own layout is that of V registers. */
	if (src.z || req.pred || is_compat_task()) {
		/* The place for another one is where live registers are saved. */
		if (!perf_simd_may_save(simd->buf))
			return 0;
		lay_out(&live->layout[side], &req, src.z ? src.vl : V_BYTES, src.vl);
		simd->layout = &live->layout[side];
	}

	return state;
}
