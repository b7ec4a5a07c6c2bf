// SPDX-License-Identifier: GPL-2.0
/*
 * The vector and predicate registers of a sample, one after the other, with the
 * names that its architecture has for them.
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
#include "perf-regs-arch/simd_regs.h"

/**
 * simd_arch - the SIMD registers of an architecture, NULL if it has none
 * @e_machine: the architecture
 */
const struct simd_arch *simd_arch(uint16_t e_machine)
{
	switch (e_machine) {
	case EM_386:
	case EM_X86_64:
		return &simd_arch_x86;
	/* A sample of a 32-bit task on an arm64 kernel has the kernel's registers. */
	case EM_ARM:
	case EM_AARCH64:
		return &simd_arch_arm64;
	default:
		return NULL;
	}
}

/**
 * simd_classes - the classes of an architecture, NULL if it has none
 * @e_machine: the architecture
 * @nr: how many there are
 */
const struct simd_class *simd_classes(uint16_t e_machine, size_t *nr)
{
	const struct simd_arch *arch = simd_arch(e_machine);

	*nr = arch ? arch->nr_classes : 0;
	return arch ? arch->classes : NULL;
}

/* The idx-th lowest bit of a mask that has as many. */
static unsigned int nth_bit(u64 mask, unsigned int idx)
{
	u64 lowest = mask & -mask;

	/* Most masks are a single run of bits: all registers of a class, or the first ones. */
	if (mask && !(mask & (mask + lowest)))
		return __builtin_ctzll(mask) + idx;

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
	const struct simd_arch *arch = simd_arch(e_machine);
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

	reg->class = arch ? arch->find_class(simd, bit, reg->qwords, reg->pred) : NULL;
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

/**
 * simd_ext_gprs - the bits of sample_regs_* that the SIMD ABI gives another meaning
 * @e_machine: the architecture
 */
u64 simd_ext_gprs(uint16_t e_machine)
{
	const struct simd_arch *arch = simd_arch(e_machine);
	u64 mask = 0;

	for (size_t i = 0; arch && i < arch->nr_ext_gprs; i++)
		mask |= arch->ext_gprs[i].mask;
	return mask;
}

/**
 * simd_legacy_bits - the bits of sample_regs_* for vector registers, which have two
 *		      each without the SIMD ABI
 * @e_machine: the architecture
 * @regs: a mask of the registers; others than those of the legacy class have none
 */
u64 simd_legacy_bits(uint16_t e_machine, u64 regs)
{
	const struct simd_arch *arch = simd_arch(e_machine);
	u64 bits = 0;

	if (!arch || !arch->legacy_class)
		return 0;
	for (unsigned int nr = 0; nr < arch->legacy_class->nr; nr++) {
		if (regs >> nr & 1)
			bits |= 3ULL << (arch->legacy_first + 2 * nr);
	}
	return bits;
}

/* What selects the numbering is the attr: a sample can be without the ABI's block. */
static u64 attr_abi(const struct perf_event_attr *attr)
{
	return attr->sample_simd_regs_enabled ? PERF_SAMPLE_REGS_ABI_SIMD : 0;
}

/* The bits of sample_regs_* that are words of vector registers */
static u64 legacy_bits(const struct perf_event_attr *attr, uint16_t e_machine)
{
	return attr->sample_simd_regs_enabled ? 0 : simd_legacy_bits(e_machine, ~0ULL);
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
	const char *name = perf_reg_name(id, e_machine, e_flags, attr_abi(attr));

	if (legacy_bits(attr, e_machine) >> id & 1)
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
	u64 low = both & even & legacy_bits(attr, e_machine);

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
	const struct simd_arch *arch = simd_arch(e_machine);
	unsigned int bit, nr_legacy = hweight64(xmm) / 2, i;

	if (*idx < nr_legacy) {
		bit = nth_bit(xmm, 2 * (*idx)++);
		reg->class = arch->legacy_class;
		reg->nr = (bit - arch->legacy_first) / 2;
		reg->qwords = arch->legacy_class->qwords;
		reg->data = regs->regs + hweight64(regs->mask & ((1ULL << bit) - 1));
		reg->pred = false;
		return true;
	}
	if (!(regs->abi & PERF_SAMPLE_REGS_ABI_SIMD))
		return false;

	i = (*idx)++ - nr_legacy;
	return simd_regs__next(&regs->simd, e_machine, &i, reg);
}

static bool is_powerpc(uint16_t e_machine)
{
	return e_machine == EM_PPC64 || e_machine == EM_PPC;
}

static bool same_family(uint16_t a, uint16_t b)
{
	return a == b || (simd_arch(a) && simd_arch(a) == simd_arch(b)) ||
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
