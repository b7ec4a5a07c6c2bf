// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of tasks that run a virtual machine. KVM puts the guest's values
 * into the registers and the task's own out of the way: a sample has those, or
 * none, wherever it hits: the guest, KVM, or the task between two runs.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_vm.h"

FIXTURE(guest)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(guest)
{
	enum simd_scope scope;
	bool privileged;
	bool hardware;
	int paranoid;
};

FIXTURE_VARIANT_ADD(guest, clock)
{
	.scope = SIMD_EACH_TASK,
	.paranoid = 1,
};

FIXTURE_VARIANT_ADD(guest, clock_cpu_privileged)
{
	.scope = SIMD_EACH_CPU,
	.privileged = true,
	.paranoid = 2,
};

FIXTURE_VARIANT_ADD(guest, cycles)
{
	.scope = SIMD_EACH_TASK,
	.hardware = true,
	.paranoid = 1,
};

FIXTURE_VARIANT_ADD(guest, cycles_cpu_privileged)
{
	.scope = SIMD_EACH_CPU,
	.hardware = true,
	.privileged = true,
	.paranoid = 2,
};

FIXTURE_SETUP(guest)
{
	if (geteuid())
		SKIP(return, "needs root");
	if (access("/dev/kvm", R_OK | W_OK))
		SKIP(return, "/dev/kvm: %s", strerror(errno));
	self->run = simd_run_new(variant->scope, variant->privileged, variant->paranoid);
	if (variant->hardware)
		simd_run_use_cycles(self->run);
}

FIXTURE_TEARDOWN(guest)
{
	simd_run_free(self->run);
}

static struct simd_worker *add_host(struct simd_run *run, __u16 seed, unsigned int what)
{
	struct simd_worker *w = simd_run_add(run, seed, what);

	w->more_calls = simd_vm_add;
	w->spin = 200;
	return w;
}

/* Hits of each kind, and the task's own registers in all of them */
static void expect_guest(struct __test_metadata *_metadata, const struct simd_run *run)
{
	const struct simd_count *n = &run->check.n;

	EXPECT_GT(n->samples[1], n->guest);
	EXPECT_GT(n->user[1].exact, n->guest / 2);
}

TEST_F_TIMEOUT(guest, alone, SIMD_TEST_SECONDS)
{
	add_host(self->run, 0x6100, 0);
	simd_run_demand(self->run, guest, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "guest");
	expect_guest(_metadata, self->run);
}

/* Several on one CPU, one of which uses vectors in the kernel, and one without */
TEST_F_TIMEOUT(guest, crowd, SIMD_TEST_SECONDS)
{
	struct simd_worker *w;

	add_host(self->run, 0x6200, SIMD_DO_YIELD);
	w = add_host(self->run, 0x6300, SIMD_DO_YIELD | SIMD_DO_HASH);
	w->nr_phases = 64;
	w->rounds = 1;
	simd_run_add(self->run, 0x6400, SIMD_DO_YIELD);
	simd_run_demand(self->run, guest, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "guests");
	expect_guest(_metadata, self->run);
}

/* Hosts that use SVE and streaming mode, which a system call ends: arm64 */
TEST_F_TIMEOUT(guest, modes, SIMD_TEST_SECONDS)
{
	static const char * const names[] = { "z", "streaming" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const struct simd_class *cls = simd_class_find(names[i]);
		struct simd_worker *w;

		if (!cls || !simd_class_supported(cls))
			SKIP(return, "this CPU has no %s", names[i]);
		w = add_host(self->run, 0x6600 + (i << 8), SIMD_DO_YIELD);
		w->cls = cls;
		w->spin = 2000;
		simd_attr_parts(&self->run->attr, cls->parts);
	}
	self->run->check.kernel_may_lack = true;
	simd_run_demand(self->run, user[1].exact, 1);
	simd_run_demand(self->run, guest, 1);
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "guests of hosts in all modes");
}

TEST_HARNESS_MAIN
