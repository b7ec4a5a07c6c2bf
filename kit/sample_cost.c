// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a sample costs on this machine: a loop that leaves known values in its vector
 * registers runs without an event, and with one whose samples have no registers, three
 * general purpose ones, and each class of vector registers. The loops of one round
 * follow one another, in turned order every other time, so that what drifts meets all.
 *
 *	sample_cost [ROUNDS [MILLISECONDS]]	of a loop without an event
 *
 * Lines of fields with tabs between:
 *	cost EVENT REGISTERS SAMPLES Q1 MEDIAN Q3 CYCLES	quartiles in ns, of the rounds;
 *								the median in TSC cycles, or -
 *	rate EVENT REGISTERS HZ		the highest without a lost sample that has
 *					left the loop a quarter of the time
 *	not EVENT REGISTERS WHY
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "simd_regs_event.h"
#include "simd_regs_image.h"
#include "simd_regs_live.h"
#include "simd_regs_pattern.h"

#define MAX_ROUNDS	1000
#define NR(array)	(sizeof(array) / sizeof(*(array)))

struct registers {
	const char *name;
	__u64 gprs, vec;
	__u32 pred;
	__u16 vec_qwords, pred_qwords;
};

static struct registers registers[] = {
	{ .name = "none" },
	{ .name = "3 general purpose", .gprs = 7 },
#ifdef __aarch64__
	{ .name = "V0-V31", .gprs = 7, .vec = 0xffffffff, .vec_qwords = 2 },
	/* The widths are those of this machine. */
	{ .name = "Z0-Z31", .gprs = 7, .vec = 0xffffffff },
	{ .name = "Z0-Z31, P0-P15", .gprs = 7, .vec = 0xffffffff, .pred = 0xffff },
#else
	{ .name = "XMM0-XMM15", .gprs = 7, .vec = 0xffff, .vec_qwords = 2 },
	{ .name = "YMM0-YMM15", .gprs = 7, .vec = 0xffff, .vec_qwords = 4 },
	{ .name = "ZMM0-ZMM31", .gprs = 7, .vec = 0xffffffff, .vec_qwords = 8 },
	{ .name = "ZMM0-ZMM31, OPMASK0-OPMASK7", .gprs = 7, .vec = 0xffffffff, .vec_qwords = 8,
	  .pred = 0xff, .pred_qwords = 1 },
#endif
};

static const struct {
	const char *name;
	bool cycles;		/* of the PMU; else a clock */
	__u64 period, shortest;
	unsigned int precise;
} kinds[] = {
	{ "cpu-clock", false, 50021, 10000, 0 },
	{ "cycles", true, 100003, 500, 0 },
#ifdef __x86_64__
	{ "cycles:pp", true, 100003, 500, 2 },
#endif
};

struct counts {
	unsigned long samples, lost;
};

/* Time of a loop: by the clock, and by the counter of the CPU if it is cheap to read. */
struct spent {
	double ns, cycles;
};

static struct simd_live loop;

static __u64 cycles(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* What a PEBS buffer still has at the end is written when the event is disabled. */
static struct spent run_loop(struct simd_event *event)
{
	struct spent spent;
	__u64 first = cycles();
	double start = now();

	simd_live_run(&loop);
	if (event)
		simd_event_disable(event);
	spent.ns = now() - start;
	spent.cycles = cycles() - first;
	return spent;
}

/* All vector registers that this CPU has are in use, for @ms. */
static void prepare_loop(double ms)
{
	const struct simd_class *cls = simd_class_find("all");
	static __u64 never;
	void *image;

#ifdef __aarch64__
	if (simd_class_supported(simd_class_find("z")))
		cls = simd_class_find("z");
	loop.rfbm = cls->parts & SIMD_MARK_FFR ? 1 << SIMD_LIVE_FFR_BIT : 0;
#else
	if (!simd_class_supported(cls))
		cls = simd_class_find("xmm");
	loop.rfbm = cls->xfeatures;
#endif
	image = aligned_alloc(64, simd_image_size(cls));
	loop.marker = loop.call_marker = simd_marker(1, 0, cls->parts);
	simd_image_fill(cls, image, loop.marker);
	loop.image = SIMD_ADDRESS(image);
	loop.dump = SIMD_ADDRESS(aligned_alloc(64, simd_image_size(cls)));
	loop.load = cls->load;
	loop.stop = SIMD_ADDRESS(&never);
	loop.rounds = 1;
	loop.spin = 10000;
	/* The first one is slower. */
	run_loop(NULL);
	loop.spin = loop.spin * ms * 1e6 / run_loop(NULL).ns + 1;
}

static void count_record(const struct perf_event_header *header, void *arg)
{
	struct counts *counts = arg;

	if (header->type == PERF_RECORD_SAMPLE)
		counts->samples++;
	else if (header->type == PERF_RECORD_LOST || header->type == PERF_RECORD_THROTTLE)
		counts->lost++;
}

static int open_event(struct simd_event *event, unsigned int kind, const struct registers *regs,
		      __u64 period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
		.precise_ip = kinds[kind].precise,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_hv = 1,
		.sample_regs_intr = regs->gprs,
		.sample_simd_regs_enabled = regs->vec != 0,
		.sample_simd_vec_reg_intr = regs->vec,
		.sample_simd_vec_reg_qwords = regs->vec_qwords,
		.sample_simd_pred_reg_intr = regs->pred,
		.sample_simd_pred_reg_qwords = regs->pred_qwords,
	};

	if (kinds[kind].cycles)
		simd_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
	simd_attr_exclude_kernel(&attr);
	if (regs->gprs)
		attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	return simd_event_open(event, &attr, 0, -1, NULL);
}

