// SPDX-License-Identifier: GPL-2.0
/*
 * The register list of "perf record -I" and "--user-regs". An item of the list
 * is, in upper or lower case,
 *
 *	a general purpose register	ax, r15, x0
 *	a class of SIMD registers	ymm, opmask, z, ffr
 *	one register of a class		ymm3, k1
 *	a range of either		ymm0-3, r8-11
 *
 * Registers of several classes of vectors are sampled with the width of the
 * widest: the narrow ones are its low bits. Next to predicates, V registers have the
 * width of Z: a sample shows no more lanes of a predicate than its vectors have.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "debug.h"
#include "perf_regs.h"
#include "reg-list.h"

/* The longest prefix and the most digits of a name that can be one. */
#define PREFIX_MAX	16
#define DIGITS_MAX	3

/* A name taken apart: "zmm0-7" is the prefix "zmm" with first 0 and last 7. */
struct reg_range {
	char prefix[PREFIX_MAX];
	unsigned int first;
	unsigned int last;
};

/**
 * reg_avail__init - find out what can be asked for
 * @avail: is filled in, but for the caps
 * @e_machine: the architecture of this machine
 * @intr: for the interrupt side, else for the user side
 */
void reg_avail__init(struct reg_avail *avail, uint16_t e_machine, bool intr)
{
	u64 mask = intr ? perf_intr_reg_mask(e_machine, /*abi=*/0) :
			  perf_user_reg_mask(e_machine, /*abi=*/0);

	memset(avail, 0, sizeof(*avail));
	avail->e_machine = e_machine;
	avail->intr = intr;
	avail->legacy_xmm = mask & simd_legacy_bits(e_machine, ~0ULL);
	avail->gprs = mask & ~avail->legacy_xmm;
}

static struct simd_regs_caps *reg_avail__caps(struct reg_avail *avail)
{
	if (!avail->probed) {
		simd_regs__probe(&avail->caps, avail->e_machine, avail->intr);
		avail->probed = true;
	}
	return &avail->caps;
}

/* The bits of sample_regs_* in a mask that have a name. */
static u64 find_name(const struct reg_avail *avail, u64 mask, u64 abi, const char *name)
{
	u64 found = 0;

	for (unsigned int id = 0; id < 64; id++) {
		if (!(mask >> id & 1))
			continue;
		if (!strcasecmp(perf_reg_name(id, avail->e_machine, 0, abi), name))
			found |= 1ULL << id;
	}
	return found;
}

static bool is_legacy(const struct reg_avail *avail, const struct simd_class *class)
{
	return class == simd_arch(avail->e_machine)->legacy_class;
}

/* What can be sampled of a class, without the SIMD fields if there is no other way. */
static u64 class_mask(struct reg_avail *avail, const struct simd_class *class, size_t idx,
		      bool *legacy)
{
	const u64 all = ((1ULL << class->nr) - 1) << class->first;
	const struct simd_regs_caps *caps = reg_avail__caps(avail);

	*legacy = caps->err && is_legacy(avail, class) &&
		  avail->legacy_xmm == simd_legacy_bits(avail->e_machine, all);
	return *legacy ? all : caps->class[idx].mask;
}

__printf(3, 4)
static int reg_list__fail(char *why, size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, size, fmt, args);
	va_end(args);
	return -1;
}

/*
 * Explain why the registers called @name cannot be sampled. Check the CPU first:
 * if it lacks them, another kernel would not help.
 */
