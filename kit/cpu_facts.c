// SPDX-License-Identifier: GPL-2.0-only
/*
 * What this CPU does where an emulator's answer is an assumption: how far a sample's
 * registers are from its IP, what XRSTOR has loaded when it faults, what SSP a task
 * without a shadow stack has, and whether large PEBS loses records.
 *
 * Lines of fields with tabs between:
 *	fact WHAT ANSWER
 */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "simd_regs_event.h"
#include "simd_regs_record.h"

#define NR(array)	(sizeof(array) / sizeof(*(array)))
#define MAX_SAMPLES	2000
#define ADDS		1024

/*
 * Each of these instructions adds 1 to the lowest 64 bits of vector register 0, so that
 * the register says which one is next. All have 4 bytes.
 */
void run_adds(unsigned long rounds);
extern const char adds[];

#ifdef __aarch64__
asm(".text\n	.balign 64\n	.globl	run_adds, adds\n"
    "run_adds:\n"
    "	movi	v0.2d, #0\n	movi	v1.2d, #0\n	mov	x1, #1\n	mov	v1.d[0], x1\n"
    "adds:\n	.rept 1024\n	add	v0.2d, v0.2d, v1.2d\n	.endr\n"
    "	subs	x0, x0, #1\n	b.ne	adds\n	ret\n");
#else
asm(".text\n	.balign 64\n	.globl	run_adds, adds\n"
    "run_adds:\n"
    "	mov	$1, %eax\n	movq	%rax, %xmm1\n	pxor	%xmm0, %xmm0\n"
    "adds:\n	.rept 1024\n	paddq	%xmm1, %xmm0\n	.endr\n"
    "	dec	%rdi\n	jnz	adds\n	ret\n");
#endif

static void fact(const char *what, const char *event, const char *answer)
{
	printf("fact\t%s%s%s\t%s\n", what, event ? ", " : "", event ?: "", answer);
}

/* ---- samples: how far the registers are from the IP ---------------------------- */

struct seen {
	const struct perf_event_attr *attr;
	unsigned int nr, pairs, lost, full;
	/* Adds from the IP to the sampled register, and from the intr to the user side */
	long after_ip[MAX_SAMPLES], apart[MAX_SAMPLES];
	/* Samples whose SSP is there, and is not 0 */
	unsigned int ssp, ssp_not_0;
};

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

/* The way from add @from to add @to is less than half a round. */
static long distance(__u64 from, __u64 to)
{
	return (long)((to - from + ADDS / 2) % ADDS) - ADDS / 2;
}

static void look(const struct perf_event_header *header, void *arg)
{
	struct seen *seen = arg;
	struct simd_sample s;
	__u64 ip, value;

	if (header->type != PERF_RECORD_SAMPLE || simd_decode(header, seen->attr, &s))
		return;
#ifdef __x86_64__
	if (simd_block_reg(&s.intr, PERF_REG_X86_SSP, &value)) {
		seen->ssp++;
		seen->ssp_not_0 += value != 0;
	}
#else
	(void)value;
#endif
	ip = s.ip - (unsigned long)adds;
	if (seen->nr == MAX_SAMPLES || ip >= 4 * ADDS || !s.intr.nr_vectors)
		return;
	seen->after_ip[seen->nr++] = distance(ip / 4, s.intr.vectors[0]);
	if (s.user.nr_vectors)
		seen->apart[seen->pairs++] = distance(s.intr.vectors[0], s.user.vectors[0]);
}

static void print_distances(const char *what, const char *event, long *way, unsigned int nr)
{
	char answer[128];

	if (!nr)
		return;
	qsort(way, nr, sizeof(*way), compare);
	snprintf(answer, sizeof(answer), "%ld to %ld, median %ld, of %u samples",
		 way[0], way[nr - 1], way[nr / 2], nr);
	fact(what, event, answer);
}

