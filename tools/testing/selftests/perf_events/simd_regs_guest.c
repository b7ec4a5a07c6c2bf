// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of tasks that run a virtual machine. KVM puts the guest's values
 * into the registers and the task's own out of the way: a sample has those, or
 * none, wherever it hits: the guest, KVM, or the task between two runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"

/* A family that no worker has */
#define GUEST_SEED	0x7e00

#define GUEST_MEMORY	0x1000

/* Real mode: spins, leaves by a port that nobody has, and does that again. */
static const __u8 guest_code[] = {
	0xb9, 0xe8, 0x03,	/*	mov $1000, %cx */
	0xe2, 0xfe,		/* 1:	loop 1b */
	0xe6, 0x10,		/*	out %al, $0x10 */
	0xeb, 0xf7,		/*	jmp to the first */
};

/* Where the standard format of an XSAVE area has them, in words of 64 bits */
#define IMAGE_XMM		(160 / 8)
#define IMAGE_XSTATE_BV		(512 / 8)
#define IMAGE_YMMH		(576 / 8)

/* Gives the guest a pattern in its XMM and YMM registers. */
static int set_vectors(int vcpu)
{
	static struct kvm_xsave xsave;
	__u64 *image = (__u64 *)xsave.region;
	unsigned int reg, word;

	xsave.region[0] = 0x37f;
	xsave.region[6] = 0x1f80;
	image[IMAGE_XSTATE_BV] = 1 | SIMD_XF_SSE | (simd_xcr0() & SIMD_XF_YMMH);
	for (reg = 0; reg < 16; reg++) {
		for (word = 0; word < 2; word++) {
			image[IMAGE_XMM + 2 * reg + word] =
				simd_word(GUEST_SEED, 0, reg, word);
			image[IMAGE_YMMH + 2 * reg + word] =
				simd_word(GUEST_SEED, 0, reg, 2 + word);
		}
	}

	return ioctl(vcpu, KVM_SET_XSAVE, &xsave) ? -errno : 0;
}

static int set_start(int vcpu)
{
	struct kvm_regs regs = { .rip = GUEST_MEMORY, .rflags = 2 };
	struct kvm_sregs sregs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(vcpu, KVM_SET_SREGS, &sregs) || ioctl(vcpu, KVM_SET_REGS, &regs))
		return -errno;

	return 0;
}

/* A worker's virtual machine, which it enters in each round; it stays until exit. */
static int add_guest(struct simd_call *calls, unsigned int *nr_calls)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_MEMORY,
		.memory_size = 4096,
	};
	int kvm, vm, vcpu, err;
	void *memory;

	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		return -ENODEV;
	vm = ioctl(kvm, KVM_CREATE_VM, 0UL);
	if (vm < 0)
		return -errno;
	vcpu = ioctl(vm, KVM_CREATE_VCPU, 0UL);
	if (vcpu < 0)
		return -errno;

	memory = mmap(NULL, region.memory_size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	memcpy(memory, guest_code, sizeof(guest_code));
	region.userspace_addr = SIMD_ADDRESS(memory);
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		return -errno;

	err = set_start(vcpu) ?: set_vectors(vcpu);
	if (!err)
		calls[(*nr_calls)++] = (struct simd_call) {
			.nr = SYS_ioctl, .arg = { vcpu, KVM_RUN },
		};
	return err;
}

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

	w->more_calls = add_guest;
	w->spin = 200;
	return w;
}

/* Hits of each kind, and the task's own registers in all of them */
static void expect_guest(struct __test_metadata *_metadata, const struct simd_run *run)
{
	const struct simd_count *n = &run->check.n;

	EXPECT_GT(n->guest, 0UL);
	EXPECT_GT(n->samples[1], n->guest);
	EXPECT_GT(n->user[1].exact, n->guest / 2);
}

TEST_F_TIMEOUT(guest, alone, SIMD_TEST_SECONDS)
{
	add_host(self->run, 0x6100, 0);
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
	if (!start_run(_metadata, self->run))
		return;
	finish_run(_metadata, self->run, "guests");
	expect_guest(_metadata, self->run);
}

TEST_HARNESS_MAIN
