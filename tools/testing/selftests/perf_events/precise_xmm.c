// SPDX-License-Identifier: GPL-2.0
/*
 * The XMM registers of a precise event, asked for by bits of sample_regs_intr, are
 * those of the task that was hit, also where the kernel was hit. Two processes with
 * patterns of their own take turns on a CPU, so when one of them has been scheduled
 * in, but is not back in user mode, the registers still have the other one's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#ifdef __x86_64__
#include <asm/perf_regs.h>

#define OURS		0x1111111122222222ULL
#define ANOTHERS	0x3333333344444444ULL

#define RING_PAGES	64
#define YIELDS		100	/* for each look at the ring */
#define ENOUGH		500	/* hits in the kernel with our registers */
#define SECONDS		20	/* of a slow machine */

struct sample {
	struct perf_event_header header;
	__u64 abi;
	__u64 xmm0[2];
};

/* Gives the CPU to who else is ready, with a value in both words of XMM0. */
static void yield(__u64 value)
{
	long ret = SYS_sched_yield;

	asm volatile("movq %1, %%xmm0\n\t"
		     "punpcklqdq %%xmm0, %%xmm0\n\t"
		     "syscall"
		     : "+a" (ret)
		     : "r" (value)
		     : "rcx", "r11", "xmm0", "memory");
}

/* The first one that it may run on */
static bool run_on_one_cpu(void)
{
	cpu_set_t cpus;
	int cpu;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return false;
	for (cpu = 0; !CPU_ISSET(cpu, &cpus); cpu++)
		;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return !sched_setaffinity(0, sizeof(cpus), &cpus);
}

static pid_t start_neighbour(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		yield(ANOTHERS);
	_exit(0);
}

static int open_event(int precise)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 20011,
		.sample_type = PERF_SAMPLE_REGS_INTR,
		.sample_regs_intr = 3ULL << PERF_REG_X86_XMM0,
		.precise_ip = precise,
		.exclude_hv = 1,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

FIXTURE(precise_xmm)
{
	int event;
	struct perf_event_mmap_page *ring;
	pid_t neighbour;
};

FIXTURE_VARIANT(precise_xmm)
{
	int precise;
};

/* The IP says which mode was hit: each of these takes it from another group of the record. */
FIXTURE_VARIANT_ADD(precise_xmm, skid_of_one) {
	.precise = 1,
};

FIXTURE_VARIANT_ADD(precise_xmm, no_skid) {
	.precise = 2,
};

FIXTURE_SETUP(precise_xmm)
{
	self->event = open_event(variant->precise);
	if (self->event < 0 && (errno == EACCES || errno == EPERM))
		SKIP(return, "may not sample the kernel: %s", strerror(errno));
	if (self->event < 0 && (errno == EINVAL || errno == EOPNOTSUPP || errno == ENOENT))
		SKIP(return, "no precise event with XMM registers: %s", strerror(errno));
	ASSERT_LE(0, self->event)
		TH_LOG("%s", strerror(errno));
	self->ring = mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE),
			  PROT_READ | PROT_WRITE, MAP_SHARED, self->event, 0);
	ASSERT_NE(MAP_FAILED, self->ring);
	ASSERT_TRUE(run_on_one_cpu());
	self->neighbour = start_neighbour();
	ASSERT_LT(0, self->neighbour);
}

FIXTURE_TEARDOWN(precise_xmm)
{
	if (self->neighbour > 0) {
		kill(self->neighbour, SIGKILL);
		waitpid(self->neighbour, NULL, 0);
	}
	close(self->event);
}

/* Hits in the kernel, and whose registers they have */
struct hits {
	unsigned long all, ours, anothers;
};

static void count(const struct sample *s, struct hits *hits)
{
	if (s->header.type != PERF_RECORD_SAMPLE || s->abi == PERF_SAMPLE_REGS_ABI_NONE ||
	    (s->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
		return;

	hits->all++;
	hits->ours += s->xmm0[0] == OURS && s->xmm0[1] == OURS;
	hits->anothers += s->xmm0[0] == ANOTHERS || s->xmm0[1] == ANOTHERS;
}

/* Records of other sizes than a sample's are few: those of throttling and losses. */
static void look(struct perf_event_mmap_page *ring, struct hits *hits)
{
	const char *data = (char *)ring + ring->data_offset;
	__u64 head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	__u64 tail = ring->data_tail;
	struct sample s;
	size_t i;

	while (tail < head) {
		for (i = 0; i < sizeof(s); i++)
			((char *)&s)[i] = data[(tail + i) % ring->data_size];
		count(&s, hits);
		tail += s.header.size;
	}
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

TEST_F_TIMEOUT(precise_xmm, of_the_current_task, 60)
{
	time_t end = now() + SECONDS;
	struct hits hits = {};
	int i;

	while (hits.ours < ENOUGH && now() < end) {
		ASSERT_EQ(0, ioctl(self->event, PERF_EVENT_IOC_ENABLE, 0));
		for (i = 0; i < YIELDS; i++)
			yield(OURS);
		ASSERT_EQ(0, ioctl(self->event, PERF_EVENT_IOC_DISABLE, 0));
		look(self->ring, &hits);
	}
	TH_LOG("%lu hits in the kernel, %lu with our registers", hits.all, hits.ours);

	EXPECT_GT(hits.ours, 0);
	EXPECT_EQ(0, hits.anothers);
}
#else
TEST(precise_xmm)
{
	SKIP(return, "needs x86-64");
}
#endif

TEST_HARNESS_MAIN
