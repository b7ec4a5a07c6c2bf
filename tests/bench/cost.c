// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a sample costs the program that is sampled, in instructions.
 *
 * usage: cost [SOURCE]...	pmi, pebs, large-pebs, cpu-clock; default: all
 *
 * For a guest with -icount, where the time-stamp counter (arm64: the virtual counter)
 * advances by so much for each instruction. A loop reads it again and again. Where more
 * than the loop's own instructions have passed, an interrupt was taken; if the ring
 * buffer got samples meanwhile, the rest is what they cost. Printed is what most of
 * such gaps have in common: in the others the timer's tick, or some other interrupt,
 * came as well, on arm64 in nearly half of them.
 *
 * Output, a line for each: SOURCE NAME SIDE BYTES COST, with tabs between.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#define SAMPLES		200
#define RING_PAGES	1024
#define INTR		1
#define USER		2

struct what {
	const char	*name;
	uint64_t	gprs;
	unsigned int	vec_qwords, pred_qwords;
	uint64_t	vec;
	uint32_t	pred;
	bool		initial;	/* as a program has them that does not use them */
	unsigned int	vl;	/* arm64: bytes of a vector, 0 for V registers */
};

#ifdef __x86_64__

#define CLOCK_PERIOD	100003

static const struct what whats[] = {
	{ "nothing" },
	{ "3 GPRs", 0x7 },
	{ "XMM0-15", 0, 2, 0, 0xffff },
	{ "YMM0-15", 0, 4, 0, 0xffff },
	{ "ZMM0-31", 0, 8, 0, 0xffffffff },
	{ "ZMM0-31 OPMASK0-7", 0, 8, 1, 0xffffffff, 0xff },
	{ "ZMM0-1", 0, 8, 0, 0x3 },
	{ "R16-R31", 0xffffULL << 24, 0, 0 },
	{ "ZMM0-31 OPMASK0-7, initial", 0, 8, 1, 0xffffffff, 0xff, .initial = true },
};

static inline uint64_t now(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));

	return (uint64_t)high << 32 | low;
}

static bool prepare(const struct what *what)
{
	return true;
}

/* Bring all components into their initial state, or out of it. */
static void set_registers(const struct what *what)
{
	static struct {
		uint16_t fcw;
		uint8_t skipped[22];
		uint32_t mxcsr;
		uint8_t registers[484];
		uint64_t xstate_bv, xcomp_bv, reserved[6];
		uint8_t extended[8192];
	} image __attribute__((aligned(64)));
	const uint32_t wanted = 0x800e6;	/* SSE, AVX, AVX-512, APX */
	uint32_t low, high;

	asm volatile("xgetbv" : "=a" (low), "=d" (high) : "c" (0));
	image.fcw = 0x37f;
	image.mxcsr = 0x1f80;
	image.xstate_bv = what->initial ? 0 : low & wanted;
	memset(image.registers + 132, 0x5a, 256);
	memset(image.extended, 0x5a, sizeof(image.extended));
	asm volatile("xrstor %0" : : "m" (image), "a" (low & wanted), "d" (0));
}

#elif defined(__aarch64__)

/* The guest's time is made of longer instructions here. Out of step with the tick */
#define CLOCK_PERIOD	3700013

#define Z(bits)		.vec_qwords = (bits) / 64, .vec = 0xffffffff
#define PREDS(bits, m)	.pred_qwords = ((bits) / 8 + 63) / 64, .pred = (m)
#define VL(bits)	.vl = (bits) / 8
#define P_AND_FFR	0x1ffff
#define FFR_ALONE	0x10000

#define EACH_OF_32	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, " \
			"16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
#define EACH_OF_16	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
#define VECTORS		"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", \
			"v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", \
			"v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"

