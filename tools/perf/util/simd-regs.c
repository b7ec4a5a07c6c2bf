// SPDX-License-Identifier: GPL-2.0
/*
 * Names of vector and predicate registers, and of the general purpose registers
 * that sample_simd_regs_enabled adds: tables for each architecture.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "env.h"
#include "evsel.h"
#include "perf_regs.h"
#include "sample.h"
#include "simd-regs.h"
#include "thread.h"
#include "../../arch/x86/include/uapi/asm/perf_regs.h"

enum { XMM, YMM, ZMM, OPMASK };

static const struct simd_class x86_classes[] = {
	[XMM] = {
		.name	= "XMM",
		.nr	= PERF_X86_SIMD_XMM_REGS,
		.qwords	= PERF_X86_SIMD_XMM_QWORDS,
		.cpu_bit = CPU_BIT_X86_SSE,
	},
	[YMM] = {
		.name	= "YMM",
		.nr	= PERF_X86_SIMD_YMM_REGS,
		.qwords	= PERF_X86_SIMD_YMM_QWORDS,
		.cpu_bit = CPU_BIT_X86_AVX,
	},
	[ZMM] = {
		.name	= "ZMM",
		.nr	= PERF_X86_SIMD_ZMM_REGS,
		.qwords	= PERF_X86_SIMD_ZMM_QWORDS,
		.cpu_bit = CPU_BIT_X86_ZMM,
	},
	[OPMASK] = {
		.name	= "OPMASK",
		.alias	= "K",
		.nr	= PERF_X86_SIMD_OPMASK_REGS,
		.qwords	= PERF_X86_SIMD_OPMASK_QWORDS,
		.pred	= true,
		.cpu_bit = CPU_BIT_X86_OPMASK,
	},
};

enum { V, Z, P, FFR };

static const struct simd_class arm64_classes[] = {
	[V] = {
		.name	= "V",
		.nr	= 32,
		.qwords	= 2,
		.cpu_bit = CPU_BIT_ARM64_ASIMD,
	},
	[Z] = {
		.name	= "Z",
		.nr	= 32,
		.cpu_bit = CPU_BIT_ARM64_SVE,
	},
	[P] = {
		.name	= "P",
		.nr	= 16,
		.pred	= true,
		.per_byte = true,
		.cpu_bit = CPU_BIT_ARM64_SVE,
	},
	[FFR] = {
		.name	= "FFR",
		.first	= 16,
		.nr	= 1,
		.pred	= true,
		.per_byte = true,
		.cpu_bit = CPU_BIT_ARM64_SVE,
	},
};

static bool is_arm(uint16_t e_machine)
{
	return e_machine == EM_AARCH64 || e_machine == EM_ARM;
}

static bool is_powerpc(uint16_t e_machine)
{
	return e_machine == EM_PPC64 || e_machine == EM_PPC;
}

/**
 * simd_classes - the classes of an architecture, NULL if it has none
 * @e_machine: the architecture
 * @nr: how many there are
 *
 * Vector classes come first, narrow before wide.
 */
const struct simd_class *simd_classes(uint16_t e_machine, size_t *nr)
{
	if (e_machine_is_x86(e_machine)) {
		*nr = ARRAY_SIZE(x86_classes);
		return x86_classes;
	}
	/* A sample of a 32-bit task on an arm64 kernel has the kernel's registers. */
	if (is_arm(e_machine)) {
		*nr = ARRAY_SIZE(arm64_classes);
		return arm64_classes;
	}
	*nr = 0;
	return NULL;
}

static const struct simd_class *x86_class(unsigned int qwords, bool pred)
{
	for (size_t i = 0; i < ARRAY_SIZE(x86_classes); i++) {
		if (x86_classes[i].pred == pred && x86_classes[i].qwords == qwords)
			return &x86_classes[i];
	}
	return NULL;
}

/*
 * V registers are the low 128 bits of the Z registers. A task that uses SVE with
 * vectors of 128 bits can be told from one that doesn't by its predicates.
 */
static const struct simd_class *arm64_class(const struct simd_regs *simd, unsigned int bit,
					    bool pred)
{
	if (pred)
		return &arm64_classes[bit >= arm64_classes[FFR].first ? FFR : P];
	if (simd->vector_qwords == arm64_classes[V].qwords && !simd->nr_pred)
		return &arm64_classes[V];
	return &arm64_classes[Z];
}

/* The idx-th lowest bit of a mask that has as many. */
static unsigned int nth_bit(u64 mask, unsigned int idx)
{
	while (idx--)
		mask &= mask - 1;
	return mask ? __builtin_ctzll(mask) : 0;
}

/**
 * simd_regs__next - one after the other, the registers in a sample
 * @simd: the sample's vector and predicate registers
 * @e_machine: the architecture of the sample
 * @idx: 0 to begin with
 * @reg: is filled in
 *
 * Returns false if there are no more registers.
 */
