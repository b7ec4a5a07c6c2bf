/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of a value test: workers on one CPU, events that sample them, and the
 * verdict on every sample.
 */
#ifndef SIMD_REGS_RUN_H
#define SIMD_REGS_RUN_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "simd_regs_check.h"
#include "simd_regs_event.h"
#include "simd_regs_worker.h"

#define SIMD_RUN_EVENTS		SIMD_MAX_WORKERS
#define SIMD_RUN_DEMANDS	8

/* How the workers are sampled */
enum simd_scope {
	SIMD_EACH_TASK,		/* an event for each worker */
	SIMD_EACH_CPU,		/* an event for the CPU that they share */
};

/* System settings that a run changes, and changes back */
struct simd_settings {
	long paranoid, cpu_time_limit, sample_rate, crypto_limit;
};

/* A count of the run's check that has to be reached before the run ends */
struct simd_demand {
	size_t count;			/* its offset in run->check.n */
	unsigned long at_least;
	const char *name;
};

struct simd_run {
	struct simd_settings saved;
	struct perf_event_attr attr;
	enum simd_scope scope;
	bool privileged;		/* else without CAP_PERFMON */
	bool container;			/* ... by being root of a user namespace */
	unsigned int nr_sampled;	/* the first workers only, 0: all */
	unsigned long min_samples;	/* with known values */
	struct simd_demand demands[SIMD_RUN_DEMANDS];	/* ... and what else */
	unsigned int nr_demands;
	unsigned int max_seconds;	/* to wait for one more */
	struct simd_worker workers[SIMD_MAX_WORKERS];
	unsigned int nr_workers;

	/* While it runs */
	struct simd_shared *shared;
	struct simd_event events[SIMD_RUN_EVENTS];
	unsigned int nr_events;
	struct simd_check check;
	const char *error;		/* what could not be done */
	int err;			/* ... and why, a negative errno */
};

/*
 * Why this process may not do such a run, NULL if it may. Without root it may sample its
 * own tasks in user mode, if the system lets it.
 */
const char *simd_run_refused(enum simd_scope scope, bool privileged);

/*
 * A run of cpu-clock with all registers that the CPU has, of both sides. If it is root's,
 * the system has the setting perf_event_paranoid=@paranoid until simd_run_free().
 */
struct simd_run *simd_run_new(enum simd_scope scope, bool privileged, int paranoid);
void simd_run_free(struct simd_run *run);

/* The same registers at overflows of the hardware's cycles instead */
void simd_run_use_cycles(struct simd_run *run);

/* Asks for registers of a class by the number of words in one */
void simd_attr_vectors(struct perf_event_attr *attr, unsigned int qwords,
		       __u64 intr, __u64 user);

/* Asks for all registers of these SIMD_MARK_* parts, on both sides; the architecture's */
void simd_attr_parts(struct perf_event_attr *attr, unsigned int parts);

/*
 * The run goes on until @member of run->check.n has reached @least. What is rare, or
 * depends on the scheduler, cannot be expected of a number of samples.
 */
#define simd_run_demand(run, member, least) \
	simd_run_add_demand(run, offsetof(struct simd_count, member), least, #member)
void simd_run_add_demand(struct simd_run *run, size_t count, unsigned long at_least,
			 const char *name);

/* Whether hits in the kernel are sampled, as they are for root */
bool simd_run_has_kernel(const struct simd_run *run);

/*
 * A worker to start with, that loads all registers that the CPU has, on simd_test_cpu(); the
 * test itself keeps to another one if there is one.
 */
struct simd_worker *simd_run_add(struct simd_run *run, __u16 seed, unsigned int what);

/* The path of a program that is beside the test, NULL if it cannot be told; not freed */
const char *simd_run_program(const char *name);

/* Each: 0, or a negative errno with run->error set. */
int simd_run_start(struct simd_run *run);
/* Reads samples until there are enough, or it has taken too long. */
int simd_run_collect(struct simd_run *run);
/* Reads what there is. */
void simd_run_drain(struct simd_run *run);
int simd_run_stop(struct simd_run *run);

static inline unsigned long simd_run_marked(const struct simd_run *run)
{
	return run->check.n.marked[0] + run->check.n.marked[1];
}

#endif /* SIMD_REGS_RUN_H */