static int reg_list__refuse(char *why, size_t size, const struct simd_regs_caps *caps,
			    u8 cpu_bit, int err, const char *name)
{
	struct utsname uts;

	if (!(caps->cpu >> cpu_bit & 1))
		return reg_list__fail(why, size, "this CPU has no %s", name);

	if (uname(&uts))
		uts.release[0] = '\0';

	switch (caps->err ?: err) {
	case E2BIG:
		return reg_list__fail(why, size,
				      "the kernel, %s, is too old to sample SIMD or extended registers",
				      uts.release);
	case EACCES:
	case EPERM:
		return reg_list__fail(why, size,
				      "no permission to open events: lower kernel.perf_event_paranoid or use CAP_PERFMON");
	case EOPNOTSUPP:
		if (caps->err)
			return reg_list__fail(why, size,
					      "the kernel, %s, has no SIMD or extended registers in samples here",
					      uts.release);
		return reg_list__fail(why, size,
				      "the CPU has %s, but neither cpu-clock nor cycles can sample it",
				      name);
	default:
		return reg_list__fail(why, size, "the kernel, %s, refuses to sample it: %s",
				      uts.release, strerror(caps->err ?: err));
	}
}

static int reg_list__refuse_ext_gprs(char *why, size_t size, const struct simd_regs_caps *caps,
				     const struct simd_ext_gprs *gprs)
{
	return reg_list__refuse(why, size, caps, gprs->cpu_bit, caps->ext_gprs_err, gprs->feature);
}

static int reg_list__refuse_class(char *why, size_t size, const struct reg_avail *avail,
				  const struct simd_class *class, size_t idx)
{
	const struct simd_regs_caps *caps = &avail->caps;

	/* Kernels without the SIMD fields have them at the interrupt, from the hardware. */
	if (caps->err == E2BIG && avail->intr && is_legacy(avail, class))
		return reg_list__fail(why, size, "%s needs adaptive PEBS on this kernel",
				      class->name);

	return reg_list__refuse(why, size, caps, class->cpu_bit, caps->class[idx].err, class->name);
}

static void list_names(struct reg_avail *avail, u64 mask, u64 abi, FILE *fp)
{
	const char *last = NULL;

	for (unsigned int id = 0; id < 64; id++) {
		const char *name;

		if (!(mask >> id & 1))
			continue;
		name = perf_reg_name(id, avail->e_machine, 0, abi);
		if (!last || strcmp(last, name))
			fprintf(fp, " %s", name);
		last = name;
	}
}

/**
 * reg_avail__fprintf - list the registers that can be asked for
 * @avail: the registers
 * @fp: where to
 */
void reg_avail__fprintf(struct reg_avail *avail, FILE *fp)
{
	size_t nr;
	const struct simd_class *classes = simd_classes(avail->e_machine, &nr);

	fprintf(fp, "available registers:");
	list_names(avail, avail->gprs, /*abi=*/0, fp);
	list_names(avail, reg_avail__caps(avail)->ext_gprs, PERF_SAMPLE_REGS_ABI_SIMD, fp);

	for (size_t i = 0; i < nr; i++) {
		bool legacy;
		u64 mask = class_mask(avail, &classes[i], i, &legacy) >> classes[i].first;

		if (!mask)
			continue;
		fprintf(fp, " %s", classes[i].name);
		if (classes[i].nr > 1)
			fprintf(fp, "0-%d", 63 - __builtin_clzll(mask));
	}
	fputc('\n', fp);
}

/**
 * reg_avail__fprintf_missing - list the registers that cannot be asked for, with a reason
 * @avail: the registers
 * @fp: where to
 */
void reg_avail__fprintf_missing(struct reg_avail *avail, FILE *fp)
{
	const struct simd_regs_caps *caps = reg_avail__caps(avail);
	const struct simd_arch *arch = simd_arch(avail->e_machine);
	char why[128];
	size_t nr;
	const struct simd_class *classes = simd_classes(avail->e_machine, &nr);

	for (size_t i = 0; arch && i < arch->nr_ext_gprs; i++) {
		const struct simd_ext_gprs *gprs = &arch->ext_gprs[i];

		if (!(gprs->mask & ~caps->ext_gprs))
			continue;
		reg_list__refuse_ext_gprs(why, sizeof(why), caps, gprs);
		fprintf(fp, "not available: %s: %s\n", gprs->names, why);
	}

	for (size_t i = 0; i < nr; i++) {
		bool legacy;

		if (class_mask(avail, &classes[i], i, &legacy))
			continue;
		reg_list__refuse_class(why, sizeof(why), avail, &classes[i], i);
		fprintf(fp, "not available: %s", classes[i].name);
		if (classes[i].nr > 1)
			fprintf(fp, "0-%d", classes[i].nr - 1);
		fprintf(fp, ": %s\n", why);
	}
}

