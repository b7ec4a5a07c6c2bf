// SPDX-License-Identifier: GPL-2.0
/*
 * Every combination of exclude_user, exclude_kernel, exclude_hv, exclude_host and
 * exclude_guest: there are samples of the levels that are not excluded, as
 * Documentation/arch/arm64/perf.rst has it, and each has the registers of its task's
 * user mode, whatever is excluded.
 *
 * What is sampled is a CPU on which a task spins, makes system calls, and enters a
 * guest if there is KVM.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <time.h>

#include "kselftest_harness.h"
#include "simd_regs_arm64.h"
#include "simd_regs_expect.h"
#include "simd_regs_record.h"
#include "simd_regs_vm.h"

/* Hits of a level that show that it is sampled, and how long to wait for them */
#define ENOUGH		40
#define MOST_MS		5000
/* ... and how long to see that there are none */
#define LEAST_MS	60
/* The share of a level that is not sampled: an interrupt comes late at times. */
#define SKID_PERCENT	10

enum { USER, KERNEL, GUEST, NR_LEVELS };

static const char * const level_names[NR_LEVELS] = { "user", "kernel", "guest" };

/* Hits by what the record says; hidden ones are not to be known of, and have no IP. */
struct hits {
	unsigned long of[NR_LEVELS];
	unsigned long hidden, all;
};

struct walk {
	struct simd_run *run;
	struct hits hits;
	bool guest;
	bool hypervisor;	/* code at EL2 that is not of the kernel: nVHE */
};

FIXTURE(exclude)
{
	struct walk walk;
};

FIXTURE_VARIANT(exclude)
{
	bool cycles;
};

FIXTURE_VARIANT_ADD(exclude, cycles)
{
	.cycles = true,
};

FIXTURE_VARIANT_ADD(exclude, clock)
{
};

/* KVM says in the log where it runs. */
static bool kvm_is_nvhe(void)
{
	const int read_all = 3, get_size = 10;
	int size = klogctl(get_size, NULL, 0);
	char *log = size > 0 ? calloc(1, size + 1) : NULL;
	bool vhe;

	if (!log)
		return false;
	klogctl(read_all, log, size);
	vhe = strstr(log, ": VHE mode initialized");
	free(log);
	return !vhe;
}

FIXTURE_SETUP(exclude)
{
	const struct simd_class *cls = simd_class_find(have_class("z") ? "z" : "all");
	struct simd_worker *w;

	if (geteuid())
		SKIP(return, "needs root");
	self->walk.guest = !access("/dev/kvm", R_OK | W_OK);
	self->walk.hypervisor = self->walk.guest && kvm_is_nvhe();

	self->walk.run = simd_run_new(SIMD_EACH_CPU, true, 1);
	if (variant->cycles)
		simd_run_use_cycles(self->walk.run);
	simd_attr_parts(&self->walk.run->attr, cls->parts & ~SIMD_MARK_MORE);
	w = simd_run_add(self->walk.run, 0x6a00, SIMD_DO_SYSCALLS | SIMD_DO_TRAP);
	w->cls = cls;
	w->spin = 1000;
	if (self->walk.guest)
		w->more_calls = simd_vm_add;
}

FIXTURE_TEARDOWN(exclude)
{
	simd_run_free(self->walk.run);
}

static void judge(const struct perf_event_header *header, void *arg)
{
	struct walk *walk = arg;
	struct simd_sample s;

	simd_check_record(header, &walk->run->check);
	if (header->type != PERF_RECORD_SAMPLE ||
	    simd_decode(header, &walk->run->attr, &s))
		return;

	walk->hits.all++;
	if (simd_in_user_mode(&s))
		walk->hits.of[USER]++;
	else if (!s.ip)
		walk->hits.hidden++;
	else
		walk->hits.of[simd_in_guest(&s) ? GUEST : KERNEL]++;
}

/*
 * Which levels there are to be samples of. The guest is in its kernel and in its
 * user mode. The clock counts nothing, so it has no counters to stop in a guest or
 * outside: it knows user mode from the rest only, of which KVM and its guest are.
 */
static void expected_levels(const struct perf_event_attr *attr, bool cycles, bool guest,
			    bool *expected)
{
	expected[USER] = !attr->exclude_user;
	expected[KERNEL] = !attr->exclude_kernel;
	expected[GUEST] = guest && !attr->exclude_guest && !attr->exclude_kernel;
	if (!cycles)
		return;

	expected[USER] &= !attr->exclude_host;
	expected[KERNEL] &= !attr->exclude_host;
	expected[GUEST] |= guest && !attr->exclude_guest && !attr->exclude_user;
}

