// SPDX-License-Identifier: GPL-2.0
/*
 * A virtual machine of a worker, for KVM: a guest of a few instructions that has
 * a pattern of its own in the vector registers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "simd_regs_image.h"
#include "simd_regs_pattern.h"
#include "simd_regs_vm.h"
#ifdef __aarch64__
#include "simd_regs_vm_arm64.h"
#else
#include "simd_regs_vm_x86.h"
#endif

#define GUEST_BYTES	4096

int simd_vm_add(struct simd_call *calls, unsigned int *nr_calls)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_MEMORY,
		.memory_size = GUEST_BYTES,
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

	memory = mmap(NULL, GUEST_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	put_guest_code(memory);
	region.userspace_addr = SIMD_ADDRESS(memory);
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		return -errno;

	err = set_up_vcpu(kvm, vm, vcpu);
	if (!err)
		calls[(*nr_calls)++] = (struct simd_call) {
			.nr = SYS_ioctl, .arg = { vcpu, KVM_RUN },
		};
	return err;
}
