// SPDX-License-Identifier: GPL-2.0
/*
 * One run of a value test: workers on one CPU, events that sample them, and the
 * verdict on every sample.
 */
#include <assert.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "simd_regs_run.h"

void simd_attr_vectors(struct perf_event_attr *attr, unsigned int qwords,
		       __u64 intr, __u64 user)
{
	attr->sample_type |= (intr ? PERF_SAMPLE_REGS_INTR : 0) | PERF_SAMPLE_REGS_USER;
	attr->sample_simd_regs_enabled = 1;
	attr->sample_simd_vec_reg_qwords = intr | user ? qwords : 0;
	attr->sample_simd_vec_reg_intr = intr;
	attr->sample_simd_vec_reg_user = user;
}

/* The rate cannot be set while there is no limit of time. */
static void set_rate(long rate, long limit)
{
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", 25);
	simd_sysctl_set("kernel/perf_event_max_sample_rate", rate);
	simd_sysctl_set("kernel/perf_cpu_time_max_percent", limit);
}

static void settings_change(struct simd_settings *saved, int paranoid)
{
	saved->paranoid = simd_sysctl_get("kernel/perf_event_paranoid");
	saved->cpu_time_limit = simd_sysctl_get("kernel/perf_cpu_time_max_percent");
	saved->sample_rate = simd_sysctl_get("kernel/perf_event_max_sample_rate");

	simd_sysctl_set("kernel/perf_event_paranoid", paranoid);
	/* Root of a container shall be able to make the kernel use vectors. */
	saved->crypto_limit = simd_sysctl_get("crypto/af_alg_restrict");
	if (saved->crypto_limit > 0)
		simd_sysctl_set("crypto/af_alg_restrict", 0);

	/* An emulator is too slow for the kernel's idea of a quick handler. */
	if (saved->cpu_time_limit)
		set_rate(100000, 0);
}

static void settings_restore(const struct simd_settings *saved)
{
	simd_sysctl_set("kernel/perf_event_paranoid", saved->paranoid);
	if (saved->crypto_limit > 0)
		simd_sysctl_set("crypto/af_alg_restrict", saved->crypto_limit);
	if (saved->cpu_time_limit)
		set_rate(saved->sample_rate, saved->cpu_time_limit);
}

const char *simd_run_refused(enum simd_scope scope, bool privileged)
{
	struct perf_event_attr attr = simd_clock_attr();
	int fd;

	if (!geteuid())
		return NULL;
	if (privileged || scope != SIMD_EACH_TASK)
		return "needs root";
	attr.exclude_kernel = 1;
	fd = simd_perf_event_open(&attr, 0, -1, -1);
	if (fd < 0)
		return "needs root, or kernel/perf_event_paranoid of 2 or less";
	close(fd);
	return NULL;
}

struct simd_run *simd_run_new(enum simd_scope scope, bool privileged, int paranoid)
{
	struct simd_run *run = calloc(1, sizeof(*run));

	if (!run)
		abort();
	/* Nobody is left to judge it, and its settings may be put back by who ended that. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	settings_change(&run->saved, paranoid);
	run->attr = simd_clock_attr();
	simd_attr_parts(&run->attr, simd_class_find("all")->parts);
	run->scope = scope;
	run->privileged = privileged;
	run->min_samples = 2500;
	run->max_seconds = 60;
	return run;
}

void simd_run_free(struct simd_run *run)
{
	if (run)
		settings_restore(&run->saved);
	free(run);
}

void simd_run_use_cycles(struct simd_run *run)
{
	const struct perf_event_attr cycles = simd_cycles_attr();

	run->attr.type = cycles.type;
	run->attr.config = cycles.config;
	run->attr.sample_period = cycles.sample_period;
}

/* Leaves the workers' CPU to the workers. */
static void keep_off(int cpu)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

struct simd_worker *simd_run_add(struct simd_run *run, __u16 seed, unsigned int what)
{
	struct simd_worker *w = &run->workers[run->nr_workers++];

	w->seed = seed;
	w->cls = simd_class_find("all");
	w->what = what;
	w->nr_phases = 16;
	w->spin = 2000;
	w->rounds = 4;
	w->cpu = simd_test_cpu();
	return w;
}

const char *simd_run_program(const char *name)
{
	char path[PATH_MAX] = "", *program;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0 ||
	    asprintf(&program, "%s/%s", dirname(path), name) < 0)
		return NULL;
	return program;
}

static int failed(struct simd_run *run, const char *error, int err)
{
	run->error = error;
	run->err = err;
	return err;
}

static int start_workers(struct simd_run *run)
{
	unsigned int i;
	int err;

	run->shared = simd_shared_new();
	if (!run->shared)
		return failed(run, "shared memory", -ENOMEM);
	for (i = 0; i < run->nr_workers; i++) {
		struct simd_worker *w = &run->workers[i];

		err = simd_worker_start(w, run->shared, i);
		if (err)
			return failed(run, "worker", err);
		simd_check_add_task(&run->check, w->pid, SIMD_FAMILY(w->seed));
	}
	return 0;
}

