/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SIMD registers in perf samples: what the perf core, the architecture and
 * PMU drivers know of each other. kernel/events/simd_regs.c says how they work
 * together, include/uapi/linux/perf_event.h what a sample looks like.
 */
#ifndef _LINUX_PERF_SIMD_REGS_H
#define _LINUX_PERF_SIMD_REGS_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct perf_event;
struct perf_event_attr;
struct perf_output_handle;
struct perf_regs;
struct perf_sample_data;
struct perf_simd_record;	/* the architecture's */
struct pt_regs;

/* The two register blocks that a sample can have. */
enum perf_simd_side {
	PERF_SIMD_USER,
	PERF_SIMD_INTR,
	PERF_SIMD_SIDES
};

/* Context levels that a sample can be taken at, as interrupt_context_level() has them */
enum perf_simd_level {
	PERF_SIMD_TASK,
	PERF_SIMD_SOFTIRQ,
	PERF_SIMD_HARDIRQ,
	PERF_SIMD_NMI
};

#define PERF_SIMD_MAX_COLUMNS	48
#define PERF_SIMD_MAX_SOURCES	24

/* The source that is the layout's own head; the others are the architecture's. */
#define PERF_SIMD_HEAD		0

/**
 * struct perf_simd_part - where a piece of each register of a kind is
 * @source: which of a sample's sources it is in
 * @offset: from the source to the piece of register 0, in bytes
 * @stride: from the piece of a register to that of the next one
 * @bytes: size of the piece; all pieces of a register make up words of 8 bytes
 */
struct perf_simd_part {
	u16	source;
	u16	offset;
	u16	stride;
	u16	bytes;
};

/**
 * struct perf_simd_column - the same piece of registers in a row
 * @source: which of a sample's sources they are in
 * @nr: how many
 * @bytes: size of the piece
 * @from: offset of the first one in the source
 * @from_stride: from there to the next one
 * @to: offset of the first one in what a sample has behind the GPRs
 * @to_stride: from there to the next one
 * @to_end: offset of what is behind the last one
 *
 * Registers that have one piece and are stored without gaps are one large piece.
 */
struct perf_simd_column {
	u8	source;
	u8	nr;
	u16	bytes;
	u16	from;
	u16	from_stride;
	u16	to;
	u16	to_stride;
	u16	to_end;
};

/**
 * struct perf_simd_layout - what a side's register block can have behind the GPRs
 * @bytes: size of all of it
 * @ext_bytes: size of what is words of sample_regs_*, which comes first
 * @nr_columns: how many columns are in use
 * @head: nr_vectors, vector_qwords, nr_pred, pred_qwords
 * @column: what makes it up; @head is a column too if there is one
 */
struct perf_simd_layout {
	unsigned int		bytes;
	unsigned int		ext_bytes;
	unsigned int		nr_columns;
	u64			head[4];
	struct perf_simd_column	column[PERF_SIMD_MAX_COLUMNS];
};

struct perf_simd_buf;

/**
 * struct perf_simd_regs - what a side's register block has behind the GPRs
 * @buf: the buffer that this is in
 * @layout: how the sources make up the block; valid if @bytes is not 0
 * @bytes: how much of @layout there is: all of it, the words of sample_regs_*,
 *	or nothing
 * @block_bytes: size of the whole block, from the ABI to the last register
 * @source: where each source is, set for those that @layout names; NULL for
 *	one that is in its initial state, all zeros
 *
 * The sources are where the registers are saved; the bytes are gathered when
 * the sample is written.
 */
struct perf_simd_regs {
	struct perf_simd_buf		*buf;
	const struct perf_simd_layout	*layout;
	unsigned int			bytes;
	unsigned int			block_bytes;
	const void			*source[PERF_SIMD_MAX_SOURCES];
};