bool simd_regs__next(const struct simd_regs *simd, uint16_t e_machine, unsigned int *idx,
		     struct simd_reg *reg)
{
	unsigned int bit, i = (*idx)++;

	reg->pred = i >= simd->nr_vectors;
	if (!reg->pred) {
		bit = nth_bit(simd->vec_mask, i);
		reg->qwords = simd->vector_qwords;
		reg->data = simd->data + i * simd->vector_qwords;
	} else {
		i -= simd->nr_vectors;
		if (i >= simd->nr_pred)
			return false;
		bit = nth_bit(simd->pred_mask, i);
		reg->qwords = simd->pred_qwords;
		reg->data = simd->data + simd->nr_vectors * simd->vector_qwords +
			    i * simd->pred_qwords;
	}

	reg->class = NULL;
	if (e_machine_is_x86(e_machine))
		reg->class = x86_class(reg->qwords, reg->pred);
	else if (is_arm(e_machine))
		reg->class = arm64_class(simd, bit, reg->pred);

	reg->nr = bit - (reg->class ? reg->class->first : 0);
	return true;
}

/**
 * simd_reg__name - the name of a register's class
 * @reg: the register
 */
const char *simd_reg__name(const struct simd_reg *reg)
{
	if (reg->class)
		return reg->class->name;
	return reg->pred ? "PRED" : "VEC";
}

/**
 * simd_reg__has_nr - whether a number belongs to the register's name
 * @reg: the register
 */
bool simd_reg__has_nr(const struct simd_reg *reg)
{
	return !reg->class || reg->class->nr > 1;
}

/* The numbers overlap with those of the XMM registers that perf_reg_name() has. */
static const char * const x86_ext_gpr_names[] = {
	[PERF_REG_X86_R16] = "R16",
	[PERF_REG_X86_R17] = "R17",
	[PERF_REG_X86_R18] = "R18",
	[PERF_REG_X86_R19] = "R19",
	[PERF_REG_X86_R20] = "R20",
	[PERF_REG_X86_R21] = "R21",
	[PERF_REG_X86_R22] = "R22",
	[PERF_REG_X86_R23] = "R23",
	[PERF_REG_X86_R24] = "R24",
	[PERF_REG_X86_R25] = "R25",
	[PERF_REG_X86_R26] = "R26",
	[PERF_REG_X86_R27] = "R27",
	[PERF_REG_X86_R28] = "R28",
	[PERF_REG_X86_R29] = "R29",
	[PERF_REG_X86_R30] = "R30",
	[PERF_REG_X86_R31] = "R31",
	[PERF_REG_X86_SSP] = "SSP",
};

/**
 * simd_ext_gprs - the bits of sample_regs_* that mean a register only with
 *		   sample_simd_regs_enabled
 * @e_machine: the architecture
 */
u64 simd_ext_gprs(uint16_t e_machine)
{
	u64 mask = 0;

	if (!e_machine_is_x86(e_machine))
		return 0;

	for (size_t i = 0; i < ARRAY_SIZE(x86_ext_gpr_names); i++) {
		if (x86_ext_gpr_names[i])
			mask |= 1ULL << i;
	}
	return mask;
}

/**
 * simd_ext_gprs_cpu_bit - what a CPU needs to have some of simd_ext_gprs()
 * @mask: the registers; SSP is not among others
 */
u8 simd_ext_gprs_cpu_bit(u64 mask)
{
	return mask == 1ULL << PERF_REG_X86_SSP ? CPU_BIT_X86_CET_USER : CPU_BIT_X86_APX;
}

/**
 * simd_legacy_xmm_bits - the bits of sample_regs_* for XMM registers, which have
 *			  two each without sample_simd_regs_enabled
 * @regs: a mask of the registers
 */
u64 simd_legacy_xmm_bits(u64 regs)
{
	u64 bits = 0;

	for (unsigned int nr = 0; nr < PERF_X86_SIMD_XMM_REGS; nr++) {
		if (regs >> nr & 1)
			bits |= 3ULL << (PERF_REG_X86_XMM0 + 2 * nr);
	}
	return bits;
}

/**
 * sample_reg_name - the name of a bit of sample_regs_*
 * @id: the bit
 * @attr: of the event: it selects the numbering
 * @e_machine: the architecture
 * @e_flags: its ELF flags
 */
const char *sample_reg_name(int id, const struct perf_event_attr *attr,
			    uint16_t e_machine, uint32_t e_flags)
{
	if (attr->sample_simd_regs_enabled && id < 64 && simd_ext_gprs(e_machine) >> id & 1)
		return x86_ext_gpr_names[id];

	return perf_reg_name(id, e_machine, e_flags);
}

/* Without the SIMD fields, XMM registers have two bits of sample_regs_* each. */
static u64 legacy_xmm_bits(const struct perf_event_attr *attr, uint16_t e_machine)
{
	if (!e_machine_is_x86(e_machine) || attr->sample_simd_regs_enabled)
		return 0;
	return simd_legacy_xmm_bits(~0ULL);
}

