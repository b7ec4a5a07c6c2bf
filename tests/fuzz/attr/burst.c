// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a worker does to be sampled: system calls, page faults, functions with a probe,
 * a variable that is watched, children that exit or become another program, threads,
 * signals whose handlers use vector registers, or nothing for a moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "attr.h"

volatile __u64 watched_word;
static volatile unsigned int handled;
static volatile unsigned int handled_in;	/* this step */

/* Who asks for a signal every ten microseconds does nothing else any more. */
#define MAX_SIGNALS	3000

/* Probes are put here. */
__attribute__((noinline))
void probe_me(unsigned int n)
{
	asm volatile("" : : "r" (n) : "memory");
}

static void silence(void)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++) {
		if (worker.slots[i].fd < 0)
			continue;
		fcntl(worker.slots[i].fd, F_SETFL, 0);
		ioctl(worker.slots[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

/* memcpy() is made of vector registers. */
static void handler(int sig, siginfo_t *info, void *context)
{
	char buffer[512];

	(void)sig;
	memcpy(buffer, context, sizeof(buffer));
	asm volatile("" : : "r" (buffer), "r" (info) : "memory");
	if (handled_in != worker.step) {
		handled_in = worker.step;
		handled = 0;
	}
	if (++handled == MAX_SIGNALS)
		silence();
}

/* Either this program is wrong, or the kernel has not kept its registers. */
static void die(int sig, siginfo_t *info, void *context)
{
	const mcontext_t *regs = &((ucontext_t *)context)->uc_mcontext;
	char text[128];
#ifdef __aarch64__
	unsigned long long ip = regs->pc;
#else
	unsigned long long ip = regs->gregs[REG_RIP];
#endif

	snprintf(text, sizeof(text), "signal %d at %#llx, address %p, code %d", sig, ip,
		 info->si_addr, info->si_code);
	report_text("a worker dies", text);
	_exit(3);
}

void burst_init(void)
{
	static const int signals[] = { SIGTRAP, SIGIO, SIGALRM, SIGUSR1 };
	struct sigaction at_fault = {
		.sa_sigaction = die, .sa_flags = SA_SIGINFO,
	};
	struct sigaction sa = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	const struct itimerval every = {
		.it_interval.tv_usec = 30000, .it_value.tv_usec = 30000,
	};
	unsigned int i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	sigaction(SIGSEGV, &at_fault, NULL);
	sigaction(SIGBUS, &at_fault, NULL);
	sigaction(SIGILL, &at_fault, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void spin(unsigned int n)
{
	volatile unsigned int i;

	for (i = 0; i < n; i++)
		;
}

static void call_system(unsigned int n)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char buffer[64];

	for (; n; n--) {
		getppid();
		if (read(fd, buffer, sizeof(buffer)) < 0)
			break;
	}
	close(fd);
}

static void fault(unsigned int pages)
{
	size_t size = pages * (size_t)getpagesize();
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (map == MAP_FAILED)
		return;
	for (i = 0; i < size; i += getpagesize())
		map[i] = 1;
	/* One that may be executed is what a record is written of. */
	mprotect(map, getpagesize(), PROT_READ | PROT_EXEC);
	munmap(map, size);
}

static void touch(unsigned int n)
{
	for (; n; n--) {
		watched_word++;
		probe_me(n);
	}
}

void burst_child(void)
{
	call_system(10);
	fault(2);
	touch(4);
	spin(2000);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void have_child(bool exec)
{
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		burst_child();
		if (exec)
			execl(env.program, env.program, "--child", NULL);
		_exit(0);
	}
	wait_for(pid);
}

static void *thread(void *arg)
{
	burst_child();
	return arg;
}

static void have_thread(void)
{
	pthread_t id;

	if (!pthread_create(&id, NULL, thread, NULL))
		pthread_join(id, NULL);
}

static void sleep_for(unsigned int us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

void burst(struct rand *r)
{
	char name[16];

	switch (below(r, 16)) {
	case 0 ... 2:
		spin(1 << below(r, 16));
		break;
	case 3 ... 4:
		call_system(1 + below(r, 100));
		break;
	case 5:
		fault(1 + below(r, 32));
		break;
	case 6 ... 7:
		touch(1 + below(r, 50));
		break;
	case 8:
		have_child(false);
		break;
	case 9:
		have_child(true);
		break;
	case 10:
		have_thread();
		break;
	case 11:
		kill(getpid(), SIGUSR1);
		break;
	case 12:
		snprintf(name, sizeof(name), "fuzz-%u", below(r, 1 << 20));
		prctl(PR_SET_NAME, name);
		break;
	default:
		sleep_for(1 << below(r, 12));
		break;
	}
}