/**
 * struct perf_simd_event - what an event samples
 * @state: for each side, the state components that it needs, in bits that
 *	mean something to the architecture only; 0 if it needs none
 * @ext_state: those of @state that words of sample_regs_* need
 * @ext_regs: the bits of sample_regs_user and sample_regs_intr whose registers
 *	are not in pt_regs
 * @gpr_bytes: for each side, the size of a block without SIMD registers: the ABI
 *	and the words of sample_regs_*
 * @max_bytes: for each side, the size of the largest block that a sample can have,
 *	and of what has to follow it
 * @check_sample: each sample has to be checked: whether its raw data leaves room for
 *	the vectors, and whether current is the event's task
 * @levels: the levels that samples are taken at, a bit for each of enum
 *	perf_simd_level; set by the architecture where it knows better than all
 * @kernel: opened by someone who may see the registers of kernel FPU sections
 * @precise: the registers are those that the PMU recorded at the hit
 * @rcu_head: handlers may still be looking when the event is freed
 * @layout: for each side, what it has if all of it is there; where samples differ
 *	the architecture makes others
 */
struct perf_simd_event {
	u64			state[PERF_SIMD_SIDES];
	u64			ext_state[PERF_SIMD_SIDES];
	u64			ext_regs;
	unsigned int		gpr_bytes[PERF_SIMD_SIDES];
	unsigned int		max_bytes[PERF_SIMD_SIDES];
	u8			levels;
	bool			check_sample;
	bool			kernel;
	bool			precise;
	struct rcu_head		rcu_head;
	struct perf_simd_layout	layout[PERF_SIMD_SIDES];
};

/* A sample, and one that is taken while that is written. */
#define PERF_SIMD_MAX_DEPTH	2

/**
 * struct perf_simd_buf - a CPU's place for saved registers at a context level
 * @depth: samples in progress; each but the first interrupts the one before
 * @shared: inside perf_simd_regs_begin_overflow(): samples share @state
 * @irqs_on: interrupts can be enabled at this level
 * @record: what the PMU recorded for the sample in progress, or NULL
 * @next_unused: when it is about to be freed
 * @saved: the state components in @state that belong to the first sample in
 *	progress, in the architecture's bits
 * @asked: the components to save in one go if any has to be saved
 * @regs: the samples in progress, each side of them
 * @state: the architecture's, arch_perf_simd_regs_size() bytes; written by the
 *	first sample only
 */
struct perf_simd_buf {
	unsigned int			depth;
	bool				shared;
	bool				irqs_on;
	const struct perf_simd_record	*record;
	struct perf_simd_buf		*next_unused;
	u64				saved;
	u64				asked;
	struct perf_simd_regs		regs[PERF_SIMD_MAX_DEPTH][PERF_SIMD_SIDES];
	u8				state[] __aligned(64);
};

/**
 * perf_simd_may_save - can the sample in progress have registers saved for it?
 * @buf: the buffer that it is in
 *
 * A sample that interrupts another one must not: what that one has prepared points
 * into the saved state. It has what needs no saving.
 *
 * Context: that of the sample.
 */
static inline bool perf_simd_may_save(const struct perf_simd_buf *buf)
{
	return buf->depth == 1;
}

/**
 * perf_simd_has_saved - are registers that were saved before this sample's?
 * @buf: the buffer that it is in
 * @state: the components, in the architecture's bits
 *
 * Context: that of the sample.
 */
static inline bool perf_simd_has_saved(const struct perf_simd_buf *buf, u64 state)
{
	return !(state & ~buf->saved) && (buf->depth == 1 || buf->shared);
}

/* kernel/events/simd_attr.c; refuses all SIMD attributes where there is no support. */
int perf_simd_regs_validate(const struct perf_event_attr *attr);
int arch_perf_simd_regs_validate(const struct perf_event_attr *attr);

#ifdef CONFIG_PERF_SIMD_REGS

bool perf_event_wants_simd_regs(struct perf_event *event);
int perf_simd_regs_init_event(struct perf_event *event);
void perf_simd_regs_free_event(struct perf_event *event);

/* Off while no event samples SIMD registers, and there are no buffers for them. */
DECLARE_STATIC_KEY_FALSE(perf_simd_used);

