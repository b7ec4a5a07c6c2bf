/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decodes PERF_RECORD_SAMPLE with its register blocks, after the description in
 * the UAPI header and nothing else.
 */
#ifndef SIMD_REGS_RECORD_H
#define SIMD_REGS_RECORD_H

#include <asm/perf_regs.h>
#include <linux/const.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>

#ifdef __aarch64__

#define SIMD_REG_IP		PERF_REG_ARM64_PC
#define SIMD_REG_MARKER		PERF_REG_ARM64_X28
/* In 32-bit code */
#define SIMD_MARKER_REGS_32	(_BITULL(PERF_REG_ARM64_PC) | _BITULL(PERF_REG_ARM64_X10) | \
				 _BITULL(PERF_REG_ARM64_X11))

#else

#define SIMD_REG_IP		PERF_REG_X86_IP
#define SIMD_REG_MARKER		PERF_REG_X86_R8
/* In 32-bit code */
#define SIMD_MARKER_REGS_32	(_BITULL(PERF_REG_X86_IP) | _BITULL(PERF_REG_X86_SI) | \
				 _BITULL(PERF_REG_X86_DI))
#define SIMD_EGPR_REGS		(0xffffULL << PERF_REG_X86_R16)
#define SIMD_SSP_REG		_BITULL(PERF_REG_X86_SSP)

#endif

#define SIMD_MARKER_REGS	(_BITULL(SIMD_REG_IP) | _BITULL(SIMD_REG_MARKER))

/*
 * One register block: REGS_USER or REGS_INTR. XMM registers that were asked for
 * by the old bits of sample_regs_*, among the GPRs, appear as vectors.
 */
struct simd_block {
	__u64 abi;
	__u64 gpr_mask;	/* of regs[], 0 with PERF_SAMPLE_REGS_ABI_NONE */
	const __u64 *regs;
	bool has_simd;		/* there is a header, which may say 0 */
	__u64 vec_mask, pred_mask;	/* what was asked for */
	__u64 nr_vectors, vector_qwords, nr_pred, pred_qwords;
	const __u64 *vectors, *preds;
};

struct simd_sample {
	unsigned int cpumode;	/* PERF_RECORD_MISC_KERNEL, _USER ... */
	__u64 ip;
	__u32 pid, tid;
	__u32 cpu;
	struct simd_block user, intr;
};

/* Else in the kernel, or in a guest */
static inline bool simd_in_user_mode(const struct simd_sample *sample)
{
	return sample->cpumode == PERF_RECORD_MISC_USER;
}

static inline bool simd_in_guest(const struct simd_sample *sample)
{
	return sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
}

/*
 * Decodes @header with @attr's sample_type. NULL, or why it is malformed. A
 * record has to be as long as the sum of its parts.
 */
const char *simd_decode(const struct perf_event_header *header,
			const struct perf_event_attr *attr,
			struct simd_sample *sample);

/* GPR number @reg of a block; false if it was not sampled */
bool simd_block_reg(const struct simd_block *block, unsigned int reg, __u64 *value);

#endif /* SIMD_REGS_RECORD_H */
