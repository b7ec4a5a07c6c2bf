/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest of simd_regs_vm.c on x86.
 */
#ifndef SIMD_REGS_VM_X86_H
#define SIMD_REGS_VM_X86_H

#define GUEST_MEMORY	0x1000

/* Where the standard format of an XSAVE area has them, in words of 64 bits */
#define IMAGE_XMM		(160 / 8)
#define IMAGE_XSTATE_BV		(512 / 8)
#define IMAGE_YMMH		(576 / 8)

/* Real mode: spins, leaves by a port that nobody has, and does that again. */
static void put_guest_code(void *memory)
{
	static const __u8 code[] = {
		0xb9, 0xe8, 0x03,	/*	mov $1000, %cx */
		0xe2, 0xfe,		/* 1:	loop 1b */
		0xe6, 0x10,		/*	out %al, $0x10 */
		0xeb, 0xf7,		/*	jmp to the first */
	};

	memcpy(memory, code, sizeof(code));
}

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
				simd_word(SIMD_GUEST_SEED, 0, reg, word);
			image[IMAGE_YMMH + 2 * reg + word] =
				simd_word(SIMD_GUEST_SEED, 0, reg, 2 + word);
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

static int set_up_vcpu(int kvm, int vm, int vcpu)
{
	(void)kvm;
	(void)vm;
	return set_start(vcpu) ?: set_vectors(vcpu);
}

#endif /* SIMD_REGS_VM_X86_H */
