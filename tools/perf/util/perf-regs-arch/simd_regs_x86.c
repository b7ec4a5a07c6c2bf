// SPDX-License-Identifier: GPL-2.0
/* The vector, predicate and extended general purpose registers of x86 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "../simd-regs.h"
#include "simd_regs.h"
#include "../../../arch/x86/include/uapi/asm/perf_regs.h"

#if defined(__x86_64__) || \
	defined(__i386__)
#include <cpuid.h>
#endif

enum { CLASS_XMM, CLASS_YMM, CLASS_ZMM, CLASS_OPMASK };

static const struct simd_class classes[] = {
	[CLASS_XMM] = {
		.name	= "XMM",
		.nr	= PERF_X86_SIMD_XMM_REGS,
		.qwords	= PERF_X86_XMM_QWORDS,
		.cpu_bit = CPU_BIT_X86_SSE,
	},
	[CLASS_YMM] = {
		.name	= "YMM",
		.nr	= PERF_X86_SIMD_YMM_REGS,
		.qwords	= PERF_X86_YMM_QWORDS,
		.cpu_bit = CPU_BIT_X86_AVX,
	},
	[CLASS_ZMM] = {
		.name	= "ZMM",
		.nr	= PERF_X86_SIMD_ZMM_REGS,
		.qwords	= PERF_X86_ZMM_QWORDS,
		.cpu_bit = CPU_BIT_X86_ZMM,
	},
	[CLASS_OPMASK] = {
		.name	= "OPMASK",
		.alias	= "K",
		.nr	= PERF_X86_SIMD_OPMASK_REGS,
		.qwords	= PERF_X86_OPMASK_QWORDS,
		.pred	= true,
		.cpu_bit = CPU_BIT_X86_OPMASK,
	},
};

static const struct simd_ext_gprs ext_gprs[] = {
	{
		.names	 = "R16-R31",
		.feature = "R16 to R31",
		.mask	 = GENMASK_ULL(PERF_REG_X86_R31, PERF_REG_X86_R16),
		.cpu_bit = CPU_BIT_X86_APX,
		.frame_base = true,
	},
	{
		.names	 = "SSP",
		.feature = "shadow stack",
		.mask	 = BIT_ULL(PERF_REG_X86_SSP),
		.cpu_bit = CPU_BIT_X86_CET_USER,
	},
};

/* The width of a vector tells its class, and there is one class of predicates. */
static const struct simd_class *find_class(const struct simd_regs *simd __maybe_unused,
					   unsigned int bit __maybe_unused,
					   unsigned int qwords, bool pred)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (classes[i].pred == pred && classes[i].qwords == qwords)
			return &classes[i];
	}
	return NULL;
}

static u64 cpu_bits(void)
{
#if defined(__x86_64__) || \
	defined(__i386__)
	unsigned int eax, ebx, ecx, edx;
	u64 bits = 0;

	/* SSE is older than XSAVE, which enumerates the others. */
	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && edx & bit_SSE)
		bits = BIT_ULL(CPU_BIT_X86_SSE);
	/* Leaf 0xd has the components for XCR0 in subleaf 0, those for IA32_XSS in 1. */
	if (__get_cpuid_count(0xd, 0, &eax, &ebx, &ecx, &edx))
		bits |= (u64)edx << 32 | eax;
	if (__get_cpuid_count(0xd, 1, &eax, &ebx, &ecx, &edx))
		bits |= (u64)edx << 32 | ecx;
	return bits;
#else
	/* Unknown: the CPU is not blamed for what cannot be sampled. */
	return ~0ULL;
#endif
}

const struct simd_arch simd_arch_x86 = {
	.classes	= classes,
	.nr_classes	= ARRAY_SIZE(classes),
	.find_class	= find_class,
	.ext_gprs	= ext_gprs,
	.nr_ext_gprs	= ARRAY_SIZE(ext_gprs),
	.legacy_class	= &classes[CLASS_XMM],
	.legacy_first	= PERF_REG_X86_XMM0,
	.cpu_bits	= cpu_bits,
};