/* Collects until there is enough of what is expected. */
static void collect(struct walk *walk, const bool *expected)
{
	struct simd_event *event = &walk->run->events[0];
	unsigned int ms, level;
	bool enough = false;

	memset(&walk->hits, 0, sizeof(walk->hits));
	memset(&walk->run->check.n, 0, sizeof(walk->run->check.n));
	for (ms = 0; ms < LEAST_MS || (!enough && ms < MOST_MS); ms += 5) {
		usleep(5000);
		simd_event_drain(event, judge, walk);
		enough = true;
		for (level = 0; level < NR_LEVELS; level++)
			enough &= !expected[level] || walk->hits.of[level] >= ENOUGH;
	}
	simd_event_disable(event);
	simd_event_drain(event, judge, walk);
}

static void expect_levels(struct __test_metadata *_metadata,
			  struct walk *walk, const bool *expected,
			  const char *name)
{
	const struct perf_event_attr *attr = &walk->run->attr;
	const struct hits *hits = &walk->hits;
	unsigned long skid = hits->all * SKID_PERCENT / 100;
	bool hypervisor = walk->hypervisor && !attr->exclude_hv && !attr->exclude_host;
	unsigned int level;

	if (!expected[USER] && !expected[KERNEL] && !expected[GUEST])
		skid = 0;
	for (level = 0; level < NR_LEVELS; level++) {
		unsigned long least = expected[level] ? ENOUGH : 0;
		unsigned long most = expected[level] ? ULONG_MAX : skid;

		/* The hypervisor enters the guest with its overflow still pending. */
		if (level == GUEST && hypervisor && walk->guest && !attr->exclude_guest)
			most = ULONG_MAX;
		EXPECT_GE(hits->of[level], least)
			TH_LOG("%s: hits of the %s", name, level_names[level]);
		EXPECT_LE(hits->of[level], most)
			TH_LOG("%s: hits of the %s", name, level_names[level]);
	}
	/* The hypervisor is counted, but its hits come when the kernel runs again. */
	if (!hypervisor)
		EXPECT_LE(hits->hidden, attr->exclude_kernel ? skid : 0)
			TH_LOG("%s: hits of what is hidden", name);
}

/*
 * What is excluded are hits. One that is there has the registers that the task has in
 * user mode, as it has its general purpose registers: on the user side always, on the
 * other one if it is in user mode.
 */
static void expect_registers(struct __test_metadata *_metadata,
			     const struct simd_run *run, const bool *expected,
			     const char *name)
{
	const struct simd_count *n = &run->check.n;

	if (expected[USER]) {
		EXPECT_GT(n->user[0].exact, 0UL)
			TH_LOG("%s: user side of hits in user mode", name);
		EXPECT_GT(n->intr[0].exact, 0UL)
			TH_LOG("%s: intr side of hits in user mode", name);
	}
	if (expected[KERNEL])
		EXPECT_GT(n->user[1].exact, 0UL)
			TH_LOG("%s: user side of hits in the kernel", name);
}

static void walk_one(struct __test_metadata *_metadata, struct walk *walk,
		     unsigned int combination, bool cycles)
{
	struct simd_run *run = walk->run;
	struct perf_event_attr *attr = &run->attr;
	bool expected[NR_LEVELS];
	char name[64];

	attr->exclude_user = combination & 1;
	attr->exclude_kernel = combination >> 1 & 1;
	attr->exclude_hv = combination >> 2 & 1;
	attr->exclude_host = combination >> 3 & 1;
	attr->exclude_guest = combination >> 4 & 1;
	snprintf(name, sizeof(name), "exclude%s%s%s%s%s", attr->exclude_user ? " user" : "",
		 attr->exclude_kernel ? " kernel" : "", attr->exclude_hv ? " hv" : "",
		 attr->exclude_host ? " host" : "", attr->exclude_guest ? " guest" : "");

	simd_event_close(&run->events[0]);
	ASSERT_EQ(0, simd_event_open(&run->events[0], attr, -1, simd_test_cpu(), NULL))
		TH_LOG("%s", name);
	ASSERT_EQ(0, simd_event_enable(&run->events[0]));

	expected_levels(attr, cycles, walk->guest, expected);
	collect(walk, expected);
	run->check.kernel_may_lack = true;
	expect_clean(_metadata, &run->check, name);
	printf("# %s: hits of user %lu kernel %lu guest %lu hidden %lu\n", name,
	       walk->hits.of[USER], walk->hits.of[KERNEL], walk->hits.of[GUEST],
	       walk->hits.hidden);
	expect_levels(_metadata, walk, expected, name);
	expect_registers(_metadata, run, expected, name);
}

TEST_F_TIMEOUT(exclude, levels, SIMD_TEST_SECONDS)
{
	struct walk *walk = &self->walk;
	unsigned int combination;
	int fd;

	fd = simd_perf_event_open(&walk->run->attr, 0, -1, -1);
	if (fd < 0 && variant->cycles)
		SKIP(return, "no PMU that interrupts: %s", strerror(errno));
	close(fd);
	if (!start_run(_metadata, walk->run))
		return;
	for (combination = 0; combination < 32; combination++)
		walk_one(_metadata, walk, combination, variant->cycles);
	EXPECT_EQ(0, simd_run_stop(walk->run));
}

TEST_HARNESS_MAIN
