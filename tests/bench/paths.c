// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ways into the kernel cost that handle vector registers, in instructions.
 *
 * usage: paths
 *
 * For a guest with -icount, where the time-stamp counter (arm64: the virtual counter)
 * advances by so much for each instruction. A way is taken some times in a row, again
 * and again; the row that took least had no interrupt in it. Everything runs on one CPU.
 *
 * Output, a line for each: NAME COST, with a tab between. Rows of the same kernel are the
 * same to a few instructions; a cost is that of a row, divided by its length.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_alg.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS	1000
#define PARTNER_ROWS	100

#if defined(__x86_64__)

static inline uint64_t now(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

static bool have_wide(void)
{
	return __builtin_cpu_supports("avx");
}

/* Registers that system calls keep, and others where the task has them */
static inline void use_vectors(void)
{
	asm volatile("pcmpeqd %%xmm0, %%xmm0" : : : "xmm0");
}

static inline void use_wide(void)
{
	asm volatile("vcmptrueps %%ymm0, %%ymm0, %%ymm0" : : : "xmm0");
}

static inline void trap(void)
{
	asm volatile("int3");
}

static void skip_trap(void *context)
{
	(void)context;
}

#elif defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <ucontext.h>

static inline uint64_t now(void)
{
	uint64_t count;

	asm volatile("isb; mrs %0, cntvct_el0" : "=r" (count));
	return count;
}

static bool have_wide(void)
{
	return getauxval(AT_HWCAP) & HWCAP_SVE;
}

static inline void use_vectors(void)
{
	asm volatile("movi v0.16b, #0x5a" : : : "v0");
}

static inline void use_wide(void)
{
	asm volatile(".arch_extension sve\n"
		     "mov z0.b, #0x5a\n"
		     "ptrue p0.b" : : : "v0");
}

static inline void trap(void)
{
	asm volatile("brk #0");
}

static void skip_trap(void *context)
{
	ucontext_t *uc = context;

	uc->uc_mcontext.pc += 4;
}

#else
#error "there is nothing to be measured on this architecture yet"
#endif

#include "ticks.h"

static int ping[2], pong[2], cipher;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void a_system_call(void)
{
	syscall(SYS_getppid);
}

/* Z and P are live when it is entered, which discards them */
static void a_wide_system_call(void)
{
	use_wide();
	syscall(SYS_getppid);
}

/* There and back: two switches, in four system calls */
static void two_switches(void)
{
	char byte = 0;

	if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
		die("pipe");
}

static void two_vector_switches(void)
{
	use_vectors();
	two_switches();
}

static void two_wide_switches(void)
{
	use_wide();
	two_switches();
}

/* All that is live is saved, changed by a handler, and loaded again. */
static void a_signal(void)
{
	use_vectors();
	trap();
}

static void a_wide_signal(void)
{
	use_wide();
	trap();
}

/* The kernel uses the registers: begins and ends of its sections, in one call */
static void a_section(void)
{
	char block[64] = { 0 };

	use_vectors();
	if (send(cipher, block, sizeof(block), 0) != sizeof(block) ||
	    read(cipher, block, sizeof(block)) != sizeof(block))
		die("AF_ALG");
}

static void a_wide_section(void)
{
	use_wide();
	a_section();
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	skip_trap(context);
}

/* The other end of the pipes, which uses the registers as well */
static void answer(void)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(ping[1]);
	while (read(ping[0], &byte, 1) == 1) {
		use_vectors();
		if (write(pong[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static bool open_cipher(void)
{
	struct sockaddr_alg address = {
		.salg_family = AF_ALG, .salg_type = "skcipher", .salg_name = "ecb(aes)",
	};
	static const char key[16];
	int fd = socket(AF_ALG, SOCK_SEQPACKET, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		strcpy((char *)address.salg_name, "cbc(aes)");
		if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
			return false;
	}
	if (setsockopt(fd, SOL_ALG, ALG_SET_KEY, key, sizeof(key)))
		return false;
	cipher = accept(fd, NULL, 0);
	return cipher >= 0;
}

static const struct {
	const char	*name;
	void		(*take)(void);
	unsigned int	times;
	bool		wide;	/* with registers that not all CPUs have */
} ways[] = {
	{ "system call", a_system_call, 100, false },
	{ "system call, wide registers", a_wide_system_call, 100, true },
	{ "two context switches", two_switches, 1, false },
	{ "two context switches, vectors", two_vector_switches, 1, false },
	{ "two context switches, wide registers", two_wide_switches, 1, true },
	{ "signal and return", a_signal, 10, false },
	{ "signal and return, wide registers", a_wide_signal, 10, true },
	{ "cipher in the kernel", a_section, 1, false },
	{ "cipher in the kernel, wide registers", a_wide_section, 1, true },
};

/*
 * Another process at the other end. A switch looks the address space up in a table of
 * those that ran last: how long that takes depends on where it is there, which differs
 * from partner to partner, and the least is the same in every boot.
 */
static void change_partner(pid_t *child)
{
	if (*child > 0) {
		kill(*child, SIGKILL);
		waitpid(*child, NULL, 0);
	}
	*child = fork();
	if (*child < 0)
		die("fork");
	if (!*child)
		answer();
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const struct sched_param param = { .sched_priority = 1 };
	double ticks = ticks_per_instruction();
	uint64_t begin, least, t;
	unsigned int i, row, n;
	bool have_cipher;
	cpu_set_t cpus;
	pid_t child = 0;

	/* Who is woken runs when the other one waits, and not when it is due. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		die("scheduler");
	if (pipe(ping) || pipe(pong) || sigaction(SIGTRAP, &action, NULL))
		die("pipe");
	have_cipher = open_cipher();

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if ((ways[i].wide && !have_wide()) ||
		    (strstr(ways[i].name, "cipher") && !have_cipher))
			continue;
		least = ~0ULL;
		for (row = 0; row < ROWS; row++) {
			if (row % PARTNER_ROWS == 0)
				change_partner(&child);
			begin = now();
			for (n = 0; n < ways[i].times; n++)
				ways[i].take();
			t = now() - begin;
			if (t < least)
				least = t;
		}
		printf("%s\t%.1f\n", ways[i].name, least / ticks / ways[i].times);
		fflush(stdout);
	}
	close(ping[1]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