static const struct what whats[] = {
	{ "nothing" },
	{ "3 GPRs", 0x7 },
	{ "V0-31", Z(128) },
	{ "V0-1", .vec_qwords = 2, .vec = 0x3 },
	{ "Z0-31, 128 bits", Z(128), VL(128) },
	{ "Z0-31, 256 bits", Z(256), VL(256) },
	{ "Z0-31, 512 bits", Z(512), VL(512) },
	{ "Z0-31, 2048 bits", Z(2048), VL(2048) },
	{ "P0-15, 512 bits", PREDS(512, 0xffff), VL(512) },
	{ "FFR, 512 bits", PREDS(512, FFR_ALONE), VL(512) },
	{ "Z0-31 P0-15 FFR, 512 bits", Z(512), PREDS(512, P_AND_FFR), VL(512) },
	{ "Z0-31 P0-15 FFR, 2048 bits", Z(2048), PREDS(2048, P_AND_FFR), VL(2048) },
};

static inline uint64_t now(void)
{
	uint64_t count;

	asm volatile("mrs %0, cntvct_el0" : "=r" (count));

	return count;
}

/* The vector length that it is about; false if the CPU has it not. */
static bool prepare(const struct what *what)
{
	return !what->vl || prctl(PR_SVE_SET_VL, what->vl) == (int)what->vl;
}

/*
 * Values for all registers. System calls lose those of SVE, so this comes last; a
 * task that has none of them live is sampled with its V registers.
 */
static void set_registers(const struct what *what)
{
	if (!what->vl) {
		asm volatile(EACH_OF_32 "movi v\\n\\().16b, #0x5a\n.endr" : : : VECTORS);
		return;
	}
	asm volatile(".arch_extension sve\n"
		     EACH_OF_32 "mov z\\n\\().b, #0x5a\n.endr\n"
		     EACH_OF_16 "ptrue p\\n\\().b\n.endr\n"
		     "setffr" : : : VECTORS);
}

#else
#error "there is nothing to be measured on this architecture yet"
#endif

#include "ticks.h"

struct source {
	const char	*name;
	bool		clock, precise, large;
};

static const struct source sources[] = {
	{ "pmi" },
#ifdef __x86_64__
	{ "pebs", .precise = true },
	{ "large-pebs", .precise = true, .large = true },
#endif
	{ "cpu-clock", .clock = true },
};

static void get_attr(const struct source *source, const struct what *what, int sides,
		     struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = source->clock ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
	attr->config = source->clock ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_HW_INSTRUCTIONS;
	attr->sample_period = source->clock ? CLOCK_PERIOD : 10007;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr->precise_ip = source->precise ? 2 : 0;
	attr->exclude_kernel = 1;
	attr->disabled = 1;

	/* A time that the records don't have keeps them from waiting. */
	if (source->precise && !source->large) {
		attr->sample_type |= PERF_SAMPLE_TIME;
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
	if (sides & INTR) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = what->gprs;
		attr->sample_simd_vec_reg_intr = what->vec;
		attr->sample_simd_pred_reg_intr = what->pred;
	}
	if (sides & USER) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = what->gprs;
		attr->sample_simd_vec_reg_user = what->vec;
		attr->sample_simd_pred_reg_user = what->pred;
	}
	attr->sample_simd_vec_reg_qwords = what->vec_qwords;
	attr->sample_simd_pred_reg_qwords = what->pred_qwords;
	attr->sample_simd_regs_enabled = what->vec || what->pred || what->gprs >> 24;
}

/* Ticks from one reading to the next if nothing happens in between */
static uint64_t usual_gap(void)
{
	uint64_t last = now(), least = ~0ULL, t;
	int i;

	for (i = 0; i < 1000; i++) {
		t = now();
		if (t - last < least)
			least = t - last;
		last = t;
	}

	return least;
}

static double ticks;

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value that most have, of those that are sorted */
static double most_frequent(const double *values, int nr)
{
	int i, first = 0, most = 0, best = 0;

	for (i = 1; i <= nr; i++) {
		if (i < nr && values[i] == values[first])
			continue;
		if (i - first > most) {
			most = i - first;
			best = first;
		}
		first = i;
	}

	return values[best];
}

