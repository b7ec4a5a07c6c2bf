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
#include <linux/rcupdate.h>
#include <linux/types.h>

struct perf_event;
struct perf_event_attr;
struct perf_output_handle;
struct perf_regs;
struct perf_simd_class;		/* the architecture's */
struct perf_simd_record;	/* the architecture's */
struct pt_regs;

/* The two register blocks that a sample can have. */
enum perf_simd_side {
	PERF_SIMD_USER,
	PERF_SIMD_INTR,
	PERF_SIMD_SIDES
};

#define PERF_SIMD_MAX_PARTS	3
#define PERF_SIMD_MAX_BANKS	6

/**
 * struct perf_simd_part - where a piece of each register of a bank is
 * @base: the piece of the bank's first register, the others' follow without
 *	gaps; NULL if the piece is in its initial state, all zeros
 * @bytes: size of the piece, a multiple of 8
 */
struct perf_simd_part {
	const void	*base;
	unsigned int	bytes;
};

/**
 * struct perf_simd_bank - registers that are stored alike
 * @mask: the registers that go into the sample, bit 0 the bank's first one
 * @nr_parts: how many parts are in use
 * @bytes: size of a register, the sum of its parts
 * @part: the pieces of a register, that with the lowest bits first
 */
struct perf_simd_bank {
	u32			mask;
	unsigned int		nr_parts;
	unsigned int		bytes;
	struct perf_simd_part	part[PERF_SIMD_MAX_PARTS];
};

/**
 * struct perf_simd_regs - what a side's register block has behind the GPRs
 * @bytes: size of all banks
 * @nr_banks: how many banks are in use
 * @head: nr_vectors, vector_qwords, nr_pred, pred_qwords of the sample
 * @bank: in the order of the sample; @head is a bank too if there is one
 *
 * The banks point to where the registers are saved; the bytes are gathered
 * when the sample is written.
 */
struct perf_simd_regs {
	unsigned int		bytes;
	unsigned int		nr_banks;
	u64			head[4];
	struct perf_simd_bank	bank[PERF_SIMD_MAX_BANKS];
};

/**
 * struct perf_simd_event - what an event samples
 * @state: for each side, the state components that it needs, in bits that
 *	mean something to the architecture only; 0 if it needs none
 * @vec_class: what the vector registers that it asks for are, or NULL
 * @pred_class: the same for predicate registers
 * @ext_regs: the bits of sample_regs_user and sample_regs_intr whose registers
 *	are not in pt_regs
 * @kernel: opened by someone who may see the registers of kernel FPU sections
 */
struct perf_simd_event {
	u64				state[PERF_SIMD_SIDES];
	const struct perf_simd_class	*vec_class;
	const struct perf_simd_class	*pred_class;
	u64				ext_regs;
	bool				kernel;
};

/**
 * struct perf_simd_buf - a context level's place for saved registers
 * @regs: what the sample in progress has on each side
 * @record: what the PMU recorded for the sample in progress, or NULL
 * @saved: the state components in @state that belong to the sample in
 *	progress, in the architecture's bits
 * @asked: the components to save in one go if any has to be saved
 * @shared: inside perf_simd_regs_begin_overflow(): samples share @state
 * @state: the architecture's, arch_perf_simd_regs_size() bytes
 */
struct perf_simd_buf {
	struct perf_simd_regs		regs[PERF_SIMD_SIDES];
	const struct perf_simd_record	*record;
	u64				saved;
	u64				asked;
	bool				shared;
	u8				state[] __aligned(64);
};

/* kernel/events/simd_attr.c; refuses all SIMD attributes where there is no support. */
int perf_simd_regs_validate(const struct perf_event_attr *attr);
int arch_perf_simd_regs_validate(const struct perf_event_attr *attr);

#ifdef CONFIG_PERF_SIMD_REGS

bool perf_event_wants_simd_regs(const struct perf_event *event);
int perf_simd_regs_init_event(struct perf_event *event);
void perf_simd_regs_free_event(struct perf_event *event);

struct perf_simd_bufs;

/* NULL as long as no event has SIMD registers. */
extern struct perf_simd_bufs __rcu *perf_simd_bufs;

void __perf_simd_regs_begin_overflow(void);
void __perf_simd_regs_end_overflow(void);

/**
 * perf_simd_regs_begin_overflow - the samples that follow share their registers
 *
 * For a handler that takes samples of several events for one interrupt, in a
 * context where nothing changes the registers between them: an NMI.
 *
 * Context: NMI, or with interrupts disabled. Does not nest.
 */
static inline void perf_simd_regs_begin_overflow(void)
{
	if (unlikely(rcu_access_pointer(perf_simd_bufs)))
		__perf_simd_regs_begin_overflow();
}

/**
 * perf_simd_regs_end_overflow - ends what perf_simd_regs_begin_overflow() began
 *
 * Context: the same.
 */
static inline void perf_simd_regs_end_overflow(void)
{
	if (unlikely(rcu_access_pointer(perf_simd_bufs)))
		__perf_simd_regs_end_overflow();
}

void perf_simd_regs_set_record(const struct perf_simd_record *record);

void perf_simd_regs_begin_sample(void);
int perf_simd_regs_prepare(struct perf_event *event, struct perf_regs *regs,
			   enum perf_simd_side side, struct pt_regs *pt_regs);
void perf_simd_regs_output(struct perf_output_handle *handle,
			   const struct perf_simd_regs *simd);

struct perf_simd_bank *perf_simd_add_bank(struct perf_simd_regs *simd, u32 mask);
void perf_simd_add_part(struct perf_simd_regs *simd, struct perf_simd_bank *bank,
			const void *base, unsigned int bytes);
void perf_simd_add_head(struct perf_simd_regs *simd,
			unsigned int nr_vectors, unsigned int vector_qwords,
			unsigned int nr_pred, unsigned int pred_qwords);

/* The architecture's part. */
bool arch_perf_wants_simd_regs(const struct perf_event_attr *attr);
void arch_perf_simd_regs_init_event(const struct perf_event_attr *attr,
				    struct perf_simd_event *simd);
size_t arch_perf_simd_regs_size(void);
bool arch_perf_simd_regs_capture(struct perf_event *event,
				 enum perf_simd_side side,
				 struct pt_regs *pt_regs,
				 struct perf_simd_buf *buf);

#else /* !CONFIG_PERF_SIMD_REGS */

static inline bool perf_event_wants_simd_regs(const struct perf_event *event)
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
static inline void perf_simd_regs_set_record(const struct perf_simd_record *record) { }
static inline void perf_simd_regs_begin_sample(void) { }

static inline int perf_simd_regs_prepare(struct perf_event *event,
					 struct perf_regs *regs,
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