static const struct simd_class *find_class(const struct reg_avail *avail, const char *name,
					   size_t *idx)
{
	size_t nr;
	const struct simd_class *classes = simd_classes(avail->e_machine, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!strcasecmp(classes[i].name, name) ||
		    (classes[i].alias && !strcasecmp(classes[i].alias, name))) {
			*idx = i;
			return &classes[i];
		}
	}
	return NULL;
}

/* The width of the vectors that predicates of no fixed width are for. */
static u16 scalable_qwords(const struct reg_avail *avail, const struct simd_regs_caps *caps)
{
	size_t nr;
	const struct simd_class *classes = simd_classes(avail->e_machine, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!classes[i].pred && !classes[i].qwords)
			return caps->class[i].qwords;
	}
	return 0;
}

/* Adds bits of a class, or all that there is of it if bits is 0. */
static int add_simd(struct reg_list *list, struct reg_avail *avail, const struct simd_class *class,
		    size_t idx, u64 bits, char *why, size_t size)
{
	bool legacy;
	u64 mask = class_mask(avail, class, idx, &legacy);
	const struct simd_regs_caps *caps = reg_avail__caps(avail);

	if (!mask)
		return reg_list__refuse_class(why, size, avail, class, idx);
	if (bits & ~mask)
		return reg_list__fail(why, size, "only %s0 to %s%d can be sampled on this machine",
				      class->name, class->name,
				      63 - __builtin_clzll(mask >> class->first));
	if (!bits)
		bits = mask;

	if (legacy) {
		list->regs |= simd_legacy_bits(avail->e_machine, bits);
	} else if (class->pred) {
		list->pred |= bits;
		list->pred_qwords = max(list->pred_qwords, caps->class[idx].qwords);
		if (!class->qwords)
			list->min_vec_qwords = scalable_qwords(avail, caps);
	} else {
		list->vec |= bits;
		list->vec_qwords = max(list->vec_qwords, caps->class[idx].qwords);
	}
	return 0;
}

/* Adds a register of sample_regs_* by its full name. */
static int add_gpr(struct reg_list *list, struct reg_avail *avail, const char *name,
		   char *why, size_t size)
{
	u64 bits = find_name(avail, avail->gprs, /*abi=*/0, name);
	const struct simd_arch *arch = simd_arch(avail->e_machine);

	if (bits) {
		list->regs |= bits;
		return 0;
	}

	for (size_t i = 0; arch && i < arch->nr_ext_gprs; i++) {
		const struct simd_ext_gprs *gprs = &arch->ext_gprs[i];
		const struct simd_regs_caps *caps;

		bits = find_name(avail, gprs->mask, PERF_SAMPLE_REGS_ABI_SIMD, name);
		if (!bits)
			continue;

		caps = reg_avail__caps(avail);
		if (bits & ~caps->ext_gprs)
			return reg_list__refuse_ext_gprs(why, size, caps, gprs);
		list->regs |= bits;
		list->ext_gprs = true;
		return 0;
	}
	return reg_list__fail(why, size, "unknown register");
}