/* The number in a file of sysfs, which may have a name before it; -1 without the file */
static long number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static void measure_distances(const char *name, struct perf_event_attr attr)
{
	static struct seen seen;
	struct simd_event event;
	int err, i;

	memset(&seen, 0, sizeof(seen));
	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = SIMD_MARKER_REGS;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = 2;
	attr.sample_simd_vec_reg_intr = 1;
	attr.sample_simd_vec_reg_user = 1;
	seen.attr = &attr;
	err = simd_event_open(&event, &attr, 0, -1, NULL);
	if (err) {
		fact("adds from the IP to the vectors", name, strerror(-err));
		return;
	}
	simd_event_enable(&event);
	for (i = 0; i < 200 && seen.nr < MAX_SAMPLES; i++) {
		run_adds(2000);
		simd_event_drain(&event, look, &seen);
	}
	simd_event_disable(&event);
	simd_event_close(&event);
	print_distances("adds from the IP to the vectors", name, seen.after_ip, seen.nr);
	print_distances("adds from the vectors at the interrupt to those of the user side",
			name, seen.apart, seen.pairs);
	if (!seen.nr)
		fact("adds from the IP to the vectors", name, "no sample has them");
}

static void all_distances(void)
{
	struct perf_event_attr attr = simd_clock_attr();
	long type = number_in("/sys/bus/event_source/devices/ibs_op/type");

	attr.exclude_kernel = 1;
	measure_distances("cpu-clock", attr);
	attr = simd_cycles_attr();
	attr.exclude_kernel = 1;
	measure_distances("cycles", attr);
	if (type >= 0) {
		attr.type = type;
		attr.config = 0;
		attr.exclude_kernel = 0;
		attr.sample_period = 0x10000;
		measure_distances("ibs_op", attr);
	}
#ifdef __x86_64__
	attr = simd_cycles_attr();
	attr.exclude_kernel = 1;
	attr.precise_ip = 2;
	measure_distances("cycles:pp", attr);
#endif
}

#ifdef __x86_64__

/* ---- SSP ----------------------------------------------------------------------- */

static void ask_ssp(const char *name, struct perf_event_attr attr)
{
	struct seen seen = { .attr = &attr };
	struct simd_event event;
	char answer[96];
	int err, i;

	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = SIMD_MARKER_REGS | SIMD_SSP_REG;
	attr.sample_simd_regs_enabled = 1;
	attr.exclude_kernel = 1;
	err = simd_event_open(&event, &attr, 0, -1, NULL);
	if (err) {
		fact("SSP without a shadow stack", name, strerror(-err));
		return;
	}
	simd_event_enable(&event);
	for (i = 0; i < 100 && seen.ssp < MAX_SAMPLES; i++) {
		run_adds(2000);
		simd_event_drain(&event, look, &seen);
	}
	simd_event_close(&event);
	snprintf(answer, sizeof(answer), "not 0 in %u of %u samples", seen.ssp_not_0, seen.ssp);
	fact("SSP without a shadow stack", name, answer);
}

static void all_ssp(void)
{
	struct perf_event_attr attr = simd_cycles_attr();

	ask_ssp("cpu-clock", simd_clock_attr());
	ask_ssp("cycles", attr);
	attr.precise_ip = 2;
	ask_ssp("cycles:pp", attr);
}

/* ---- large PEBS ---------------------------------------------------------------- */

static void count_record(const struct perf_event_header *header, void *arg)
{
	struct seen *seen = arg;

	seen->nr += header->type == PERF_RECORD_SAMPLE;
	seen->lost += header->type == PERF_RECORD_LOST;
	seen->full += header->type == PERF_RECORD_LOST_SAMPLES;
}

