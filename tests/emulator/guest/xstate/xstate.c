// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three processes on one CPU keep a pattern each in all XSAVE components that user
 * mode can load, across context switches, signals, fork() and page faults.
 *
 * No instruction but XRSTOR loads some of them, so this checks by XRSTOR and XSAVE
 * alone, and works whether or not the CPU executes AVX-512 and APX. From the first
 * XRSTOR to the last XSAVE nothing else may touch those registers; the loops in
 * between are written in assembly.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES	3
#define ROUNDS		40
#define SPINS		2000000
#define AREA		8192
#define COMPONENTS	20

enum { X87, SSE, AVX, BNDREGS, BNDCSR, OPMASK, ZMM_HI256, HI16_ZMM, PKRU = 9, APX = 19 };

static const char *const name[COMPONENTS] = {
	"x87", "SSE", "AVX", "BNDREGS", "BNDCSR", "opmask", "ZMM_Hi256", "Hi16_ZMM",
	[PKRU] = "PKRU", [APX] = "APX",
};

static uint8_t pattern[AREA] __attribute__((aligned(64)));
static uint8_t seen[AREA] __attribute__((aligned(64)));
static unsigned int offset[COMPONENTS], size[COMPONENTS];
static uint64_t xcr0;
static volatile sig_atomic_t signals;

static void find_components(void)
{
	unsigned int a, b, c, d;
	uint32_t lo, hi;

	asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	xcr0 = (uint64_t)hi << 32 | lo;
	offset[X87] = 32;
	size[X87] = 128;
	offset[SSE] = 160;
	size[SSE] = 256;
	for (int i = 2; i < COMPONENTS; i++) {
		if (!(xcr0 & 1ull << i))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		offset[i] = b;
		/* The rest of BNDCSR is reserved; PKRU is left as it is: 0 would not be random. */
		size[i] = i == BNDCSR ? 16 : i == PKRU ? 0 : a;
	}
}

static void make_pattern(unsigned int seed)
{
	uint16_t fcw = 0x37f;
	uint32_t mxcsr = 0x1f80, mask = 0xffff;
	uint64_t bv = 0;

	srandom(seed);
	memset(pattern, 0, sizeof(pattern));
	memcpy(pattern, &fcw, 2);
	pattern[4] = 0xff;
	memcpy(pattern + 24, &mxcsr, 4);
	memcpy(pattern + 28, &mask, 4);
	for (int i = 0; i < COMPONENTS; i++) {
		if (!(xcr0 & 1ull << i) || !size[i])
			continue;
		for (unsigned int j = 0; j < size[i]; j++)
			if (i != X87 || j % 16 < 10)
				pattern[offset[i] + j] = random() >> 7;
		/* The MPX configuration: no branch may look at bounds. */
		if (i == BNDCSR)
			memset(pattern + offset[i], 0, 16);
		bv |= 1ull << i;
	}
	memcpy(pattern + 512, &bv, 8);
}

static int wrong(const uint8_t *area, const char *when)
{
	int bad = 0;

	for (int i = 0; i < COMPONENTS; i++) {
		if (!(xcr0 & 1ull << i) || !size[i])
			continue;
		for (unsigned int j = 0; j < size[i]; j++) {
			if (i == X87 && j % 16 >= 10)
				continue;
			if (area[offset[i] + j] == pattern[offset[i] + j])
				continue;
			printf("# process %d, %s: byte %u of %s is 0x%x, not 0x%x\n", (int)getpid(),
			       when, j, name[i], area[offset[i] + j], pattern[offset[i] + j]);
			bad++;
			break;
		}
	}
	return bad;
}

#define RFBM(mask) "a"((uint32_t)(mask)), "d"((uint32_t)((mask) >> 32))

/* Load the pattern, count down, and save what then is there. */
static void spin(uint64_t mask)
{
	memset(seen, 0, sizeof(seen));
	asm volatile("xrstor64 (%0)\n\t"
		     "movq %2, %%rcx\n"
		     "1:\tdecq %%rcx\n\t"
		     "jnz 1b\n\t"
		     "xsave64 (%1)"
		     : : "r"(pattern), "r"(seen), "i"(SPINS), RFBM(mask) : "rcx", "memory");
}

