/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SIMD_REGS_ARCH_H
#define __PERF_SIMD_REGS_ARCH_H

/*
 * The SIMD registers of each architecture. All tables are in every perf: a file can
 * be of another machine.
 */
struct simd_arch;

extern const struct simd_arch simd_arch_x86;
extern const struct simd_arch simd_arch_arm64;

/*
 * What a CPU can have, bits of simd_regs__cpu(): on x86 the numbers of its XSAVE state
 * components, on arm64 those of the bits of AT_HWCAP.
 */
enum {
	CPU_BIT_X86_SSE		= 1,
	CPU_BIT_X86_AVX		= 2,
	CPU_BIT_X86_OPMASK	= 5,
	CPU_BIT_X86_ZMM		= 6,
	CPU_BIT_X86_CET_USER	= 11,
	CPU_BIT_X86_APX		= 19,
};

enum {
	CPU_BIT_ARM64_ASIMD	= 1,
	CPU_BIT_ARM64_SVE	= 22,
};

#endif /* __PERF_SIMD_REGS_ARCH_H */