/**
 * sample_reg__scnprintf - the name of a bit of sample_regs_*, with the number of
 *			   the word if it is a half of an XMM register
 * @buf: where to
 * @size: of @buf
 * @id: the bit
 * @attr: of the event
 * @e_machine: the architecture
 * @e_flags: its ELF flags
 */
int sample_reg__scnprintf(char *buf, size_t size, int id, const struct perf_event_attr *attr,
			  uint16_t e_machine, uint32_t e_flags)
{
	const char *name = sample_reg_name(id, attr, e_machine, e_flags);

	if (legacy_xmm_bits(attr, e_machine) >> id & 1)
		return scnprintf(buf, size, "%s[%d]", name, id & 1);
	return scnprintf(buf, size, "%s", name);
}

/**
 * regs_dump__legacy_xmm - the bits of a sample's mask that make whole XMM registers
 * @regs: the registers
 * @attr: of the event
 * @e_machine: the architecture
 *
 * A half alone is not what the name of the register stands for.
 */
u64 regs_dump__legacy_xmm(const struct regs_dump *regs, const struct perf_event_attr *attr,
			  uint16_t e_machine)
{
	const u64 even = 0x5555555555555555ULL;
	u64 both = regs->mask & (regs->mask >> 1);
	u64 low = both & even & legacy_xmm_bits(attr, e_machine);

	return low | low << 1;
}

/**
 * regs_dump__has_simd - whether a sample can have vector or predicate registers
 * @regs: the registers of the sample
 * @attr: of the event
 * @e_machine: the architecture of the sample
 */
bool regs_dump__has_simd(const struct regs_dump *regs, const struct perf_event_attr *attr,
			 uint16_t e_machine)
{
	return regs->abi & PERF_SAMPLE_REGS_ABI_SIMD ||
	       (regs->regs && regs_dump__legacy_xmm(regs, attr, e_machine));
}

/**
 * regs_dump__next_simd - one after the other, the vector and predicate registers
 * @regs: the registers of the sample
 * @attr: of the event
 * @e_machine: the architecture of the sample
 * @idx: 0 to begin with
 * @reg: is filled in
 *
 * XMM registers of sample_regs_* are vectors like those of the SIMD fields.
 *
 * Returns false if there are no more registers.
 */
bool regs_dump__next_simd(const struct regs_dump *regs, const struct perf_event_attr *attr,
			  uint16_t e_machine, unsigned int *idx, struct simd_reg *reg)
{
	u64 xmm = regs_dump__legacy_xmm(regs, attr, e_machine);
	unsigned int bit, nr_legacy = hweight64(xmm) / 2, i;

	if (*idx < nr_legacy) {
		bit = nth_bit(xmm, 2 * (*idx)++);
		reg->class = x86_class(PERF_X86_SIMD_XMM_QWORDS, /*pred=*/false);
		reg->nr = (bit - PERF_REG_X86_XMM0) / 2;
		reg->qwords = PERF_X86_SIMD_XMM_QWORDS;
		reg->data = regs->regs + hweight64(regs->mask & ((1ULL << bit) - 1));
		reg->pred = false;
		return true;
	}
	if (!(regs->abi & PERF_SAMPLE_REGS_ABI_SIMD))
		return false;

	i = (*idx)++ - nr_legacy;
	return simd_regs__next(&regs->simd, e_machine, &i, reg);
}

static bool same_family(uint16_t a, uint16_t b)
{
	return a == b || (e_machine_is_x86(a) && e_machine_is_x86(b)) || (is_arm(a) && is_arm(b)) ||
	       (is_powerpc(a) && is_powerpc(b));
}

/**
 * evsel__regs_e_machine - the architecture that names the registers of a sample
 * @evsel: the sample's event
 * @thread: the sample's thread
 * @machine: the thread's machine
 * @e_flags: is set to the ELF flags
 *
 * A thread can be a 32-bit one on a 64-bit kernel, so ask it first. Its answer
 * comes from the files that it has mapped, looked up on the machine where perf
 * runs now. Those need not be the files of the machine of the recording: what
 * the file header says decides then.
 */
uint16_t evsel__regs_e_machine(struct evsel *evsel, struct thread *thread,
			       struct machine *machine, uint32_t *e_flags)
{
	uint16_t e_machine = thread__e_machine(thread, machine, e_flags);
	struct perf_env *env = evsel__env(evsel);
	uint16_t file_e_machine;
	uint32_t file_e_flags;

	if (!env || !env->arch)
		return e_machine;

	file_e_machine = perf_env__e_machine_nocache(env, &file_e_flags);
	if (file_e_machine == EM_NONE || same_family(file_e_machine, e_machine))
		return e_machine;

	*e_flags = file_e_flags;
	return file_e_machine;
}