/* A full buffer drops records, nobody knows how many: those that there should be are counted. */
static void fill_pebs(const char *name, unsigned int qwords, __u64 vectors)
{
	struct perf_event_attr attr = simd_cycles_attr();
	struct seen seen = { .attr = &attr };
	struct simd_event event;
	__u64 count = 0;
	char answer[128];
	int err, i;

	attr.precise_ip = 2;
	attr.exclude_kernel = 1;
	attr.sample_period = 4001;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_user = 0;
	attr.sample_regs_intr = SIMD_MARKER_REGS;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = qwords;
	attr.sample_simd_vec_reg_intr = vectors;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 20;
	err = simd_event_open(&event, &attr, 0, -1, NULL);
	if (err) {
		fact("records of large PEBS", name, strerror(-err));
		return;
	}
	simd_event_enable(&event);
	for (i = 0; i < 200 && seen.nr < 10 * MAX_SAMPLES; i++) {
		run_adds(2000);
		simd_event_drain(&event, count_record, &seen);
	}
	simd_event_disable(&event);
	simd_event_drain(&event, count_record, &seen);
	if (read(event.fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	simd_event_close(&event);
	snprintf(answer, sizeof(answer), "%u of %llu that were counted; the buffer was full %u times%s",
		 seen.nr, count / attr.sample_period, seen.full,
		 seen.lost ? "; some were lost in the ring" : "");
	fact("records of large PEBS", name, answer);
}

/* ---- XRSTOR -------------------------------------------------------------------- */

#define AVX_OFFSET	576	/* in an image of the standard format */
#define XSTATE_BV	512
#define NEW		0x11
#define OLD		0x22

static sigjmp_buf after_fault;
static unsigned char faulted_with[AVX_OFFSET + 256];

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	(void)sig;
	(void)info;
	memcpy(faulted_with, uc->uc_mcontext.fpregs, sizeof(faulted_with));
	siglongjmp(after_fault, 1);
}

/* XMM0 and the upper half of YMM0 lie before the second page, YMM15's behind it. */
__attribute__((target("avx,xsave")))
static void load_over_edge(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char old[32];
	unsigned char *pages, *image;
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, before;

	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE)) {
		fact("XRSTOR that faults in the second page has loaded", NULL, strerror(errno));
		return;
	}
	image = pages + page - AVX_OFFSET - 128;
	image -= (unsigned long)image % 64;
	memset(image + 160, NEW, 256);
	memset(image + AVX_OFFSET, NEW, pages + page - image - AVX_OFFSET);
	image[24] = 0x80;	/* MXCSR 0x1f80 */
	image[25] = 0x1f;
	image[XSTATE_BV] = 6;
	memset(old, OLD, sizeof(old));
	sigaction(SIGSEGV, &action, &before);
	if (!sigsetjmp(after_fault, 1))
		asm volatile("vmovdqu (%1), %%ymm0\n\tvmovdqa %%ymm0, %%ymm15\n\txrstor (%0)"
			     : : "r"(image), "r"(old), "a"(6), "d"(0)
			     : "xmm0", "xmm15", "memory");
	sigaction(SIGSEGV, &before, NULL);
	munmap(pages, 2 * page);
	fact("XRSTOR that faults in the second page has loaded", NULL,
	     faulted_with[160] == OLD && faulted_with[AVX_OFFSET] == OLD ? "nothing" :
	     faulted_with[160] == NEW && faulted_with[AVX_OFFSET] == OLD ? "SSE state" :
	     faulted_with[160] == NEW && faulted_with[AVX_OFFSET] == NEW ? "SSE state, AVX state in part" :
	     "AVX state in part");
}

static void ask_x86(void)
{
	all_ssp();
	fill_pebs("XMM0-XMM15", 2, 0xffff);
	fill_pebs("ZMM0-ZMM31", 8, 0xffffffff);
	if (__builtin_cpu_supports("avx"))
		load_over_edge();
}

#else

static void ask_x86(void)
{
}

#endif

int main(void)
{
	simd_raise_memlock();
	/* The rate cannot be set while there is no limit of time. */
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 25);
	simd_sysctl_set("kernel/perf_event_max_sample_rate", 10000000);
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 0);
	all_distances();
	ask_x86();
	return 0;
}