/**
 * perf_event_simd - what SIMD registers an event samples
 * @event: any event
 *
 * For the paths that each sample takes, whatever it has: while no event samples SIMD
 * registers, this is one instruction that does nothing, where there are jump labels.
 *
 * Context: any.
 * Return: the description, NULL if the event samples none.
 */
static __always_inline struct perf_simd_event *perf_event_simd(const struct perf_event *event)
{
	/* Without jump labels the key would be one load more. */
	if (IS_ENABLED(CONFIG_JUMP_LABEL) && !static_branch_unlikely(&perf_simd_used))
		return NULL;

	return event->simd;
}

void __perf_simd_regs_begin_overflow(void);
void __perf_simd_regs_end_overflow(void);

/**
 * perf_simd_regs_begin_overflow - the samples that follow share their registers
 *
 * For a handler that takes samples of several events for one interrupt, in a
 * context where nothing changes the registers between them: an NMI.
 *
 * Context: NMI, or with interrupts disabled. Inside of a sample it does nothing.
 */
static inline void perf_simd_regs_begin_overflow(void)
{
	if (static_branch_unlikely(&perf_simd_used))
		__perf_simd_regs_begin_overflow();
}

/**
 * perf_simd_regs_end_overflow - ends what perf_simd_regs_begin_overflow() began
 *
 * Context: the same.
 */
static inline void perf_simd_regs_end_overflow(void)
{
	if (static_branch_unlikely(&perf_simd_used))
		__perf_simd_regs_end_overflow();
}

const struct perf_simd_record *
perf_simd_regs_set_record(const struct perf_simd_record *record);

void perf_simd_regs_begin_sample(struct perf_sample_data *data, struct perf_event *event);
void perf_simd_regs_end_sample(struct perf_sample_data *data, struct perf_event *event);
unsigned int perf_simd_regs_prepare(struct perf_sample_data *data, struct perf_event *event,
				    enum perf_simd_side side, struct pt_regs *pt_regs);
void perf_simd_regs_output(struct perf_output_handle *handle,
			   const struct perf_simd_regs *simd);

void perf_simd_add_regs(struct perf_simd_layout *layout, u32 mask,
			const struct perf_simd_part *part, unsigned int nr_parts);
void perf_simd_add_head(struct perf_simd_layout *layout,
			unsigned int nr_vectors, unsigned int vector_qwords,
			unsigned int nr_pred, unsigned int pred_qwords);

/* The architecture's part. */
bool arch_perf_wants_simd_regs(struct perf_event *event);
void arch_perf_simd_regs_init_event(struct perf_event *event,
				    struct perf_simd_event *simd);
size_t arch_perf_simd_regs_size(void);
u64 arch_perf_simd_regs_capture(struct perf_event *event,
				enum perf_simd_side side,
				struct pt_regs *pt_regs,
				struct perf_simd_regs *simd);

#else /* !CONFIG_PERF_SIMD_REGS */

static __always_inline struct perf_simd_event *perf_event_simd(const struct perf_event *event)
{
	return NULL;
}

static inline bool perf_event_wants_simd_regs(struct perf_event *event)
{
	return false;
}

static inline int perf_simd_regs_init_event(struct perf_event *event)
{
	return 0;
}

static inline void perf_simd_regs_free_event(struct perf_event *event) { }

static inline void perf_simd_regs_begin_overflow(void) { }
static inline void perf_simd_regs_end_overflow(void) { }
static inline void perf_simd_regs_begin_sample(struct perf_sample_data *data,
					       struct perf_event *event)
{
}

static inline void perf_simd_regs_end_sample(struct perf_sample_data *data,
					     struct perf_event *event)
{
}

static inline unsigned int perf_simd_regs_prepare(struct perf_sample_data *data,
						  struct perf_event *event,
						  enum perf_simd_side side,
						  struct pt_regs *pt_regs)
{
	return 0;
}

static inline void perf_simd_regs_output(struct perf_output_handle *handle,
					 const struct perf_simd_regs *simd)
{
}

#endif /* CONFIG_PERF_SIMD_REGS */

#endif /* _LINUX_PERF_SIMD_REGS_H */
