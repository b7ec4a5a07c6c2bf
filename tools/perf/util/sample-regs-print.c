// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of a sample as text. All forms walk the same registers: what
 * the sample has, in the order in which it has them.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "sample.h"
#include "sample-regs-print.h"
#include "simd-regs-lanes.h"
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

/* A walk over the registers of sample_regs_* that are not words of vectors */
struct gpr_walk {
	const struct regs_dump *regs;
	const struct perf_event_attr *attr;
	uint16_t e_machine;
	uint32_t e_flags;
	/* Bits that regs_dump__next_simd() has */
	u64 vectors;
	unsigned int id;
	unsigned int word;
	/* The register that the walk has come to */
	char name[16];
	unsigned long long value;
};

static struct gpr_walk gpr_walk__begin(const struct regs_dump *regs,
				       const struct perf_event_attr *attr,
				       uint16_t e_machine, uint32_t e_flags)
{
	return (struct gpr_walk) {
		.regs		= regs,
		.attr		= attr,
		.e_machine	= e_machine,
		.e_flags	= e_flags,
		.vectors	= regs_dump__legacy_xmm(regs, attr, e_machine),
	};
}

static bool gpr_walk__next(struct gpr_walk *walk)
{
	while (walk->id < 64) {
		unsigned int id = walk->id++;

		if (!(walk->regs->mask >> id & 1))
			continue;
		walk->value = walk->regs->regs[walk->word++];
		if (walk->vectors >> id & 1)
			continue;
		sample_reg__scnprintf(walk->name, sizeof(walk->name), id, walk->attr,
				      walk->e_machine, walk->e_flags);
		return true;
	}
	return false;
}

/* ZMM[0], OPMASK[7] or FFR */
static int scnprintf_name(char *buf, size_t size, const struct simd_reg *reg)
{
	if (simd_reg__has_nr(reg))
		return scnprintf(buf, size, "%s[%u]", simd_reg__name(reg), reg->nr);
	return scnprintf(buf, size, "%s", simd_reg__name(reg));
}

static void dump_words(FILE *fp, const struct simd_reg *reg)
{
	char name[32];

	scnprintf_name(name, sizeof(name), reg);
	for (unsigned int i = 0; i < reg->qwords; i++) {
		unsigned long long word = reg->data[i];

		/* A predicate is a single word, more often than not. */
		if (reg->pred && reg->qwords == 1)
			fprintf(fp, ".... %-5s 0x%016llx\n", name, word);
		else
			fprintf(fp, ".... %s[%u] 0x%016llx\n", name, i, word);
	}
}

/* Each line of lanes is as many bits, the width of the narrowest vectors. */
#define BITS_PER_LINE	128

static void dump_lanes(FILE *fp, const struct simd_reg *reg, const struct simd_regs *simd,
		       const struct simd_view *view)
{
	const struct simd_lane_type *type = view->type;
	unsigned int nr = simd_reg__nr_lanes(reg, simd, type);
	unsigned int per_line = reg->pred ? 64 : BITS_PER_LINE / type->bits;
	char name[32], text[SIMD_LANE_TEXT_MAX];

	scnprintf_name(name, sizeof(name), reg);
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int lane = view->high_first ? nr - 1 - i : i;

		if (i % per_line == 0)
			fprintf(fp, "%s.... %s %s[%u]:", i ? "\n" : "", name, type->name, lane);
		simd_reg__lane_text(text, sizeof(text), reg, type, lane);
		fprintf(fp, " %s", text);
	}
	fputc('\n', fp);
}

static void dump_simd_header(FILE *fp, const struct simd_regs *simd)
{
	fprintf(fp, "... SIMD ABI nr_vectors %u vector_qwords %u nr_pred %u pred_qwords %u\n",
		simd->nr_vectors, simd->vector_qwords, simd->nr_pred, simd->pred_qwords);
}

/**
 * regs_dump__dump - print registers, a line for each word
 * @fp: where to
 * @side: "user" or "intr"
 * @regs: the registers
 * @attr: of their event
 * @e_machine: the architecture of the sample
 * @e_flags: its ELF flags
 * @view: lanes to show in place of words, or NULL
 */
void regs_dump__dump(FILE *fp, const char *side, const struct regs_dump *regs,
		     const struct perf_event_attr *attr, uint16_t e_machine, uint32_t e_flags,
		     const struct simd_view *view)
{
	struct gpr_walk walk;
	struct simd_reg reg;

	if (!regs->regs)
		return;

	fprintf(fp, "... %s regs: mask 0x%llx ABI %s%s\n", side, (unsigned long long)regs->mask,
		abi_name(regs->abi), regs->abi & PERF_SAMPLE_REGS_ABI_SIMD ? " SIMD" : "");

	walk = gpr_walk__begin(regs, attr, e_machine, e_flags);
	while (gpr_walk__next(&walk))
		fprintf(fp, ".... %-5s 0x%016llx\n", walk.name, walk.value);

	if (regs->abi & PERF_SAMPLE_REGS_ABI_SIMD)
		dump_simd_header(fp, &regs->simd);

	for (unsigned int i = 0; regs_dump__next_simd(regs, attr, e_machine, &i, &reg);) {
		if (view && view->type)
			dump_lanes(fp, &reg, &regs->simd, view);
		else
			dump_words(fp, &reg);
	}
}

