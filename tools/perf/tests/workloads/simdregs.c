// SPDX-License-Identifier: GPL-2.0
/*
 * A loop that keeps a known value in each vector register. While the code is in
 * simdregs_loop(), word q of register r is SIMDREGS_WORD(r, q).
 *
 * usage: simdregs [SECONDS] [spin|syscall]
 *
 * With "syscall" the loop enters the kernel each time around, for samples of
 * user registers that are taken there. On x86 these are the YMM registers, XMM
 * if the CPU has no AVX; on arm64 the V registers.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <sys/syscall.h>
#include "../tests.h"

#define SIMDREGS_WORD(r, q)	(0x51d0000000000000ULL | (uint64_t)(r) << 32 | (q))

#define NR_REGS		32
#define NR_QWORDS	4

/* Read by the loop below, through a pointer. */
static sig_atomic_t done;

static void sighandler(int sig __maybe_unused)
{
	done = 1;
}

/* Loads the registers, and runs until *done is set. nr is a system call or -1. */
typedef void simdregs_fn(const uint64_t regs[NR_REGS][NR_QWORDS], sig_atomic_t *done, long nr);

/*
 * Written in assembly as a whole: a compiler would be free to use the registers
 * between loading them and the loop. A symbol of its own for the loop tells
 * samples with all values in place from the others.
 */
#define FUNC(name)	".type " #name ", %function\n" #name ":\n"
#define END(name)	".size " #name ", . - " #name "\n"

#if defined(__x86_64__)

/* regs in rdi, done in rsi, nr in rdx */
asm(".pushsection .text, \"ax\"\n"
	FUNC(simdregs_load_xmm)
	".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"movdqu \\r * 32(%rdi), %xmm\\r\n"
	".endr\n"
	"jmp simdregs_loop\n"
	END(simdregs_load_xmm)

	FUNC(simdregs_load_ymm)
	".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"vmovdqu \\r * 32(%rdi), %ymm\\r\n"
	".endr\n"
	END(simdregs_load_ymm)

	FUNC(simdregs_loop)
	"1: cmpl $0, (%rsi)\n"
	"jne simdregs_end\n"
	"testq %rdx, %rdx\n"
	"js 1b\n"
	"movq %rdx, %rax\n"
	"syscall\n"
	"jmp 1b\n"
	END(simdregs_loop)

	FUNC(simdregs_end)
	"ret\n"
	END(simdregs_end)
	".popsection\n");

simdregs_fn simdregs_load_xmm, simdregs_load_ymm;

static simdregs_fn *simdregs_function(void)
{
	return __builtin_cpu_supports("avx") ? simdregs_load_ymm : simdregs_load_xmm;
}

#elif defined(__aarch64__)

/* regs in x0, done in x1, nr in x2 */
asm(".pushsection .text, \"ax\"\n"
	FUNC(simdregs_load_v)
	/* The caller expects its d8 to d15 back. */
	"sub sp, sp, #64\n"
	"stp d8, d9, [sp]\n"
	"stp d10, d11, [sp, #16]\n"
	"stp d12, d13, [sp, #32]\n"
	"stp d14, d15, [sp, #48]\n"
	".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"ldr q\\r, [x0], #32\n"
	".endr\n"
	".irp r, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
	"ldr q\\r, [x0], #32\n"
	".endr\n"
	END(simdregs_load_v)

	FUNC(simdregs_loop)
	"1: ldr w9, [x1]\n"
	"cbnz w9, simdregs_end\n"
	"tbnz x2, #63, 1b\n"
	"mov x8, x2\n"
	"svc #0\n"
	"b 1b\n"
	END(simdregs_loop)

	FUNC(simdregs_end)
	"ldp d8, d9, [sp]\n"
	"ldp d10, d11, [sp, #16]\n"
	"ldp d12, d13, [sp, #32]\n"
	"ldp d14, d15, [sp, #48]\n"
	"add sp, sp, #64\n"
	"ret\n"
	END(simdregs_end)
	".popsection\n");

simdregs_fn simdregs_load_v;

static simdregs_fn *simdregs_function(void)
{
	return simdregs_load_v;
}

#else

static simdregs_fn *simdregs_function(void)
{
	return NULL;
}

#endif

static int simdregs(int argc, const char **argv)
{
	static uint64_t regs[NR_REGS][NR_QWORDS];
	simdregs_fn *run = simdregs_function();
	double sec = 1.0;
	long nr = -1;

	if (!run) {
		fprintf(stderr, "Error: no code for this architecture\n");
		return 1;
	}

	if (argc > 0)
		sec = atof(argv[0]);
	if (!(sec > 0.0)) {
		fprintf(stderr, "Error: seconds (%f) must be > 0\n", sec);
		return 1;
	}

	if (argc > 1 && !strcmp(argv[1], "syscall"))
		nr = SYS_getppid;

	for (int r = 0; r < NR_REGS; r++) {
		for (int q = 0; q < NR_QWORDS; q++)
			regs[r][q] = SIMDREGS_WORD(r, q);
	}

	signal(SIGINT, sighandler);
	signal(SIGALRM, sighandler);
	if (sec < 1.0)
		ualarm((useconds_t)(sec * 1000000.0) ?: 1, 0);
	else
		alarm((unsigned int)sec);

	run(regs, &done, nr);
	return 0;
}

DEFINE_WORKLOAD(simdregs);
