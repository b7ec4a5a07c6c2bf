// SPDX-License-Identifier: GPL-2.0
/*
 * A uprobe shows what a function is called with: two doubles and a vector, of
 * three tasks that share a CPU. And which events cannot show any registers.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#else
#include <immintrin.h>
#endif

#include "kselftest_harness.h"
#include "simd_regs_event.h"
#include "simd_regs_pattern.h"
#include "simd_regs_probe.h"
#include "simd_regs_record.h"
#include "simd_regs_run.h"

#define NR_CALLERS	3
#define MIN_SAMPLES	10000
/* To wait for one more, on a busy host */
#define MAX_SECONDS	60

#ifdef __aarch64__

#define KEY_REG		PERF_REG_ARM64_X0
#define MOST_QWORDS	32

/* Words of the vector argument */
static unsigned int vector_qwords(void)
{
	__u64 bytes = 16;

	if (getauxval(AT_HWCAP) & HWCAP_SVE)
		asm volatile(".arch_extension sve\n\trdvl %0, #1" : "=r" (bytes));
	return bytes / 8;
}

static void call_probed(__u64 key, const __u64 *scalars, const __u64 *vector)
{
	if (vector_qwords() == 2) {
		asm volatile("mov x0, %0\n\tldr d0, [%1]\n\tldr d1, [%1, #8]\n\t"
			     "ldr q2, [%2]\n\tbl simd_probed_function"
			     : : "r" (key), "r" (scalars), "r" (vector)
			     : "x0", "x30", "v0", "v1", "v2", "memory");
		return;
	}
	asm volatile(".arch_extension sve\n\tmov x0, %0\n\tldr d0, [%1]\n\tldr d1, [%1, #8]\n\t"
		     "ldr z2, [%2]\n\tbl simd_probed_function"
		     : : "r" (key), "r" (scalars), "r" (vector)
		     : "x0", "x30", "v0", "v1", "v2", "memory");
}

#else

#define KEY_REG		PERF_REG_X86_DI
#define MOST_QWORDS	4

typedef void probed_fn(__u64 key, double a, double b);
typedef void probed_avx_fn(__u64 key, double a, double b, __m256d c);

static unsigned int vector_qwords(void)
{
	return __builtin_cpu_supports("avx") ? 4 : 2;
}

static void call_plain(__u64 key, double a, double b, const __u64 *vector)
{
	register __m128i c asm("xmm2") = _mm_loadu_si128((const __m128i *)vector);

	asm volatile("" : : "x" (c));
	((probed_fn *)simd_probed_function)(key, a, b);
}

__attribute__((target("avx")))
static void call_avx(__u64 key, double a, double b, const __u64 *vector)
{
	((probed_avx_fn *)simd_probed_function)(key, a, b, _mm256_loadu_pd((const double *)vector));
}

static void call_probed(__u64 key, const __u64 *scalars, const __u64 *vector)
{
	double a, b;

	memcpy(&a, &scalars[0], sizeof(a));
	memcpy(&b, &scalars[1], sizeof(b));
	if (vector_qwords() == 4)
		call_avx(key, a, b, vector);
	else
		call_plain(key, a, b, vector);
}

#endif

/* Calls with other arguments each time, and lets the others do so. */
static void call_forever(__u16 seed, int cpu)
{
	__u64 scalars[2], vector[MOST_QWORDS];
	unsigned int word, i;
	cpu_set_t set;
	__u16 phase;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (phase = 0; ; phase++) {
		for (i = 0; i < 2; i++)
			scalars[i] = simd_word(seed, phase, i, 0);
		for (word = 0; word < MOST_QWORDS; word++)
			vector[word] = simd_word(seed, phase, 2, word);
		call_probed(simd_marker(seed, phase, 0), scalars, vector);
		if (phase % 4 == 3)
			sched_yield();
	}
}

struct caller {
	pid_t pid;
	__u16 seed;
	struct simd_event event;
};

struct verdict {
	const struct perf_event_attr *attr;
	__u16 seed;
	unsigned long exact, wrong, malformed;
};

static bool word_is(const __u64 *vectors, __u64 qwords, __u64 key, unsigned int reg,
		    unsigned int word)
{
	return vectors[reg * qwords + word] ==
	       simd_word(simd_marker_seed(key), simd_marker_phase(key), reg, word);
}

/* The key of the user's side says what both have to have. */
static bool exact(const struct simd_block *b, __u64 key)
{
	unsigned int word;

	if (b->nr_vectors != 3 || b->vector_qwords != vector_qwords() ||
	    !word_is(b->vectors, b->vector_qwords, key, 0, 0) ||
	    !word_is(b->vectors, b->vector_qwords, key, 1, 0))
		return false;
	for (word = 0; word < b->vector_qwords; word++) {
		if (!word_is(b->vectors, b->vector_qwords, key, 2, word))
			return false;
	}
	return true;
}

