/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simd_live_run(): loads a pattern and keeps it live in the registers while it
 * spins and makes system calls. It is assembly so that nothing else can touch
 * the registers, and the code from simd_live_begin to simd_live_end is where a
 * marker in R8 can be trusted. While it is there R9 has the shadow stack pointer,
 * or 0 without such a stack. A 32-bit program has the marker in EDI and ESI, one
 * of arm64 in X28, one of 32 bits on arm64 in R11 and R10.
 */
#ifndef SIMD_REGS_LIVE_H
#define SIMD_REGS_LIVE_H

/* How to load struct simd_live::image. */
#define SIMD_LOAD_XMM		0	/* 16 registers, one every 32 bytes */
#define SIMD_LOAD_YMM		1	/* 16 registers, one every 32 bytes */
#define SIMD_LOAD_XSTATE	2	/* standard format XSAVE image */
#define SIMD_LOAD_NOTHING	3	/* leave the registers as they are */
/* On arm64 */
#define SIMD_LOAD_V		4	/* 32 registers, one every 32 bytes */
#define SIMD_LOAD_SVE		5	/* Z, P, FFR without gaps, as the kernel has them */
#define SIMD_LOAD_STREAMING	6	/* the same, in streaming mode */

/* struct simd_live::rfbm on arm64 */
#define SIMD_LIVE_RELOAD_BIT	0	/* each round: the calls lose registers */
#define SIMD_LIVE_FFR_BIT	1	/* there is an FFR */

/* Instead of the number of a system call: trap to the kernel in another way */
#define SIMD_CALL_TRAP		(-1)
/* ... or change to SVCR, argument 0, and spin, argument 2, with the marker, argument 1 */
#define SIMD_CALL_MODE		(-2)

/* Offsets into struct simd_live */
#define LIVE_MARKER		0
#define LIVE_IMAGE		8
#define LIVE_DUMP		16
#define LIVE_LOAD		24
#define LIVE_RFBM		32
#define LIVE_SPIN		40
#define LIVE_ROUNDS		48
#define LIVE_CALLS		56
#define LIVE_NR_CALLS		64
#define LIVE_STOP		72
#define LIVE_FAILED		80
#define LIVE_ERROR		88
#define LIVE_CALL_MARKER	96
#define LIVE_WRITE		104
#define LIVE_DEADLINE		112

/* Offsets into struct simd_call, and its size */
#define CALL_NR			0
#define CALL_ARG0		8
#define CALL_ARG1		16
#define CALL_ARG2		24
#define CALL_ARG3		32
#define CALL_SIZE		40

#ifndef __ASSEMBLER__

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One system call to make while the pattern is live. */
struct simd_call {
	__u64 nr;
	__u64 arg[4];
};

/* Addresses are words of 64 bits, in programs with shorter pointers too. */
#define SIMD_ADDRESS(pointer)	((__u64)(uintptr_t)(pointer))

struct simd_live {
	__u64 marker;		/* what R8 or X28 holds while live, or two that are shorter */
	__u64 image;		/* address: what to load */
	__u64 dump;		/* address: where to store the registers after, same format */
	__u64 load;			/* SIMD_LOAD_* */
	__u64 rfbm;			/* components of an XSAVE image */
	__u64 spin;			/* loop iterations at the start of a round */
	__u64 rounds;		/* of spinning and all the calls */
	__u64 calls;		/* address of struct simd_call[] */
	__u64 nr_calls;
	__u64 stop;		/* address of a __u64 that ends the rounds early */
	__u64 failed;		/* out: system calls that failed */
	__s64 error;			/* out: how the last of them did */
	__u64 call_marker;	/* arm64: what X28 holds from the calls on */
	__u64 write;		/* where a vector is stored before the calls: 8 bytes; or 0 */
	__u64 deadline;		/* of the counter of time, ends the rounds too: 64 bits; or 0 */
};

_Static_assert(offsetof(struct simd_live, marker) == LIVE_MARKER, "asm");
_Static_assert(offsetof(struct simd_live, image) == LIVE_IMAGE, "asm");
_Static_assert(offsetof(struct simd_live, dump) == LIVE_DUMP, "asm");
_Static_assert(offsetof(struct simd_live, load) == LIVE_LOAD, "asm");
_Static_assert(offsetof(struct simd_live, rfbm) == LIVE_RFBM, "asm");
_Static_assert(offsetof(struct simd_live, spin) == LIVE_SPIN, "asm");
_Static_assert(offsetof(struct simd_live, rounds) == LIVE_ROUNDS, "asm");
_Static_assert(offsetof(struct simd_live, calls) == LIVE_CALLS, "asm");
_Static_assert(offsetof(struct simd_live, nr_calls) == LIVE_NR_CALLS, "asm");
_Static_assert(offsetof(struct simd_live, stop) == LIVE_STOP, "asm");
_Static_assert(offsetof(struct simd_live, failed) == LIVE_FAILED, "asm");
_Static_assert(offsetof(struct simd_live, error) == LIVE_ERROR, "asm");
_Static_assert(offsetof(struct simd_live, call_marker) == LIVE_CALL_MARKER, "asm");
_Static_assert(offsetof(struct simd_live, write) == LIVE_WRITE, "asm");
_Static_assert(offsetof(struct simd_live, deadline) == LIVE_DEADLINE, "asm");
_Static_assert(offsetof(struct simd_call, arg[3]) == CALL_ARG3, "asm");
_Static_assert(sizeof(struct simd_call) == CALL_SIZE, "asm");

/*
 * Returns 0, or 1 in the child of a fork() among the calls. The child has spun
 * with its parent's pattern for two rounds by then.
 */
int simd_live_run(struct simd_live *live);

extern const char simd_live_begin[], simd_live_end[];
/* Once in a round: where the pattern is live, after spinning and that write */
extern const char simd_live_probe[];

/* Is @ip where a marker holds? */
static inline bool simd_live_ip(__u64 ip)
{
	return ip >= (uintptr_t)simd_live_begin && ip < (uintptr_t)simd_live_end;
}

#endif /* __ASSEMBLER__ */
#endif /* SIMD_REGS_LIVE_H */