static int open_event(struct simd_run *run, pid_t pid, int cpu)
{
	int err = simd_event_open(&run->events[run->nr_events], &run->attr, pid, cpu,
				  NULL);

	if (!err)
		run->nr_events++;
	return err;
}

static int open_events(struct simd_run *run)
{
	unsigned int i;
	int err;

	if (run->scope == SIMD_EACH_TASK) {
		for (i = 0; i < (run->nr_sampled ?: run->nr_workers); i++) {
			err = open_event(run, run->workers[i].pid, -1);
			if (err)
				return failed(run, "perf_event_open of a task", err);
		}
		return 0;
	}
	err = open_event(run, -1, simd_test_cpu());
	return err ? failed(run, "perf_event_open of a CPU", err) : 0;
}

bool simd_run_has_kernel(const struct simd_run *run)
{
	return run->container || !geteuid();
}

/* The number that the environment asks for; no demand is for more than that. */
static void set_samples(struct simd_run *run, unsigned long n)
{
	struct simd_demand *d;

	run->min_samples = n;
	for (d = run->demands; d < run->demands + run->nr_demands; d++) {
		if (d->at_least > n)
			d->at_least = n;
	}
}

int simd_run_start(struct simd_run *run)
{
	const char *samples = getenv("SIMD_SAMPLES");
	unsigned int i;
	int err;

	if (samples)
		set_samples(run, strtoul(samples, NULL, 0));
	if (!simd_run_has_kernel(run))
		run->attr.exclude_kernel = 1;
	run->check.attr = &run->attr;
	run->check.privileged = run->privileged;
	simd_check_add_task(&run->check, getpid(), SIMD_EXEMPT);
	simd_raise_memlock();

	if (run->container) {
		err = simd_enter_container();
		if (err)
			return failed(run, "user namespace", err);
	} else if (!run->privileged) {
		err = simd_drop_perfmon();
		if (err)
			return failed(run, "dropping CAP_PERFMON", err);
	}
	err = start_workers(run) ?: open_events(run);
	if (err)
		return err;

	if (run->nr_workers && run->workers[0].cpu >= 0)
		keep_off(run->workers[0].cpu);
	for (i = 0; i < run->nr_events; i++) {
		err = simd_event_enable(&run->events[i]);
		if (err)
			return failed(run, "enabling an event", err);
	}
	simd_set(run->shared->go, 1);
	return 0;
}

void simd_run_drain(struct simd_run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr_events; i++)
		simd_event_drain(&run->events[i], simd_check_record, &run->check);
}

void simd_run_add_demand(struct simd_run *run, size_t count, unsigned long at_least,
			 const char *name)
{
	assert(run->nr_demands < SIMD_RUN_DEMANDS);
	run->demands[run->nr_demands++] = (struct simd_demand){ count, at_least, name };
}

/* What is still to be waited for and how many there are, NULL if nothing is */
static const char *lacking(const struct simd_run *run, unsigned long *nr)
{
	const struct simd_demand *d;

	*nr = simd_run_marked(run);
	if (*nr < run->min_samples)
		return "samples with known values";
	for (d = run->demands; d < run->demands + run->nr_demands; d++) {
		*nr = *(const unsigned long *)((const char *)&run->check.n + d->count);
		if (*nr < d->at_least)
			return d->name;
	}
	return NULL;
}

/* On a slow machine it takes long; it has failed when there are no more of them. */
int simd_run_collect(struct simd_run *run)
{
	const char *what, *last = NULL;
	unsigned long nr, last_nr = 0;
	time_t end = 0;

	while ((what = lacking(run, &nr))) {
		if (what != last || nr != last_nr)
			end = time(NULL) + run->max_seconds;
		last = what;
		last_nr = nr;
		if (time(NULL) > end)
			return failed(run, what, -ETIME);
		usleep(5000);
		simd_run_drain(run);
	}
	return 0;
}

int simd_run_stop(struct simd_run *run)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < run->nr_events; i++)
		simd_event_disable(&run->events[i]);
	simd_set(run->shared->stop, 1);
	for (i = 0; i < run->nr_workers; i++) {
		const struct simd_status *status = &run->shared->status[i];

		if (!simd_worker_wait(&run->workers[i]))
			err = failed(run, "worker did not end well", -ECHILD);
		if (status->failed)
			err = failed(run, "system call of a worker", status->error);
		if (status->corrupted)
			err = failed(run, "registers of a worker changed", -EILSEQ);
	}
	simd_run_drain(run);
	for (i = 0; i < run->nr_events; i++)
		simd_event_close(&run->events[i]);
	return err;
}
