// SPDX-License-Identifier: GPL-2.0
/*
 * A vector register from an evsel's attr to the events of an evlist's mmap: its
 * value, at hits in a loop that holds one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>
#include <internal/tests.h>
#include "tests.h"

#if defined(__x86_64__) || defined(__aarch64__)

#define REG		7	/* as in the loop */
#define QWORDS		2

#define PERIOD_NS	500000
#define ROUNDS		20000000UL
#define MMAP_PAGES	64

static const __u64 value[QWORDS] = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL };

/* IP | REGS_USER with no general purpose registers */
struct simd_sample {
	struct perf_event_header header;
	__u64 ip;
	__u64 abi;
	__u64 nr_vectors, vector_qwords;
	__u64 nr_pred, pred_qwords;
	__u64 vector[QWORDS];
};

/* The instructions that are executed while the register has the value */
struct loop {
	unsigned long begin, end;
};

static struct loop hold_value(unsigned long rounds)
{
	struct loop loop;

#ifdef __x86_64__
	asm volatile("movdqu	%[value], %%xmm7\n"
		     "lea	1f(%%rip), %[begin]\n"
		     "lea	2f(%%rip), %[end]\n"
		     "1: dec	%[rounds]\n"
		     "jnz	1b\n"
		     "2:"
		     : [rounds] "+r" (rounds), [begin] "=&r" (loop.begin), [end] "=&r" (loop.end)
		     : [value] "m" (value)
		     : "xmm7", "cc");
#else
	asm volatile("ldr	q7, %[value]\n"
		     "adr	%[begin], 1f\n"
		     "adr	%[end], 2f\n"
		     "1: subs	%[rounds], %[rounds], #1\n"
		     "b.ne	1b\n"
		     "2:"
		     : [rounds] "+r" (rounds), [begin] "=&r" (loop.begin), [end] "=&r" (loop.end)
		     : [value] "Q" (value)
		     : "v7", "cc");
#endif
	return loop;
}

static bool has_value(const struct simd_sample *sample)
{
	return sample->header.size == sizeof(*sample) &&
	       sample->abi == (PERF_SAMPLE_REGS_ABI_64 | PERF_SAMPLE_REGS_ABI_SIMD) &&
	       sample->nr_vectors == 1 && sample->vector_qwords == QWORDS &&
	       !sample->nr_pred && !memcmp(sample->vector, value, sizeof(value));
}

/* Number of samples in the loop that have the value, or -1 if one has not */
static int count_samples(struct perf_evlist *evlist, const struct loop *loop)
{
	struct perf_mmap *map;
	int good = 0, bad = 0;

	perf_evlist__for_each_mmap(evlist, map, false) {
		union perf_event *event;

		if (perf_mmap__read_init(map) < 0)
			continue;

		while ((event = perf_mmap__read_event(map)) != NULL) {
			const struct simd_sample *sample = (void *)event;

			if (event->header.type == PERF_RECORD_SAMPLE &&
			    sample->ip >= loop->begin && sample->ip < loop->end) {
				if (has_value(sample))
					good++;
				else
					bad++;
			}
			perf_mmap__consume(map);
		}
		perf_mmap__read_done(map);
	}

	__T_VERBOSE("\t%d samples have the value, %d have not\n", good, bad);
	return bad ? -1 : good;
}

/* Mainline's kernels sample all registers of a class, and a general purpose one. */
static bool takes_whole_classes(struct perf_event_attr attr, struct perf_thread_map *threads)
{
	struct perf_evsel *evsel;
	int err;

	attr.sample_regs_user = 1;
	attr.sample_simd_vec_reg_user = 0xffff;
	evsel = perf_evsel__new(&attr);
	if (!evsel)
		return false;
	err = perf_evsel__open(evsel, NULL, threads);
	perf_evsel__close(evsel);
	perf_evsel__delete(evsel);
	return !err;
}

/*
 * An old kernel does not know the fields, an old CPU has no such registers, and not
 * everybody may open events. Another error is that of an attr which got damaged.
 */
static bool can_be_refused(int err, const struct perf_event_attr *attr,
			   struct perf_thread_map *threads)
{
	return err == -E2BIG || err == -EOPNOTSUPP || err == -EACCES || err == -EPERM ||
	       (err == -EINVAL && takes_whole_classes(*attr, threads));
}

static int test_sample(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER,
		.exclude_kernel = 1,
		.disabled = 1,
		.sample_simd_regs_enabled = 1,
		.sample_simd_vec_reg_qwords = QWORDS,
		.sample_simd_vec_reg_user = 1ULL << REG,
	};
	struct perf_thread_map *threads;
	struct perf_cpu_map *cpus;
	struct perf_evlist *evlist;
	struct perf_evsel *evsel;
	struct loop loop;
	int err;

	threads = perf_thread_map__new_dummy();
	__T("failed to create threads", threads);
	perf_thread_map__set_pid(threads, 0, 0);

	cpus = perf_cpu_map__new_any_cpu();
	__T("failed to create cpus", cpus);

	evlist = perf_evlist__new();
	__T("failed to create evlist", evlist);

	evsel = perf_evsel__new(&attr);
	__T("failed to create evsel", evsel);

	perf_evlist__add(evlist, evsel);
	perf_evlist__set_maps(evlist, cpus, threads);

	err = perf_evlist__open(evlist);
	if (err) {
		__T_VERBOSE("\tthe kernel does not sample vector registers: %d\n", err);
		__T("failed to open evlist", can_be_refused(err, &attr, threads));
		goto out;
	}

	err = perf_evlist__mmap(evlist, MMAP_PAGES);
	__T("failed to mmap evlist", err == 0);

	perf_evlist__enable(evlist);
	loop = hold_value(ROUNDS);
	perf_evlist__disable(evlist);

	__T("failed to find the value in samples", count_samples(evlist, &loop) > 0);

	perf_evlist__munmap(evlist);
	perf_evlist__close(evlist);
out:
	perf_evlist__delete(evlist);
	perf_thread_map__put(threads);
	perf_cpu_map__put(cpus);
	return 0;
}

int test_simd_regs(int argc, char **argv)
{
	__T_START;

	test_sample();

	__T_END;
	return tests_failed == 0 ? 0 : -1;
}

#else

int test_simd_regs(int argc __maybe_unused, char **argv __maybe_unused)
{
	return 0;
}

#endif