/* The same around one system call, which the caller must not miss anything in. */
static long across_syscall(uint64_t mask, long number, long a0, long a1, long a2)
{
	long result;

	memset(seen, 0, sizeof(seen));
	asm volatile("xrstor64 (%[from])\n\t"
		     "movq %[number], %%rax\n\t"
		     "movq %[a0], %%rdi\n\t"
		     "movq %[a1], %%rsi\n\t"
		     "movq %[a2], %%rdx\n\t"
		     "syscall\n\t"
		     "movq %%rax, %%rbx\n\t"
		     "movl %[lo], %%eax\n\t"
		     "movl %[hi], %%edx\n\t"
		     "xsave64 (%[to])\n\t"
		     "movq %%rbx, %[result]"
		     : [result] "=&m"(result)
		     : [from] "r"(pattern), [to] "r"(seen), [number] "m"(number), [a0] "m"(a0),
		       [a1] "m"(a1), [a2] "m"(a2), [lo] "m"(mask), [hi] "m"(((uint32_t *)&mask)[1]),
		       "a"((uint32_t)mask), "d"((uint32_t)(mask >> 32))
		     : "rbx", "rcx", "rdi", "rsi", "r11", "memory");
	return result;
}

/* A handler that spoils every register: what it interrupts must not see that. */
static uint8_t other[AREA] __attribute__((aligned(64)));

static void on_signal(int sig)
{
	asm volatile("xrstor64 (%0)" : : "r"(other), RFBM(xcr0 & ~(1ull << PKRU)) : "memory");
	signals++;
}

static int process(unsigned int seed)
{
	uint64_t mask = xcr0 & ~(1ull << PKRU);
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_signal };
	struct timespec ts = { 0, 1000000 };
	int bad = 0, status;

	make_pattern(seed + 1000);
	memcpy(other, pattern, sizeof(other));
	make_pattern(seed);
	sigaction(SIGALRM, &action, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		setitimer(ITIMER_REAL, &often, NULL);
		spin(mask);
		setitimer(ITIMER_REAL, &never, NULL);
		bad += wrong(seen, "spinning, with signals");

		across_syscall(mask, SYS_sched_yield, 0, 0, 0);
		bad += wrong(seen, "over sched_yield()");
		across_syscall(mask, SYS_nanosleep, (long)&ts, 0, 0);
		bad += wrong(seen, "over nanosleep()");
		across_syscall(mask, SYS_kill, getpid(), SIGALRM, 0);
		bad += wrong(seen, "over a signal to itself");

		if (round % 8 == 0) {
			pid_t child;

			fflush(stdout);
			child = across_syscall(mask, SYS_fork, 0, 0, 0);
			if (child == 0) {
				bad = wrong(seen, "in the child of fork()");
				fflush(stdout);
				_exit(bad ? 1 : 0);
			}
			bad += wrong(seen, "over fork()");
			waitpid(child, &status, 0);
			bad += !WIFEXITED(status) || WEXITSTATUS(status);
		}
	}
	printf("# process %d: %d signals, %d wrong\n", (int)getpid(), (int)signals, bad);
	if (signals < ROUNDS) {
		printf("# too few signals to show anything\n");
		bad++;
	}
	return bad;
}

int main(void)
{
	cpu_set_t one;
	int failed = 0, status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one)) {
		perror("sched_setaffinity");
		return 2;
	}
	find_components();
	printf("# XCR0 0x%lx\n", (unsigned long)xcr0);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (pid == 0)
			exit(process(i + 1) ? 1 : 0);
	}
	for (int i = 0; i < PROCESSES; i++) {
		wait(&status);
		failed += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	printf("%s 1 - %d processes keep all components on one CPU\n", failed ? "not ok" : "ok",
	       PROCESSES);
	printf("1..1\n");
	return !!failed;
}
