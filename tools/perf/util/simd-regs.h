/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SIMD_REGS_H
#define __PERF_SIMD_REGS_H

/*
 * Vector and predicate registers: the classes that an architecture has, and
 * the names of sampled registers. All of it is about an architecture, the one
 * of a file for instance, and not about the machine that perf runs on, except for
 * what a class needs of the CPU.
 */
#include <elf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evsel;
struct machine;
struct perf_event_attr;
struct regs_dump;
struct simd_regs;
struct thread;

/** struct simd_class - registers of one kind and width */
struct simd_class {
	/** @name: Upper case, without a number. */
	const char *name;
	/** @alias: A second name that the command line takes, or NULL. */
	const char *alias;
	/** @first: The mask bit of the class's first register. */
	u8 first;
	/** @nr: The number of registers at most. One register has no number in its name. */
	u8 nr;
	/** @qwords: The width in 64-bit words, 0 if it depends on the machine. */
	u8 qwords;
	/** @pred: In the predicate mask, else in the vector mask. */
	bool pred;
	/** @per_byte: A predicate with a bit for each byte of a vector, else for each lane. */
	bool per_byte;
	/** @cpu_bit: The bit of simd_regs__cpu() that says that a CPU has it. */
	u8 cpu_bit;
};

#define SIMD_CLASSES_MAX	4

/** struct simd_ext_gprs - registers of sample_regs_* that only the SIMD ABI has */
struct simd_ext_gprs {
	/** @names: What they are called, as a list. */
	const char *names;
	/** @feature: What a CPU lacks that has none of them. */
	const char *feature;
	/** @mask: Their bits. */
	u64 mask;
	/** @cpu_bit: The bit of simd_regs__cpu() that says that a CPU has them. */
	u8 cpu_bit;
	/** @frame_base: Functions can have their frame at an offset from one of them. */
	bool frame_base;
};

/** struct simd_arch - the registers of an architecture */
struct simd_arch {
	/** @classes: Vector classes come first, narrow before wide. */
	const struct simd_class *classes;
	/** @nr_classes: At most SIMD_CLASSES_MAX. */
	size_t nr_classes;
	/** @find_class: The class of the register with this bit and width, or NULL. */
	const struct simd_class *(*find_class)(const struct simd_regs *simd, unsigned int bit,
					       unsigned int qwords, bool pred);
	/** @ext_gprs: What the SIMD ABI adds to sample_regs_*. */
	const struct simd_ext_gprs *ext_gprs;
	/** @nr_ext_gprs: The size of @ext_gprs. */
	size_t nr_ext_gprs;
	/** @legacy_class: Its registers have words in sample_regs_* without the SIMD ABI. */
	const struct simd_class *legacy_class;
	/** @legacy_first: The bit of the first of these words. */
	u8 legacy_first;
	/** @cpu_bits: See simd_regs__cpu(). */
	u64 (*cpu_bits)(void);
};

const struct simd_arch *simd_arch(uint16_t e_machine);
const struct simd_class *simd_classes(uint16_t e_machine, size_t *nr);

/** struct simd_reg - one register in a sample */
struct simd_reg {
	/** @class: What it is called; NULL if perf doesn't know the architecture. */
	const struct simd_class *class;
	/** @nr: Its number in the class. */
	unsigned int nr;
	/** @qwords: Its width. */
	unsigned int qwords;
	/** @data: Its value, lowest word first. */
	const u64 *data;
	/** @pred: A predicate, else a vector. */
	bool pred;
};

bool simd_regs__next(const struct simd_regs *simd, uint16_t e_machine, unsigned int *idx,
		     struct simd_reg *reg);
bool regs_dump__next_simd(const struct regs_dump *regs, const struct perf_event_attr *attr,
			  uint16_t e_machine, unsigned int *idx, struct simd_reg *reg);
u64 regs_dump__legacy_xmm(const struct regs_dump *regs, const struct perf_event_attr *attr,
			  uint16_t e_machine);
bool regs_dump__has_simd(const struct regs_dump *regs, const struct perf_event_attr *attr,
			 uint16_t e_machine);
const char *simd_reg__name(const struct simd_reg *reg);
bool simd_reg__has_nr(const struct simd_reg *reg);

u64 simd_ext_gprs(uint16_t e_machine);
u64 simd_legacy_bits(uint16_t e_machine, u64 regs);
int sample_reg__scnprintf(char *buf, size_t size, int id, const struct perf_event_attr *attr,
			  uint16_t e_machine, uint32_t e_flags);
uint16_t evsel__regs_e_machine(struct evsel *evsel, struct thread *thread,
			       struct machine *machine, uint32_t *e_flags);

#endif /* __PERF_SIMD_REGS_H */
