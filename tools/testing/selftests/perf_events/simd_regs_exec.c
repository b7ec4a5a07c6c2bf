// SPDX-License-Identifier: GPL-2.0
/*
 * simd_regs_exec: a program without a C library that shows what exec() does to
 * the vector registers. It keeps the zeros of a new program for a while, then a
 * pattern of its own, then executes itself again, without end. It is also built
 * as a program of 32 bits, and on x86 for x32. On arm64 it does so in the mode that
 * the pattern was loaded in, with vectors of another length each time.
 *
 * usage: simd_regs_exec SEED xmm|ymm|v|z|streaming COUNTER
 */
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/prctl.h>
#include <stddef.h>

#include "simd_regs_live.h"
#include "simd_regs_pattern.h"

#define SPIN	50000

#ifdef __aarch64__
#include <asm/hwcap.h>
#include "simd_regs_image_arm64.h"
#define FLAGS		SIMD_MARK_ANY_IP
#define IMAGE_SIZE	SIMD_SVE_SIZE(SIMD_MAX_VL)
#define LAST_REG	SIMD_REG_FFR
#define MAX_WORDS	32
#elif defined(__arm__)
#define FLAGS		(SIMD_MARK_ANY_IP | SIMD_MARK_32BIT)
#define IMAGE_SIZE	512
#define LAST_REG	15
#define MAX_WORDS	2
#else
#define IMAGE_SIZE	512
#define LAST_REG	15
#define MAX_WORDS	4
#ifdef SIMD_32BIT
#define FLAGS		(SIMD_MARK_ANY_IP | SIMD_MARK_REST_ZERO | SIMD_MARK_32BIT)
#else
#define FLAGS		(SIMD_MARK_ANY_IP | SIMD_MARK_REST_ZERO)
#endif
#endif

/* What is loaded, into vectors of how many bytes */
struct class {
	unsigned int load, vl;
	__u16 parts;
};

static const __u64 never_stop;
static __u64 image[IMAGE_SIZE / 8], dump[IMAGE_SIZE / 8];
static struct simd_live live;
static struct simd_call calls[] = {
	{ .nr = __NR_getppid }, { .nr = __NR_sched_yield }, { .nr = __NR_getppid },
};

/* The compiler must not keep the marker where it would be taken for a live one. */
#if defined(__aarch64__)
register unsigned long marker_register asm("x28");
#elif defined(__arm__)
register unsigned long marker_low asm("r10"), marker_high asm("r11");
#elif defined(SIMD_32BIT)
register unsigned long marker_low asm("edi"), marker_high asm("esi");
#endif

#ifdef __arm__
static long syscall4(long nr, long arg0, long arg1, long arg2, long arg3)
{
	register long r7 asm("r7") = nr, r0 asm("r0") = arg0, r1 asm("r1") = arg1;
	register long r2 asm("r2") = arg2, r3 asm("r3") = arg3;

	asm volatile("svc #0" : "+r" (r0) : "r" (r7), "r" (r1), "r" (r2), "r" (r3) : "memory");
	return r0;
}
#endif