/* The value of the register as one number, so the highest word comes first. */
static int fprintf_number(FILE *fp, const struct simd_reg *reg)
{
	int printed = fprintf(fp, "0x");

	for (unsigned int i = reg->qwords; i > 0; i--)
		printed += fprintf(fp, "%016llx", (unsigned long long)reg->data[i - 1]);
	return printed;
}

static int fprintf_lanes(FILE *fp, const struct simd_reg *reg, const struct simd_regs *simd,
			 const struct simd_view *view)
{
	const struct simd_lane_type *type = view->type;
	unsigned int nr = simd_reg__nr_lanes(reg, simd, type);
	char text[SIMD_LANE_TEXT_MAX];
	int printed = fprintf(fp, "%s{", type->name);

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int lane = view->high_first ? nr - 1 - i : i;

		simd_reg__lane_text(text, sizeof(text), reg, type, lane);
		printed += fprintf(fp, "%s%s", i ? "," : "", text);
	}
	return printed + fprintf(fp, "}");
}

static int fprintf_simd_reg(FILE *fp, const struct simd_reg *reg, const struct simd_regs *simd,
			    const struct simd_view *view)
{
	int printed = fprintf(fp, "%s", simd_reg__name(reg));

	if (simd_reg__has_nr(reg))
		printed += fprintf(fp, "%u", reg->nr);

	printed += fprintf(fp, ":");
	if (view && view->type)
		printed += fprintf_lanes(fp, reg, simd, view);
	else
		printed += fprintf_number(fp, reg);
	return printed + fprintf(fp, " ");
}

/**
 * regs_dump__fprintf - print registers on one line
 * @fp: where to
 * @regs: the registers
 * @attr: of their event
 * @e_machine: the architecture of the sample
 * @e_flags: its ELF flags
 * @view: lanes to show in place of numbers, or NULL
 */
int regs_dump__fprintf(FILE *fp, const struct regs_dump *regs,
		       const struct perf_event_attr *attr, uint16_t e_machine, uint32_t e_flags,
		       const struct simd_view *view)
{
	struct gpr_walk walk;
	struct simd_reg reg;
	int printed = 0;

	if (!regs->regs)
		return 0;

	walk = gpr_walk__begin(regs, attr, e_machine, e_flags);
	while (gpr_walk__next(&walk))
		printed += fprintf(fp, "%5s:0x%llx ", walk.name, walk.value);

	for (unsigned int i = 0; regs_dump__next_simd(regs, attr, e_machine, &i, &reg);)
		printed += fprintf_simd_reg(fp, &reg, &regs->simd, view);

	return printed;
}

/**
 * regs_dump__fprintf_json_abi - print the ABI of registers, as regs_dump__dump() does
 * @fp: where to
 * @regs: the registers
 */
void regs_dump__fprintf_json_abi(FILE *fp, const struct regs_dump *regs)
{
	fprintf(fp, "\"%s%s\"", abi_name(regs->abi),
		regs->abi & PERF_SAMPLE_REGS_ABI_SIMD ? " SIMD" : "");
}

/**
 * regs_dump__fprintf_json - print registers as a JSON object of numbers in hex
 * @fp: where to
 * @regs: the registers
 * @attr: of their event
 * @e_machine: the architecture of the sample
 * @e_flags: its ELF flags
 *
 * A half of an XMM register alone has the number of its word behind the name.
 */
void regs_dump__fprintf_json(FILE *fp, const struct regs_dump *regs,
			     const struct perf_event_attr *attr,
			     uint16_t e_machine, uint32_t e_flags)
{
	struct gpr_walk walk = gpr_walk__begin(regs, attr, e_machine, e_flags);
	const char *comma = "";
	struct simd_reg reg;

	fputc('{', fp);
	while (gpr_walk__next(&walk)) {
		fprintf(fp, "%s\"%s\": \"0x%llx\"", comma, walk.name, walk.value);
		comma = ", ";
	}

	for (unsigned int i = 0; regs_dump__next_simd(regs, attr, e_machine, &i, &reg);) {
		fprintf(fp, "%s\"%s", comma, simd_reg__name(&reg));
		comma = ", ";
		if (simd_reg__has_nr(&reg))
			fprintf(fp, "%u", reg.nr);
		fprintf(fp, "\": \"");
		fprintf_number(fp, &reg);
		fputc('"', fp);
	}
	fputc('}', fp);
}
