// SPDX-License-Identifier: GPL-2.0-only
/*
 * What this CPU does where an emulator's answer is an assumption: how far a sample's
 * registers are from its IP, what XRSTOR has loaded when it faults, what SSP a task
 * without a shadow stack has, and whether large PEBS loses records; and how large its
 * registers are.
 *
 * Lines of fields with tabs between:
 *	fact WHAT ANSWER
 *
 * With --may-sample nothing but why this program cannot have a sample with one vector
 * register, and the status says whether it can.
 */
#include <asm/perf_regs.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

/*
 * Runs the adds with @attr's event, until @enough samples are in *@nr. Without the event
 * that is the answer to @what. @count gets what it has counted.
 */
static bool sample_adds(const char *what, const char *name, struct perf_event_attr *attr,
			simd_record_fn *fn, struct seen *seen, const unsigned int *nr,
			unsigned int enough, __u64 *count)
{
	struct simd_event event;
	int err = simd_event_open(&event, attr, 0, -1, NULL), i;

	if (err) {
		fact(what, name, strerror(-err));
		return false;
	}
	simd_event_enable(&event);
	for (i = 0; i < 200 && *nr < enough; i++) {
		run_adds(2000);
		simd_event_drain(&event, fn, seen);
	}
	simd_event_disable(&event);
	simd_event_drain(&event, fn, seen);
	if (read(event.fd, count, sizeof(*count)) != sizeof(*count))
		*count = 0;
	simd_event_close(&event);
	return true;
}

static void measure_distances(const char *name, struct perf_event_attr attr)
{
	const char *what = "adds from the IP to the vectors";
	static struct seen seen;
	__u64 count;

	memset(&seen, 0, sizeof(seen));
	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = SIMD_MARKER_REGS;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = 2;
	attr.sample_simd_vec_reg_intr = 1;
	attr.sample_simd_vec_reg_user = 1;
	seen.attr = &attr;
	if (!sample_adds(what, name, &attr, look, &seen, &seen.nr, MAX_SAMPLES, &count))
		return;
	print_distances(what, name, seen.after_ip, seen.nr);
	print_distances("adds from the vectors at the interrupt to those of the user side",
			name, seen.apart, seen.pairs);
	if (!seen.nr)
		fact(what, name, "no sample has them");
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
	attr.precise_ip = 2;
	simd_attr_exclude_kernel(&attr);
	measure_distances("cycles:pp", attr);
#endif
}

#ifdef __x86_64__

/* ---- SSP ----------------------------------------------------------------------- */

static void ask_ssp(const char *name, struct perf_event_attr attr)
{
	const char *what = "SSP without a shadow stack";
	struct seen seen = { .attr = &attr };
	char answer[96];
	__u64 count;

	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = SIMD_MARKER_REGS | SIMD_SSP_REG;
	attr.sample_simd_regs_enabled = 1;
	simd_attr_exclude_kernel(&attr);
	if (!sample_adds(what, name, &attr, look, &seen, &seen.ssp, MAX_SAMPLES, &count))
		return;
	snprintf(answer, sizeof(answer), "not 0 in %u of %u samples", seen.ssp_not_0, seen.ssp);
	fact(what, name, answer);
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
	const char *what = "records of large PEBS";
	struct perf_event_attr attr = simd_cycles_attr();
	struct seen seen = { .attr = &attr };
	char answer[128];
	__u64 count;

	attr.precise_ip = 2;
	simd_attr_exclude_kernel(&attr);
	attr.sample_period = 4001;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_user = 0;
	attr.sample_regs_intr = SIMD_MARKER_REGS;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = qwords;
	attr.sample_simd_vec_reg_intr = vectors;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 20;
	if (!sample_adds(what, name, &attr, count_record, &seen, &seen.nr, 10 * MAX_SAMPLES,
			 &count))
		return;
	snprintf(answer, sizeof(answer),
		 "%u of %llu that were counted; the buffer was full %u times%s", seen.nr,
		 count / attr.sample_period, seen.full,
		 seen.lost ? "; some were lost in the ring" : "");
	fact(what, name, answer);
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
	bool sse, avx;
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
	sse = faulted_with[160] == NEW;
	avx = faulted_with[AVX_OFFSET] == NEW;
	fact("XRSTOR that faults in the second page has loaded", NULL,
	     sse && avx ? "SSE state, AVX state in part" :
	     sse ? "SSE state" : avx ? "AVX state in part" : "nothing");
}

