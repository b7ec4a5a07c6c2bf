// SPDX-License-Identifier: GPL-2.0
/* The vector and predicate registers of arm64 */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "../sample.h"
#include "../simd-regs.h"
#include "simd_regs.h"
#include "../../../arch/arm64/include/uapi/asm/perf_regs.h"

#if defined(__aarch64__)
#include <sys/auxv.h>

/* A bit of AT_HWCAP2 */
#ifndef HWCAP2_SME
#define HWCAP2_SME	BIT(23)
#endif
#endif

enum { CLASS_V, CLASS_Z, CLASS_P, CLASS_FFR };

static const struct simd_class classes[] = {
	[CLASS_V] = {
		.name	= "V",
		.nr	= PERF_ARM64_SIMD_VEC_REGS,
		.qwords	= PERF_ARM64_SIMD_V_QWORDS,
		.cpu_bit = CPU_BIT_ARM64_ASIMD,
	},
	[CLASS_Z] = {
		.name	= "Z",
		.nr	= PERF_ARM64_SIMD_VEC_REGS,
		.cpu_bit = CPU_BIT_ARM64_SVE,
	},
	[CLASS_P] = {
		.name	= "P",
		.nr	= PERF_ARM64_SIMD_FFR,
		.pred	= true,
		.per_byte = true,
		.cpu_bit = CPU_BIT_ARM64_SVE,
	},
	[CLASS_FFR] = {
		.name	= "FFR",
		.first	= PERF_ARM64_SIMD_FFR,
		.nr	= 1,
		.pred	= true,
		.per_byte = true,
		.cpu_bit = CPU_BIT_ARM64_SVE,
	},
};

/*
 * V registers are the low 128 bits of the Z registers. A task that uses SVE with
 * vectors of 128 bits can be told from one that doesn't by its predicates.
 */
static const struct simd_class *find_class(const struct simd_regs *simd, unsigned int bit,
					   unsigned int qwords, bool pred)
{
	if (pred)
		return &classes[bit >= PERF_ARM64_SIMD_FFR ? CLASS_FFR : CLASS_P];
	if (qwords == PERF_ARM64_SIMD_V_QWORDS && !simd->nr_pred)
		return &classes[CLASS_V];
	return &classes[CLASS_Z];
}

static u64 cpu_bits(void)
{
#if defined(__aarch64__)
	u64 bits = getauxval(AT_HWCAP);

	/* A CPU with SME has SVE registers in streaming mode. */
	if (getauxval(AT_HWCAP2) & HWCAP2_SME)
		bits |= BIT_ULL(CPU_BIT_ARM64_SVE);
	return bits;
#else
	/* Unknown: the CPU is not blamed for what cannot be sampled. */
	return ~0ULL;
#endif
}

const struct simd_arch simd_arch_arm64 = {
	.classes	= classes,
	.nr_classes	= ARRAY_SIZE(classes),
	.find_class	= find_class,
	.cpu_bits	= cpu_bits,
};