static long syscall3(long nr, long arg0, long arg1, long arg2)
{
	long ret;

#if defined(__aarch64__)
	register long x8 asm("x8") = nr, x0 asm("x0") = arg0;
	register long x1 asm("x1") = arg1, x2 asm("x2") = arg2;

	asm volatile("svc #0" : "+r" (x0) : "r" (x8), "r" (x1), "r" (x2) : "memory");
	ret = x0;
#elif defined(__arm__)
	ret = syscall4(nr, arg0, arg1, arg2, 0);
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

/* What system calls leave of registers is loaded again each time. */
static void keep(__u64 marker, unsigned int load)
{
	live.marker = marker;
#ifdef __aarch64__
	live.call_marker = simd_call_marker(load, marker);
	live.rfbm = (load == SIMD_LOAD_SVE || load == SIMD_LOAD_STREAMING) << SIMD_LIVE_RELOAD_BIT |
		    !!(marker & SIMD_MARK_FFR) << SIMD_LIVE_FFR_BIT;
#endif
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

static size_t place_of(const struct class *cls, unsigned int reg, unsigned int word,
		       unsigned int *bytes)
{
#ifdef __aarch64__
	return simd_image_place(cls->load, cls->vl, reg, word, bytes);
#else
	(void)cls;
	*bytes = sizeof(__u64);
	return reg * 32 + word * sizeof(__u64);
#endif
}

/* A word, or what there is of it, at @place of an image */
typedef int word_fn(size_t place, __u64 value, unsigned int bytes);

static void visit_words(const struct class *cls, __u64 marker, word_fn *fn)
{
	unsigned int reg, word, bytes;
	size_t place;
	__u64 value;

	for (reg = 0; reg <= LAST_REG; reg++) {
		if (reg >= 32 && reg < SIMD_REG_PRED)
			continue;
		for (word = 0; word < MAX_WORDS; word++) {
			if (!simd_expect(marker, reg, word, &value))
				continue;
			place = place_of(cls, reg, word, &bytes);
			if (fn(place, value, bytes))
				syscall3(__NR_exit, 3, 0, 0);
		}
	}
}

static int put(size_t place, __u64 value, unsigned int bytes)
{
	__u8 *byte = (__u8 *)image + place;

	if (bytes == sizeof(value)) {
		image[place / sizeof(value)] = value;
		return 0;
	}
	for (; bytes--; value >>= 8)
		*byte++ = value;
	return 0;
}

/* The registers were stored to where the image is, but in dump[]. */
static int differs(size_t place, __u64 value, unsigned int bytes)
{
	const __u8 *byte = (const __u8 *)dump + place;

	if (bytes == sizeof(value))
		return dump[place / sizeof(value)] != value;
	for (; bytes--; value >>= 8) {
		if (*byte++ != (__u8)value)
			return 1;
	}
	return 0;
}

#ifdef __aarch64__

/* @word: behind argv[] on the stack */
static bool has_fa64(const long *word)
{
	while (*word++)
		;
	for (; *word != AT_NULL; word += 2) {
		if (*word == AT_HWCAP2)
			return word[1] & HWCAP2_SME_FA64;
	}
	return false;
}

static struct class get_class(const char *name, unsigned int phase, const long *env)
{
	static const unsigned int lengths[] = { 256, 16, 64, 32 };
	struct class cls = { .load = SIMD_LOAD_V, .parts = SIMD_MARK_V };
	bool streaming = name[0] == 's';
	long vl;

	if (!streaming && name[0] != 'z')
		return cls;
	vl = syscall3(__NR_prctl, streaming ? PR_SME_SET_VL : PR_SVE_SET_VL,
		      lengths[phase % (sizeof(lengths) / sizeof(*lengths))], 0);
	if (vl < 0)
		syscall3(__NR_exit, 5, 0, 0);
	cls.vl = vl & PR_SVE_VL_LEN_MASK;
	cls.load = streaming ? SIMD_LOAD_STREAMING : SIMD_LOAD_SVE;
	cls.parts |= SIMD_MARK_Z | SIMD_MARK_P | SIMD_MARK_VQ(cls.vl / 16);
	if (!streaming || has_fa64(env))
		cls.parts |= SIMD_MARK_FFR;
	return cls;
}

/* In the mode and with the registers that are live, which a return would end */
static void execute(char **argv)
{
	static struct simd_call calls[] = { { .nr = __NR_execve } };

	calls[0].arg[0] = SIMD_ADDRESS(argv[0]);
	calls[0].arg[1] = SIMD_ADDRESS(argv);
	live.calls = SIMD_ADDRESS(calls);
	live.nr_calls = 1;
	live.call_marker = 0;
	simd_live_run(&live);
}

#else

static struct class get_class(const char *name, unsigned int phase, const long *env)
{
#ifdef __arm__
	struct class cls = { .load = SIMD_LOAD_V, .parts = SIMD_MARK_V };
#else
	struct class cls = { .load = SIMD_LOAD_XMM, .parts = SIMD_MARK_XMM };

	if (name[0] == 'y') {
		cls.load = SIMD_LOAD_YMM;
		cls.parts |= SIMD_MARK_YMM;
	}
#endif
	(void)name;
	(void)phase;
	(void)env;
	return cls;
}

static void execute(char **argv)
{
	syscall3(__NR_execve, (long)argv[0], (long)argv, 0);
}

#endif

#ifdef __arm__

/*
 * The last call becomes a signal to itself. The handler leaves the registers as they
 * are, and the return from it, which puts them in place again, has to do so as well.
 */
static void handle(int sig)
{
	(void)sig;
}

static void use_signals(void)
{
	/* As struct sigaction of the system call has them: flags, restorer, mask */
	static unsigned long action[5];
	struct simd_call *call = &calls[sizeof(calls) / sizeof(*calls) - 1];
	const int sigusr1 = 10;

	action[0] = (unsigned long)handle;
	if (syscall4(__NR_rt_sigaction, sigusr1, (long)action, 0, 8))
		syscall3(__NR_exit, 6, 0, 0);
	call->nr = __NR_kill;
	call->arg[0] = syscall3(__NR_getpid, 0, 0, 0);
	call->arg[1] = sigusr1;
}

#else

static void use_signals(void)
{
}

#endif

/* @stack: argc, argv[], NULL, environment. Does not return. */
void run(long *stack);

void run(long *stack)
{
	char **argv = (char **)(stack + 1);
	unsigned int seed, phase;
	struct class cls;
	__u64 marker;

	if (*stack != 4)
		syscall3(__NR_exit, 2, 0, 0);
	seed = number(argv[1]);
	phase = number(argv[3]);
	use_signals();
	/* Nothing but what a new program has, until it has used something else */
	cls = get_class("", 0, NULL);
	keep(simd_marker(seed, phase, FLAGS | cls.parts | SIMD_MARK_ZERO), SIMD_LOAD_NOTHING);

	cls = get_class(argv[2], phase, stack + *stack + 2);
	marker = simd_marker(seed, phase, FLAGS | cls.parts);
	visit_words(&cls, marker, put);
	keep(marker, cls.load);
	visit_words(&cls, marker, differs);

	increment(argv[3]);
	execute(argv);
	syscall3(__NR_exit, 4, 0, 0);
}

#if defined(__aarch64__)
asm(".globl _start; _start: mov x0, sp; bl run");
#elif defined(__arm__)
asm(".globl _start; _start: mov r0, sp; bic sp, sp, #7; bl run");
#elif defined(SIMD_32BIT)
asm(".globl _start; _start: mov %esp, %eax; and $-16, %esp; sub $12, %esp; push %eax; call run");
#else
asm(".globl _start; _start: mov %rsp, %rdi; and $-16, %rsp; call run");
#endif