/* ---- sizes --------------------------------------------------------------------- */

static void list_components(void)
{
	static const char * const names[] = {
		[2] = "AVX", [5] = "opmask", [6] = "ZMM_Hi256", [7] = "Hi16_ZMM", [9] = "PKRU",
		[17] = "AMX_CFG", [18] = "AMX_DATA", [19] = "APX",
	};
	unsigned int a, b, c, d, i, xcr0, at = 0;
	char answer[256] = "";

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	asm volatile("xgetbv" : "=a"(xcr0), "=d"(d) : "c"(0));
	for (i = 2; i < 32; i++) {
		if (!(xcr0 >> i & 1))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		at += snprintf(answer + at, sizeof(answer) - at, "%s%s (%u) %u bytes at %u",
			       at ? ", " : "", i < NR(names) && names[i] ? names[i] : "unknown",
			       i, a, b);
		if (at >= sizeof(answer))
			break;
	}
	fact("XSAVE components besides x87 and SSE", NULL, answer);
}

static void ask_cpu(void)
{
	list_components();
	all_ssp();
	fill_pebs("XMM0-XMM15", 2, 0xffff);
	fill_pebs("ZMM0-ZMM31", 8, 0xffffffff);
	if (__builtin_cpu_supports("avx"))
		load_over_edge();
}

#else

static void list_lengths(const char *what, int set)
{
	char answer[256] = "";
	int vl, at = 0;

	for (vl = 16; vl <= 256 && at < (int)sizeof(answer); vl += 16) {
		if ((prctl(set, vl) & PR_SVE_VL_LEN_MASK) == vl)
			at += snprintf(answer + at, sizeof(answer) - at, "%s%d",
				       at ? ", " : "", vl);
	}
	if (at)
		fact(what, NULL, answer);
}

static void ask_cpu(void)
{
	list_lengths("SVE vector lengths, in bytes", PR_SVE_SET_VL);
	list_lengths("SME vector lengths, in bytes", PR_SME_SET_VL);
}

#endif

/* Why there would be nothing to check: better said once than by each test. */
static int may_sample(void)
{
	struct perf_event_attr attr = simd_clock_attr();
	struct simd_event event;
	int err;

	/* As the tests have it */
	attr.exclude_kernel = geteuid() != 0;
	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = 2;
	attr.sample_simd_vec_reg_intr = 1;
	attr.sample_simd_vec_reg_user = 1;
	err = simd_event_open(&event, &attr, 0, -1, NULL);
	switch (-err) {
	case 0:
		simd_event_close(&event);
		return 0;
	case E2BIG:
	case EINVAL:
		printf("this kernel's samples have no SIMD registers; to do: boot one with the series");
		break;
	case EOPNOTSUPP:
		printf("this kernel is built without CONFIG_PERF_SIMD_REGS, or the CPU has no XSAVE");
		break;
	case ENOSYS:
		printf("this kernel is built without CONFIG_PERF_EVENTS");
		break;
	case EACCES:
	case EPERM:
		printf("no samples for this user: kernel.perf_event_paranoid, a container or lockdown "
		       "is against it; to do: run it as root of the machine");
		break;
	default:
		printf("no samples here: %s", strerror(-err));
		break;
	}
	return 2;
}

int main(int argc, char **argv)
{
	char answer[16];

	if (argc > 1 && !strcmp(argv[1], "--may-sample"))
		return may_sample();
	simd_use_test_cpu();
	snprintf(answer, sizeof(answer), "%d", simd_test_cpu());
	fact("CPU that is sampled", NULL, answer);
	simd_raise_memlock();
	/* The rate cannot be set while there is no limit of time. */
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 25);
	simd_sysctl_set("kernel/perf_event_max_sample_rate", 10000000);
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 0);
	all_distances();
	ask_cpu();
	return 0;
}