static void judge(const struct perf_event_header *header, void *arg)
{
	struct verdict *v = arg;
	struct simd_sample s;
	__u64 key;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	if (simd_decode(header, v->attr, &s)) {
		v->malformed++;
		return;
	}
	if (simd_block_reg(&s.user, KEY_REG, &key) && simd_is_marker(key) &&
	    simd_marker_seed(key) == v->seed && exact(&s.user, key) && exact(&s.intr, key))
		v->exact++;
	else
		v->wrong++;
}

static struct perf_event_attr function_attr(int *err)
{
	struct perf_event_attr attr = simd_clock_attr();

	attr.sample_period = 1;
	attr.sample_regs_user |= 1ULL << KEY_REG;
	simd_attr_vectors(&attr, vector_qwords(), 7, 7);
	*err = simd_uprobe_attr(&attr, simd_probed_function);
	return attr;
}

FIXTURE(arguments)
{
};

FIXTURE_SETUP(arguments)
{
	if (geteuid())
		SKIP(return, "needs root");
}

FIXTURE_TEARDOWN(arguments)
{
}

/* As many as the environment asks for, if that is less */
static unsigned long wanted_samples(void)
{
	const char *samples = getenv("SIMD_SAMPLES");
	unsigned long n = samples ? strtoul(samples, NULL, 0) : MIN_SAMPLES;

	return n && n < MIN_SAMPLES ? n : MIN_SAMPLES;
}

/* Until there are @wanted, or no more of them */
static void collect(struct simd_event *event, struct verdict *v, unsigned long wanted)
{
	time_t end = time(NULL) + MAX_SECONDS;
	unsigned long last = 0;

	while (v->exact + v->wrong < wanted && time(NULL) < end) {
		usleep(5000);
		simd_event_drain(event, judge, v);
		if (v->exact + v->wrong != last) {
			last = v->exact + v->wrong;
			end = time(NULL) + MAX_SECONDS;
		}
	}
}

TEST_F_TIMEOUT(arguments, function, 15 * MAX_SECONDS)
{
	const unsigned long wanted = wanted_samples();
	struct caller callers[NR_CALLERS];
	struct perf_event_attr attr;
	struct verdict v;
	int err, i;

	attr = function_attr(&err);
	if (err)
		SKIP(return, "no uprobes: %s", strerror(-err));

	for (i = 0; i < NR_CALLERS; i++) {
		struct caller *c = &callers[i];

		c->seed = 0x7800 + (i << 8);
		c->pid = fork();
		ASSERT_LE(0, c->pid);
		if (!c->pid)
			call_forever(c->seed, simd_test_cpu());
		ASSERT_EQ(0, simd_event_open(&c->event, &attr, c->pid, -1, NULL));
		ASSERT_EQ(0, simd_event_enable(&c->event));
	}
	for (i = 0; i < NR_CALLERS; i++) {
		struct caller *c = &callers[i];

		v = (struct verdict) { .attr = &attr, .seed = c->seed };
		collect(&c->event, &v, wanted);
		simd_event_disable(&c->event);
		printf("# arguments: exact %lu wrong %lu malformed %lu, vectors of %u words\n",
		       v.exact, v.wrong, v.malformed, vector_qwords());
		EXPECT_GE(v.exact, wanted);
		EXPECT_EQ(0UL, v.wrong);
		EXPECT_EQ(0UL, v.malformed);
	}
	for (i = 0; i < NR_CALLERS; i++) {
		kill(callers[i].pid, SIGKILL);
		waitpid(callers[i].pid, NULL, 0);
		simd_event_close(&callers[i].event);
	}
}

/* 0, or a negative errno, for counting on CPU 0 */
static int try_open(struct perf_event_attr *attr)
{
	int fd = simd_perf_event_open(attr, -1, 0, -1);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* PMUs that are not of a CPU have no registers to sample, and say so. */
TEST(no_registers)
{
	DIR *dir = opendir("/sys/bus/event_source/devices");
	const struct dirent *entry;
	unsigned int nr = 0;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir))) {
		struct perf_event_attr attr = {
			.size = sizeof(attr), .disabled = 1,
		};
		char path[512];

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask",
			 entry->d_name);
		if (*entry->d_name == '.' || (access(path, F_OK) && strcmp(entry->d_name, "msr")))
			continue;
		attr.type = simd_pmu_type(entry->d_name);
		if (try_open(&attr))
			continue;
		attr.sample_type = PERF_SAMPLE_REGS_USER;
		simd_attr_vectors(&attr, 2, 0, 1);
		EXPECT_EQ(-EOPNOTSUPP, try_open(&attr))
			TH_LOG("%s", entry->d_name);
		printf("# %s has none\n", entry->d_name);
		nr++;
	}
	closedir(dir);
	if (!nr)
		SKIP(return, "no such PMU");
}

TEST_HARNESS_MAIN
