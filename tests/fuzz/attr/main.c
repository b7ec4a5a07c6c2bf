// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer of perf_event_attr, for a guest: `make fuzz TARGET=attr`.
 *
 * Workers, half of them ordinary users, open events with random attributes (make.c) on
 * themselves, on tasks whose registers are known (targets.c), and on CPUs, which go and
 * come back meanwhile (disturb.c). Each record of each ring is taken apart to the byte
 * (parse.c), and its registers are compared with what its task can have had (judge.c).
 *
 * A finding names a seed, a worker and a step. The same seed gives each step of each
 * worker the same random numbers again; what the kernel makes of them depends on time.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attr.h"

#define GRACE_SECONDS	300	/* for the last step */

struct shared *shared;
struct options options = { .seed = 1, .seconds = 20, .only = -1, .hotplug = true };

static void usage(FILE *file)
{
	fputs("usage: attr [OPTION]...\n"
	      "  --seed N      of the random numbers (default 1)\n"
	      "  --seconds N   how long (default 20)\n"
	      "  --steps N     of each worker instead\n"
	      "  --worker N    this one alone\n"
	      "  --no-hotplug  CPUs stay\n"
	      "  --slab        of a kernel with checks: allocations fail; look for leaks at the end\n", file);
}

static unsigned long long number(const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || text[0] < '0' || text[0] > '9') {
		fprintf(stderr, "error: attr: %s is not a whole number\n", text);
		exit(1);
	}
	return value;
}

static void read_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "steps", required_argument, NULL, 'n' },
		{ "worker", required_argument, NULL, 'w' },
		{ "no-hotplug", no_argument, NULL, 'H' },
		{ "slab", no_argument, NULL, 'S' },
		{ "child", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 's':
			options.seed = number(optarg);
			break;
		case 't':
			options.seconds = number(optarg);
			break;
		case 'n':
			options.steps = number(optarg);
			break;
		case 'w':
			options.only = number(optarg) % NR_WORKERS;
			break;
		case 'H':
			options.hotplug = false;
			break;
		case 'S':
			options.slab = true;
			break;
		case 'c':
			burst_child();
			exit(0);
		default:
			usage(option == 'h' ? stdout : stderr);
			exit(option != 'h');
		}
	}
}

/*
 * Rings of ordinary users count as locked memory. Events of any rate would take all: the
 * kernel lets each event have its part of this one in each tick. With the checks of a
 * debug kernel a sample takes longer, so that fewer of them have to do.
 */
static void set_limits(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	write_file("/proc/sys/kernel/perf_event_max_sample_rate", options.slab ? "250" : "2000");
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	write_file("/proc/sys/kernel/perf_event_paranoid", "2");
	write_file("/proc/sys/crypto/af_alg_restrict", "0");
}

static pid_t start(void (*run)(unsigned int), unsigned int index)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(index);
	_exit(0);
}

static void disturb(unsigned int index)
{
	(void)index;
	run_disturber();
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* The end of a worker: false if it was not a good one. */
static bool good_end(unsigned int index, int status)
{
	shared->workers[index] = 0;
	if (!status)
		return true;
	printf("FINDING: worker %u ended with status %#x at step %llu, SEED=%#llx\n", index,
	       status, shared->steps_done[index], options.seed);
	return false;
}

/* Where does it hang? What is not there is left out. */
static void print_where(pid_t pid)
{
	static const char * const files[] = { "syscall", "stack", "wchan", "stat" };
	char path[64], text[2048];
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		if (read_file(path, text, sizeof(text)))
			printf("# %s: %s\n", files[i], text);
	}
}

/* Until the time is up or all have done their steps. How many ended badly, or did not? */
static unsigned int wait_for_workers(unsigned int left)
{
	time_t end = now() + options.seconds;
	unsigned int i, bad = 0;
	int status;

	while (left && now() < end + GRACE_SECONDS) {
		if (!options.steps && now() >= end)
			__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
		for (i = 0; i < NR_WORKERS; i++) {
			if (shared->workers[i] <= 0 ||
			    waitpid(shared->workers[i], &status, WNOHANG) != shared->workers[i])
				continue;
			left--;
			bad += !good_end(i, status);
		}
		usleep(50000);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < NR_WORKERS; i++) {
		if (shared->workers[i] <= 0)
			continue;
		printf("FINDING: worker %u hangs in step %llu, SEED=%#llx\n", i,
		       shared->steps_done[i] + 1, options.seed);
		print_where(shared->workers[i]);
		kill(shared->workers[i], SIGKILL);
		bad++;
	}
	return bad;
}

int main(int argc, char **argv)
{
	unsigned int i, left = 0, bad;
	pid_t disturber;

	read_options(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	env_init();
	set_limits();
	if (targets_start())
		return 1;
	printf("# SEED=%#llx, %u s\n", options.seed, options.seconds);
	for (i = 0; i < NR_WORKERS; i++) {
		if (options.only >= 0 && (unsigned int)options.only != i)
			continue;
		shared->workers[i] = start(run_worker, i);
		left++;
	}
	disturber = start(disturb, 0);

	bad = wait_for_workers(left);
	waitpid(disturber, NULL, 0);
	online_all();
	bad += !targets_stop();
	slab_scan();
	print_summary();
	return bad || shared->findings;
}