/*
 * Run until there are enough samples. Nothing takes them out of the ring buffer:
 * they fit.
 */
static int collect(volatile struct perf_event_mmap_page *page, uint64_t bytes, double *cost)
{
	uint64_t usual = usual_gap(), last, t, head, seen = page->data_head, n;
	uint64_t deadline;
	int nr = 0;

	last = now();
	deadline = last + 400000000;
	while (nr < SAMPLES && last < deadline) {
		t = now();
		if (t - last > 4 * usual + 64) {
			head = page->data_head;
			n = (head - seen) / bytes;
			if (n && (head - seen) % bytes == 0)
				cost[nr++] = (t - last - usual) / ticks / n;
			seen = head;
			t = now();
		}
		last = t;
	}

	return nr;
}

/* The largest record: one taken before the registers are set may have none. */
static uint64_t record_bytes(volatile struct perf_event_mmap_page *page)
{
	char *data = (char *)page + page->data_offset;
	uint64_t at, most = 0;

	for (at = 0; at < page->data_head && at < page->data_size;) {
		struct perf_event_header *header = (void *)(data + at);

		if (header->size > most)
			most = header->size;
		at += header->size;
	}

	return most;
}

static void measure(const struct source *source, const struct what *what, int sides)
{
	static const char *const side_names[] = { "-", "intr", "user", "both" };
	size_t bytes = (1 + RING_PAGES) * sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr;
	static double cost[SAMPLES];
	uint64_t size;
	int fd, nr;

	get_attr(source, what, sides, &attr);
	if (!prepare(what))
		return;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return;

	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}

	/* Once to learn how large a record is, and to have the code in the TLB */
	ioctl(fd, PERF_EVENT_IOC_ENABLE);
	set_registers(what);
	collect(page, 1, cost);
	ioctl(fd, PERF_EVENT_IOC_DISABLE);
	size = record_bytes(page);
	if (!size) {
		printf("%s\t%s\t%s\t0\tno samples\n", source->name, what->name, side_names[sides]);
	} else {
		page->data_tail = page->data_head;
		ioctl(fd, PERF_EVENT_IOC_ENABLE);
		set_registers(what);
		nr = collect(page, size, cost);
		ioctl(fd, PERF_EVENT_IOC_DISABLE);
		qsort(cost, nr, sizeof(cost[0]), compare);
		if (nr < 5)
			printf("%s\t%s\t%s\t%lu\tonly %d samples\n", source->name, what->name,
			       side_names[sides], (unsigned long)size, nr);
		else
			printf("%s\t%s\t%s\t%lu\t%.0f\n", source->name, what->name,
			       side_names[sides], (unsigned long)size, most_frequent(cost, nr));
	}
	fflush(stdout);
	munmap(page, bytes);
	close(fd);
}

static void set_sysctl(const char *name, const char *value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	file = fopen(path, "w");
	if (!file || fputs(value, file) < 0 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned int s, w;
	int i, sides;

	/* Samples must not be held back, nor be so long that they end themselves. */
	set_sysctl("perf_cpu_time_max_percent", "25");
	set_sysctl("perf_event_max_sample_rate", "1000000");
	set_sysctl("perf_cpu_time_max_percent", "0");
	ticks = ticks_per_instruction();

	for (s = 0; s < sizeof(sources) / sizeof(sources[0]); s++) {
		for (i = 1; i < argc; i++) {
			if (!strcmp(argv[i], sources[s].name))
				break;
		}
		if (argc > 1 && i == argc)
			continue;

		/* What the last events had is freed a second after them. */
		if (s)
			sleep(2);
		measure(&sources[s], &whats[0], 0);
		for (w = 1; w < sizeof(whats) / sizeof(whats[0]); w++) {
			for (sides = INTR; sides <= (INTR | USER); sides++)
				measure(&sources[s], &whats[w], sides);
		}
	}

	return 0;
}