static struct spent sampled_loop(struct simd_event *event, struct counts *counts)
{
	struct spent spent;

	memset(counts, 0, sizeof(*counts));
	simd_event_enable(event);
	spent = run_loop(event);
	simd_event_drain(event, count_record, counts);
	return spent;
}

static int compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

static void print_cost(const char *kind, const char *regs, unsigned long samples, double *ns,
		       double *tsc, unsigned int nr)
{
	if (!nr) {
		printf("not\t%s\t%s\tno round had samples and lost none\n", kind, regs);
		return;
	}
	qsort(ns, nr, sizeof(*ns), compare);
	qsort(tsc, nr, sizeof(*tsc), compare);
	printf("cost\t%s\t%s\t%lu\t%.0f\t%.0f\t%.0f\t", kind, regs, samples,
	       ns[nr / 4], ns[nr / 2], ns[nr * 3 / 4]);
	if (cycles())
		printf("%.0f\n", tsc[nr / 2]);
	else
		printf("-\n");
}

static void measure_costs(unsigned int kind, unsigned int rounds)
{
	static double ns[NR(registers)][MAX_ROUNDS], tsc[NR(registers)][MAX_ROUNDS];
	unsigned long samples[NR(registers)] = { 0 };
	unsigned int nr[NR(registers)] = { 0 }, i, at, round;
	struct simd_event events[NR(registers)];
	__u64 period[NR(registers)];
	int err[NR(registers)];
	struct counts counts;

	for (i = 0; i < NR(registers); i++) {
		period[i] = kinds[kind].period;
		err[i] = open_event(&events[i], kind, &registers[i], period[i]);
	}
	for (round = 0; round < rounds; round++) {
		struct spent alone = run_loop(NULL);

		for (i = 0; i < NR(registers); i++) {
			struct spent spent;

			at = round % 2 ? NR(registers) - 1 - i : i;
			if (err[at])
				continue;
			spent = sampled_loop(&events[at], &counts);
			/* Who may lock little memory has a buffer for few samples. */
			if (counts.lost) {
				period[at] *= 2;
				ioctl(events[at].fd, PERF_EVENT_IOC_PERIOD, &period[at]);
			}
			if (counts.lost || !counts.samples)
				continue;
			samples[at] += counts.samples;
			ns[at][nr[at]] = (spent.ns - alone.ns) / counts.samples;
			tsc[at][nr[at]++] = (spent.cycles - alone.cycles) / counts.samples;
		}
	}
	for (i = 0; i < NR(registers); i++) {
		if (err[i]) {
			printf("not\t%s\t%s\t%s\n", kinds[kind].name, registers[i].name,
			       strerror(-err[i]));
			continue;
		}
		print_cost(kinds[kind].name, registers[i].name, samples[i], ns[i], tsc[i], nr[i]);
		simd_event_close(&events[i]);
	}
}

/* Shorter and shorter periods, until a sample is lost or the loop has hardly any time. */
static void measure_rate(unsigned int kind, const struct registers *regs)
{
	double alone = run_loop(NULL).ns, best = 0;
	__u64 period;

	for (period = kinds[kind].period; period >= kinds[kind].shortest; period /= 2) {
		struct simd_event event;
		struct counts counts;
		double ns;

		if (open_event(&event, kind, regs, period))
			break;
		ns = sampled_loop(&event, &counts).ns;
		simd_event_close(&event);
		if (counts.lost || ns > 4 * alone)
			break;
		if (counts.samples / ns * 1e9 > best)
			best = counts.samples / ns * 1e9;
	}
	if (best)
		printf("rate\t%s\t%s\t%.0f\n", kinds[kind].name, regs->name, best);
}

/* Samples of one CPU, and no limit to their number */
static void prepare_machine(void)
{
	simd_use_test_cpu();
	simd_raise_memlock();
	/* The rate cannot be set while there is no limit of time. */
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 25);
	simd_sysctl_set("kernel/perf_event_max_sample_rate", 10000000);
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 0);
}

static void find_widths(void)
{
#ifdef __aarch64__
	int vl = prctl(PR_SVE_GET_VL);
	unsigned int i, bytes = vl < 0 ? 16 : vl & PR_SVE_VL_LEN_MASK;

	for (i = 0; i < NR(registers); i++) {
		if (registers[i].vec && !registers[i].vec_qwords)
			registers[i].vec_qwords = bytes / 8;
		if (registers[i].pred)
			registers[i].pred_qwords = (bytes / 8 + 7) / 8;
	}
#endif
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 51, kind, i;
	double ms = argc > 2 ? atof(argv[2]) : 10;

	if (!rounds || rounds > MAX_ROUNDS || !(ms > 0 && ms <= 1000)) {
		fprintf(stderr, "usage: sample_cost [ROUNDS [MILLISECONDS]], up to %d and 1000\n",
			MAX_ROUNDS);
		return 2;
	}
	prepare_machine();
	find_widths();
	prepare_loop(ms);
	for (kind = 0; kind < NR(kinds); kind++) {
		measure_costs(kind, rounds);
		for (i = 1; i < NR(registers); i++)
			measure_rate(kind, &registers[i]);
		fflush(stdout);
	}
	return 0;
}
