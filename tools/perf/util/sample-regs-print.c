// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of a sample as text. Both forms walk the same registers: what
 * the sample has, in the order in which it has them.
 */
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "sample.h"
#include "sample-regs-print.h"
#include "simd-regs.h"

static const char *abi_name(u64 abi)
{
	const u64 known = PERF_SAMPLE_REGS_ABI_32 | PERF_SAMPLE_REGS_ABI_64 |
			  PERF_SAMPLE_REGS_ABI_SIMD;

	if (abi & ~known)
		return "unknown";

	switch (abi & ~PERF_SAMPLE_REGS_ABI_SIMD) {
	case PERF_SAMPLE_REGS_ABI_NONE:
		return "none";
	case PERF_SAMPLE_REGS_ABI_32:
		return "32-bit";
	case PERF_SAMPLE_REGS_ABI_64:
		return "64-bit";
	default:
		return "unknown";
	}
}

static void dump_simd_reg(FILE *fp, const struct simd_reg *reg)
{
	char name[32], nr[16] = "";

	if (simd_reg__has_nr(reg))
		scnprintf(nr, sizeof(nr), "[%u]", reg->nr);

	for (unsigned int i = 0; i < reg->qwords; i++) {
		/* A predicate is a single word, more often than not. */
		if (reg->pred && reg->qwords == 1)
			scnprintf(name, sizeof(name), "%s%s", simd_reg__name(reg), nr);
		else
			scnprintf(name, sizeof(name), "%s%s[%u]", simd_reg__name(reg), nr, i);
		fprintf(fp, ".... %-5s 0x%016llx\n", name, (unsigned long long)reg->data[i]);
	}
}

static void dump_simd(FILE *fp, const struct simd_regs *simd, uint16_t e_machine)
{
	struct simd_reg reg;

	fprintf(fp, "... SIMD ABI nr_vectors %u vector_qwords %u nr_pred %u pred_qwords %u\n",
		simd->nr_vectors, simd->vector_qwords, simd->nr_pred, simd->pred_qwords);

	for (unsigned int i = 0; simd_regs__reg(simd, e_machine, i, &reg); i++)
		dump_simd_reg(fp, &reg);
}

/**
 * regs_dump__dump - print registers, a line for each word
 * @fp: where to
 * @side: "user" or "intr"
 * @regs: the registers
 * @attr: of their event
 * @e_machine: the architecture of the sample
 * @e_flags: its ELF flags
 */
void regs_dump__dump(FILE *fp, const char *side, const struct regs_dump *regs,
		     const struct perf_event_attr *attr, uint16_t e_machine, uint32_t e_flags)
{
	unsigned int id, i = 0;
	u64 mask = regs->mask;

	if (!regs->regs)
		return;

	fprintf(fp, "... %s regs: mask 0x%llx ABI %s%s\n", side, (unsigned long long)mask,
		abi_name(regs->abi), regs->abi & PERF_SAMPLE_REGS_ABI_SIMD ? " SIMD" : "");

	for_each_set_bit(id, (unsigned long *)&mask, sizeof(mask) * 8) {
		fprintf(fp, ".... %-5s 0x%016llx\n", sample_reg_name(id, attr, e_machine, e_flags),
			(unsigned long long)regs->regs[i++]);
	}

	if (regs->abi & PERF_SAMPLE_REGS_ABI_SIMD)
		dump_simd(fp, &regs->simd, e_machine);
}

/* The value of the register as one number, so the highest word comes first. */
static int fprintf_simd_reg(FILE *fp, const struct simd_reg *reg)
{
	int printed = fprintf(fp, "%s", simd_reg__name(reg));

	if (simd_reg__has_nr(reg))
		printed += fprintf(fp, "%u", reg->nr);

	printed += fprintf(fp, ":0x");
	for (unsigned int i = reg->qwords; i > 0; i--)
		printed += fprintf(fp, "%016llx", (unsigned long long)reg->data[i - 1]);

	return printed + fprintf(fp, " ");
}

/**
 * regs_dump__fprintf - print registers on one line
 * @fp: where to
 * @regs: the registers
 * @attr: of their event
 * @e_machine: the architecture of the sample
 * @e_flags: its ELF flags
 */
int regs_dump__fprintf(FILE *fp, const struct regs_dump *regs,
		       const struct perf_event_attr *attr, uint16_t e_machine, uint32_t e_flags)
{
	unsigned int id, i = 0;
	struct simd_reg reg;
	int printed = 0;
	u64 mask = regs->mask;

	if (!regs->regs)
		return 0;

	for_each_set_bit(id, (unsigned long *)&mask, sizeof(mask) * 8) {
		printed += fprintf(fp, "%5s:0x%llx ",
				   sample_reg_name(id, attr, e_machine, e_flags),
				   (unsigned long long)regs->regs[i++]);
	}

	if (!(regs->abi & PERF_SAMPLE_REGS_ABI_SIMD))
		return printed;

	for (i = 0; simd_regs__reg(&regs->simd, e_machine, i, &reg); i++)
		printed += fprintf_simd_reg(fp, &reg);

	return printed;
}