static int add_numbered(struct reg_list *list, struct reg_avail *avail, const char *prefix,
			unsigned int nr, char *why, size_t size)
{
	const struct simd_class *class;
	char name[PREFIX_MAX + DIGITS_MAX + 1];
	size_t idx;

	class = find_class(avail, prefix, &idx);
	if (class && class->nr > 1) {
		if (nr >= class->nr)
			return reg_list__fail(why, size, "the last register is %s%d",
					      class->name, class->nr - 1);
		return add_simd(list, avail, class, idx, 1ULL << (class->first + nr), why, size);
	}

	scnprintf(name, sizeof(name), "%s%u", prefix, nr);
	return add_gpr(list, avail, name, why, size);
}

/* Takes a number off the front of a string. Leading zeros are not part of a name. */
static const char *parse_nr(const char *str, unsigned int *nr)
{
	size_t len = strspn(str, "0123456789");

	if (!len || len > DIGITS_MAX || (len > 1 && str[0] == '0'))
		return NULL;
	*nr = strtoul(str, NULL, 10);
	return str + len;
}

/* zmm0-3, or zmm0-zmm3 */
static bool parse_range(const char *item, struct reg_range *range)
{
	size_t len = strcspn(item, "0123456789");

	if (!len || len >= sizeof(range->prefix))
		return false;
	memcpy(range->prefix, item, len);
	range->prefix[len] = '\0';

	item = parse_nr(item + len, &range->first);
	if (!item)
		return false;
	range->last = range->first;

	if (*item == '-') {
		item++;
		if (!strncasecmp(item, range->prefix, len))
			item += len;
		item = parse_nr(item, &range->last);
	}
	return item && *item == '\0';
}

/**
 * reg_list__add - add an item to a list of registers
 * @list: the list
 * @avail: what there is to choose from
 * @item: a register, a class or a range
 * @why: is set to what is wrong
 * @why_size: of @why
 *
 * Returns -1 if there is something wrong with the item.
 */
int reg_list__add(struct reg_list *list, struct reg_avail *avail, const char *item,
		  char *why, size_t why_size)
{
	const struct simd_class *class;
	struct reg_range range;
	size_t idx;

	class = find_class(avail, item, &idx);
	if (class)
		return add_simd(list, avail, class, idx, 0, why, why_size);

	if (!parse_range(item, &range))
		return add_gpr(list, avail, item, why, why_size);

	if (range.first > range.last)
		return reg_list__fail(why, why_size, "the range is backwards");

	for (unsigned int nr = range.first; nr <= range.last; nr++) {
		if (add_numbered(list, avail, range.prefix, nr, why, why_size))
			return -1;
	}
	return 0;
}

/*
 * Vectors are of the class with their width, predicates of any that they are in. The
 * user gets more registers than were asked for, and is told so.
 */
static void find_whole_classes(struct reg_list *list, const struct reg_avail *avail,
			       const struct simd_regs_caps *caps)
{
	size_t nr;
	const struct simd_class *classes = simd_classes(avail->e_machine, &nr);

	for (size_t i = 0; i < nr; i++) {
		u64 mask = caps->class[i].mask, some;

		if (!classes[i].pred && list->vec && caps->class[i].qwords == list->vec_qwords) {
			list->whole_vec = mask;
			some = list->vec & mask;
		} else if (classes[i].pred && list->pred & mask) {
			list->whole_pred |= mask;
			some = list->pred & mask;
		} else {
			continue;
		}
		if (some != mask)
			pr_warning("WARNING: This kernel samples %s registers only as a whole class; recording all of them.\n",
				   classes[i].name);
	}
}

/**
 * reg_list__finish - make a complete list one that the kernel takes
 * @list: the list
 * @avail: what there was to choose from
 */
void reg_list__finish(struct reg_list *list, struct reg_avail *avail)
{
	const struct simd_regs_caps *caps;

	if (!list->vec && !list->pred)
		return;

	caps = reg_avail__caps(avail);
	if (!list->regs && caps->needs_gpr)
		list->regs |= 1ULL << perf_arch_reg_ip(avail->e_machine);
	if (caps->whole_classes)
		find_whole_classes(list, avail, caps);
}
