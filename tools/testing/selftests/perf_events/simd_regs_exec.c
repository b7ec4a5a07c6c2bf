// SPDX-License-Identifier: GPL-2.0
/*
 * simd_regs_exec: a program without a C library that shows what exec() does to
 * the vector registers. It keeps the zeros of a new program for a while, then a
 * pattern of its own, then executes itself again, without end. On x86 it is also
 * built as a program of 32 bits and for x32.
 *
 * usage: simd_regs_exec SEED xmm|ymm|v COUNTER
 */
#include <asm/unistd.h>
#include <stddef.h>

#include "simd_regs_live.h"
#include "simd_regs_pattern.h"

#define SPIN	20000

#ifdef __aarch64__
#define NR_REGS		32
#define FLAGS		SIMD_MARK_ANY_IP
#else
#define NR_REGS		16
#ifdef SIMD_32BIT
#define FLAGS		(SIMD_MARK_ANY_IP | SIMD_MARK_REST_ZERO | SIMD_MARK_32BIT)
#else
#define FLAGS		(SIMD_MARK_ANY_IP | SIMD_MARK_REST_ZERO)
#endif
#endif

static const __u64 never_stop;
/* One register every 32 bytes */
static __u64 image[NR_REGS * 4], dump[NR_REGS * 4];
static struct simd_live live;
static const struct simd_call calls[] = {
	{ .nr = __NR_getppid }, { .nr = __NR_sched_yield }, { .nr = __NR_getppid },
};

static long syscall3(long nr, long arg0, long arg1, long arg2)
{
	long ret;

#if defined(__aarch64__)
	register long x8 asm("x8") = nr, x0 asm("x0") = arg0;
	register long x1 asm("x1") = arg1, x2 asm("x2") = arg2;

	asm volatile("svc #0" : "+r" (x0) : "r" (x8), "r" (x1), "r" (x2) : "memory");
	ret = x0;
#elif defined(SIMD_32BIT)
	asm volatile("int $0x80" : "=a" (ret)
		     : "a" (nr), "b" (arg0), "c" (arg1), "d" (arg2) : "memory");
#else
	asm volatile("syscall" : "=a" (ret)
		     : "a" (nr), "D" (arg0), "S" (arg1), "d" (arg2)
		     : "rcx", "r11", "memory");
#endif
	return ret;
}

static unsigned int number(const char *digits)
{
	unsigned int n = 0;

	while (*digits)
		n = n * 10 + *digits++ - '0';
	return n;
}

/* Counts up in place, the last digit first. */
static void increment(char *digits)
{
	char *end = digits;

	while (*end)
		end++;
	while (end-- > digits) {
		if (*end < '9') {
			++*end;
			return;
		}
		*end = '0';
	}
}

static void keep(__u64 marker, unsigned int load)
{
	live.marker = marker;
	live.call_marker = marker;
	live.load = load;
	live.image = SIMD_ADDRESS(image);
	live.dump = SIMD_ADDRESS(dump);
	live.spin = SPIN;
	live.rounds = 2;
	live.calls = SIMD_ADDRESS(calls);
	live.nr_calls = sizeof(calls) / sizeof(*calls);
	live.stop = SIMD_ADDRESS(&never_stop);
	simd_live_run(&live);
}

typedef int word_fn(__u64 *place, __u64 value);

static void visit_words(__u64 marker, word_fn *fn)
{
	unsigned int reg, word;
	__u64 value;

	for (reg = 0; reg < NR_REGS; reg++) {
		for (word = 0; word < 4; word++) {
			if (!simd_expect(marker, reg, word, &value))
				continue;
			if (fn(&image[reg * 4 + word], value))
				syscall3(__NR_exit, 3, 0, 0);
		}
	}
}

static int put(__u64 *place, __u64 value)
{
	*place = value;
	return 0;
}

/* The registers were stored to where the image is, but in dump[]. */
static int differs(__u64 *place, __u64 value)
{
	return dump[place - image] != value;
}

/* @stack: argc, argv[], NULL. Does not return. */
void run(long *stack);

void run(long *stack)
{
	char **argv = (char **)(stack + 1);
	unsigned int parts, load;
	__u64 marker;

	if (*stack != 4)
		syscall3(__NR_exit, 2, 0, 0);
#ifdef __aarch64__
	load = SIMD_LOAD_V;
	parts = SIMD_MARK_V;
#else
	load = argv[2][0] == 'y' ? SIMD_LOAD_YMM : SIMD_LOAD_XMM;
	parts = SIMD_MARK_XMM | (load == SIMD_LOAD_YMM ? SIMD_MARK_YMM : 0);
#endif
	marker = simd_marker(number(argv[1]), number(argv[3]), FLAGS | parts);

	keep(marker | SIMD_MARK_ZERO, SIMD_LOAD_NOTHING);
	visit_words(marker, put);
	keep(marker, load);
	visit_words(marker, differs);

	increment(argv[3]);
	syscall3(__NR_execve, (long)argv[0], (long)argv, 0);
	syscall3(__NR_exit, 4, 0, 0);
}

#if defined(__aarch64__)
asm(".globl _start; _start: mov x0, sp; bl run");
#elif defined(SIMD_32BIT)
asm(".globl _start; _start: mov %esp, %eax; and $-16, %esp; sub $12, %esp; push %eax; call run");
#else
asm(".globl _start; _start: mov %rsp, %rdi; and $-16, %rsp; call run");
#endif
