/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest of simd_regs_vm.c on arm64.
 */
#ifndef SIMD_REGS_VM_ARM64_H
#define SIMD_REGS_VM_ARM64_H

#include <stddef.h>
#include <stdint.h>

#define GUEST_MEMORY	0x40000000
/* Where nobody is: what is stored there comes out as an MMIO exit. */
#define GUEST_DOOR	0x10000

#define NR_VECTORS	32

/*
 * The guest spins at EL1 and at EL0, and leaves by the door. It reads a vector
 * register first: KVM loads the vector registers only then. The page is its
 * vector table as well, of which it needs the entry for exceptions from EL0.
 */
asm("	.pushsection .rodata\n"
"	.balign 8\n"
"guest_code:\n"
"	adr	x0, guest_code\n"
"	msr	vbar_el1, x0\n"
"	mov	x0, #0x330000\n"	/* no traps of FP or SVE */
"	msr	cpacr_el1, x0\n"
"	isb\n"
"	movz	x1, #0x1, lsl #16\n"	/* GUEST_DOOR */
"guest_round:\n"
"	fmov	x2, d31\n"
"	mov	x3, #1000\n"
"1:	subs	x3, x3, #1\n"
"	b.ne	1b\n"
"	adr	x0, guest_user\n"
"	msr	elr_el1, x0\n"
"	mov	x0, #0x3c0\n"		/* EL0, interrupts masked */
"	msr	spsr_el1, x0\n"
"	eret\n"
"guest_user:\n"
"	mov	x3, #1000\n"
"2:	subs	x3, x3, #1\n"
"	b.ne	2b\n"
"	str	x2, [x1]\n"
"	svc	#0\n"
"	.org	guest_code + 0x400\n"
"	b	guest_round\n"
"guest_code_end:\n"
"	.popsection\n");

extern const char guest_code[] __attribute__((visibility("hidden")));
extern const char guest_code_end[] __attribute__((visibility("hidden")));

static void put_guest_code(void *memory)
{
	memcpy(memory, guest_code, guest_code_end - guest_code);
}

static int one_reg(int vcpu, unsigned int request, __u64 id, const void *value)
{
	struct kvm_one_reg reg = { .id = id, .addr = SIMD_ADDRESS(value) };

	return ioctl(vcpu, request, &reg) ? -errno : 0;
}

/* Of a register that is one of struct kvm_regs; its size is counted in words of 32 bits. */
#define CORE_REG(size, member)	(KVM_REG_ARM64 | (size) | KVM_REG_ARM_CORE | \
				 offsetof(struct kvm_regs, member) / sizeof(__u32))

static __u64 guest_marker(bool sve)
{
	return simd_marker(SIMD_GUEST_SEED, 0, SIMD_MARK_V | SIMD_MARK_VQ(16) |
			   (sve ? SIMD_MARK_Z | SIMD_MARK_P | SIMD_MARK_FFR : 0));
}

/* What KVM calls a register: one of SVE is as long there as any can be. */
static __u64 reg_id(unsigned int reg, bool sve)
{
	if (!sve)
		return CORE_REG(KVM_REG_SIZE_U128, fp_regs.vregs[0]) +
		       reg * (sizeof(__uint128_t) / sizeof(__u32));
	if (reg < SIMD_REG_P)
		return KVM_REG_ARM64_SVE_ZREG(reg, 0);
	if (reg < SIMD_REG_FFR)
		return KVM_REG_ARM64_SVE_PREG(reg - SIMD_REG_P, 0);
	return KVM_REG_ARM64_SVE_FFR(0);
}

static int set_vectors(int vcpu, bool sve)
{
	__u64 marker = guest_marker(sve), words[32] = {};
	unsigned int reg, word;
	int err = 0;

	for (reg = 0; reg <= SIMD_REG_FFR && !err; reg++) {
		if (reg >= NR_VECTORS && reg < SIMD_REG_P)
			continue;
		for (word = 0; simd_expect(marker, reg, word, &words[word]); word++)
			;
		if (word)
			err = one_reg(vcpu, KVM_SET_ONE_REG, reg_id(reg, sve), words);
	}
	return err;
}

/* Has the guest had its pattern? It says so at the door. */
static int try_guest(int kvm, int vcpu, bool sve)
{
	int size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0UL), err = 0;
	struct kvm_run *run;
	__u64 value;

	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		return -errno;

	simd_expect(guest_marker(sve), 31, 0, &value);
	if (ioctl(vcpu, KVM_RUN, 0UL))
		err = -errno;
	else if (run->exit_reason != KVM_EXIT_MMIO || run->mmio.phys_addr != GUEST_DOOR ||
		 memcmp(run->mmio.data, &value, sizeof(value)))
		err = -EPROTO;
	munmap(run, size);
	return err;
}

static int set_up_vcpu(int kvm, int vm, int vcpu)
{
	const __u64 start = GUEST_MEMORY;
	int finalize = KVM_ARM_VCPU_SVE;
	struct kvm_vcpu_init init;
	bool sve = ioctl(vm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_SVE) > 0;

	if (ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init))
		return -errno;
	if (sve)
		init.features[0] |= 1 << KVM_ARM_VCPU_SVE;
	if (ioctl(vcpu, KVM_ARM_VCPU_INIT, &init) ||
	    (sve && ioctl(vcpu, KVM_ARM_VCPU_FINALIZE, &finalize)))
		return -errno;

	return one_reg(vcpu, KVM_SET_ONE_REG, CORE_REG(KVM_REG_SIZE_U64, regs.pc), &start) ?:
	       set_vectors(vcpu, sve) ?: try_guest(kvm, vcpu, sve);
}

#endif /* SIMD_REGS_VM_ARM64_H */
