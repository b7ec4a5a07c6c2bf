// SPDX-License-Identifier: GPL-2.0
/*
 * The register lists of "perf record -I" and "--user-regs", on machines that are
 * made up here: what the names become, and what is said of those that can't be
 * had.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "record.h"
#include "perf-regs-arch/simd_regs.h"
#include "reg-list.h"
#include "simd-regs-attr.h"
#include "tests.h"

#define X86_ALL		(BIT(CPU_BIT_X86_SSE) | BIT(CPU_BIT_X86_AVX) | BIT(CPU_BIT_X86_OPMASK) | \
			 BIT(CPU_BIT_X86_ZMM) | BIT(CPU_BIT_X86_CET_USER) | BIT(CPU_BIT_X86_APX))
#define EXT_GPRS	(0x1ffffULL << 24)	/* R16-R31 and SSP */
#define AVX512_CLASSES	{				\
	{ .mask = 0xffff, .qwords = 2 },		\
	{ .mask = 0xffff, .qwords = 4 },		\
	{ .mask = 0xffffffff, .qwords = 8 },		\
	{ .mask = 0xff, .qwords = 1 },			\
}

/* As on x86-64 with AVX-512 and APX. */
static const struct reg_avail avx512 = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.caps = {
		.cpu = X86_ALL,
		.ext_gprs = EXT_GPRS,
		.class = AVX512_CLASSES,
	},
};

/* The same with a kernel that takes just whole classes. */
static const struct reg_avail whole = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.caps = {
		.cpu = X86_ALL,
		.whole_classes = true,
		.ext_gprs = EXT_GPRS,
		.class = AVX512_CLASSES,
	},
};

/* The same with a PMU that has XMM registers and no others. */
static const struct reg_avail just_xmm = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.caps = {
		.cpu = X86_ALL,
		.ext_gprs_err = EOPNOTSUPP,
		.class = {
			{ .mask = 0xffff, .qwords = 2 },
			{ .err = EOPNOTSUPP },
			{ .err = EOPNOTSUPP },
			{ .err = EOPNOTSUPP },
		},
	},
};

/* With APX and without shadow stacks. */
static const struct reg_avail no_cet = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.caps = {
		.cpu = X86_ALL & ~BIT(CPU_BIT_X86_CET_USER),
		.ext_gprs = EXT_GPRS & ~(1ULL << 40),
		.ext_gprs_err = EOPNOTSUPP,
		.class = AVX512_CLASSES,
	},
};

/* With AVX2, on a kernel that wants a general purpose register too. */
static const struct reg_avail avx2 = {
	.e_machine = EM_X86_64, .probed = true, .gprs = 0xff0fff,
	.caps = {
		.cpu = 1 << CPU_BIT_X86_SSE | 1 << CPU_BIT_X86_AVX,
		.needs_gpr = true,
		.ext_gprs_err = EOPNOTSUPP,
		.class = {
			{ .mask = 0xffff, .qwords = 2 },
			{ .mask = 0xffff, .qwords = 4 },
			{ .err = EOPNOTSUPP },
			{ .err = EOPNOTSUPP },
		},
	},
};

/* An old kernel, and one that has XMM registers from PEBS at least. */
static const struct reg_avail old = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.caps = { .cpu = X86_ALL, .err = E2BIG },
};

/* PEBS has none for the user side. */
static const struct reg_avail old_user = {
	.e_machine = EM_X86_64, .probed = true, .gprs = 0xff0fff,
	.caps = { .cpu = X86_ALL, .err = E2BIG },
};

/* It would not help to have a new one here. */
static const struct reg_avail old_both = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.caps = { .cpu = 1 << CPU_BIT_X86_SSE, .err = E2BIG },
};

static const struct reg_avail old_pebs = {
	.e_machine = EM_X86_64, .intr = true, .probed = true, .gprs = 0xff0fff,
	.legacy_xmm = 0xffffffff00000000, .caps = { .cpu = X86_ALL, .err = E2BIG },
};

/* perf_event_paranoid in the way. */
static const struct reg_avail forbidden = {
	.e_machine = EM_X86_64, .probed = true, .gprs = 0xff0fff,
	.caps = { .cpu = X86_ALL, .err = EACCES },
};

/* A 32-bit x86 kernel. */
static const struct reg_avail i386 = {
	.e_machine = EM_386, .probed = true, .gprs = 0xffff,
	.caps = {
		.cpu = X86_ALL,
		.ext_gprs_err = EINVAL,
		.class = {
			{ .mask = 0xff, .qwords = 2 },
			{ .mask = 0xff, .qwords = 4 },
			{ .err = EINVAL },
			{ .err = EINVAL },
		},
	},
};

/* arm64 with SVE of 512 bits. */
static const struct reg_avail sve = {
	.e_machine = EM_AARCH64, .probed = true, .gprs = 0x1ffffffff,
	.caps = {
		.cpu = 1 << CPU_BIT_ARM64_ASIMD | 1 << CPU_BIT_ARM64_SVE,
		.class = {
			{ .mask = 0xffffffff, .qwords = 2 },
			{ .mask = 0xffffffff, .qwords = 8 },
			{ .mask = 0xffff, .qwords = 1 },
			{ .mask = 0x10000, .qwords = 1 },
		},
	},
};

/* And without. */
static const struct reg_avail neon = {
	.e_machine = EM_AARCH64, .probed = true, .gprs = 0x1ffffffff,
	.caps = {
		.cpu = 1 << CPU_BIT_ARM64_ASIMD,
		.class = {
			{ .mask = 0xffffffff, .qwords = 2 },
			{ .err = EOPNOTSUPP },
			{ .err = EOPNOTSUPP },
			{ .err = EOPNOTSUPP },
		},
	},
};

static const struct reg_avail no_simd_arch = {
	.e_machine = EM_S390, .probed = true, .gprs = 0xffff, .caps = { .err = EOPNOTSUPP },
};

struct list_case {
	const struct reg_avail *avail;
	const char *str;
	struct reg_list expect;
	/* A part of the message, for a list that is refused. */
	const char *why;
};

static const struct list_case list_cases[] = {
	/* General purpose registers. */
	{ &avx512, "ax", .expect = { .regs = 1 } },
	{ &avx512, "AX,bx,Ip", .expect = { .regs = 0x103 } },
	{ &avx512, "r8-11", .expect = { .regs = 0xf0000 } },
	{ &avx512, "r15-16", .expect = { .regs = 3 << 23, .ext_gprs = true } },
	{ &avx512, "r16-31,ssp", .expect = { .regs = EXT_GPRS, .ext_gprs = true } },
	{ &avx512, "SSP", .expect = { .regs = 1ULL << 40, .ext_gprs = true } },
	{ &sve, "x0-2,lr", .expect = { .regs = 7 | 1 << 30 } },
	{ &old, "r8-15,ax", .expect = { .regs = 0xff0001 } },
	/* Whole classes. */
	{ &avx512, "xmm", .expect = { .vec = 0xffff, .vec_qwords = 2 } },
	{ &avx512, "YMM", .expect = { .vec = 0xffff, .vec_qwords = 4 } },
	{ &avx512, "zmm", .expect = { .vec = 0xffffffff, .vec_qwords = 8 } },
	{ &avx512, "opmask", .expect = { .pred = 0xff, .pred_qwords = 1 } },
	{ &avx512, "k", .expect = { .pred = 0xff, .pred_qwords = 1 } },
	{ &i386, "ymm", .expect = { .vec = 0xff, .vec_qwords = 4 } },
	{ &sve, "v", .expect = { .vec = 0xffffffff, .vec_qwords = 2 } },
	{ &sve, "z", .expect = { .vec = 0xffffffff, .vec_qwords = 8 } },
	{ &sve, "p,ffr", .expect = { .pred = 0x1ffff, .pred_qwords = 1, .min_vec_qwords = 8 } },
	/* Parts of them. */
	{ &avx512, "zmm0", .expect = { .vec = 1, .vec_qwords = 8 } },
	{ &avx512, "zmm0-7", .expect = { .vec = 0xff, .vec_qwords = 8 } },
	{ &avx512, "zmm0-ZMM7", .expect = { .vec = 0xff, .vec_qwords = 8 } },
	{ &avx512, "r8-r11", .expect = { .regs = 0xf0000 } },
	{ &avx512, "zmm31", .expect = { .vec = 1U << 31, .vec_qwords = 8 } },
	{ &avx512, "Zmm5-5", .expect = { .vec = 1 << 5, .vec_qwords = 8 } },
	{ &avx512, "k1,opmask3-4", .expect = { .pred = 0x1a, .pred_qwords = 1 } },
	{ &sve, "z0-3,p15,FFR", .expect = {
		.vec = 0xf, .vec_qwords = 8, .pred = 0x18000, .pred_qwords = 1, .min_vec_qwords = 8,
	} },
	{ &sve, "v0,p1", .expect = {
		.vec = 1, .vec_qwords = 2, .pred = 2, .pred_qwords = 1, .min_vec_qwords = 8,
	} },
	/* The widest wins. */
	{ &avx512, "xmm0,ymm1", .expect = { .vec = 3, .vec_qwords = 4 } },
	{ &avx512, "ymm1,xmm0", .expect = { .vec = 3, .vec_qwords = 4 } },
	{ &avx512, "xmm,zmm16", .expect = { .vec = 0x1ffff, .vec_qwords = 8 } },
	{ &sve, "v0,z1", .expect = { .vec = 3, .vec_qwords = 8 } },
	/* All sorts together. */
	{ &avx512, "ip,zmm1,k2,r16", .expect = {
		.regs = 1 << 8 | 1 << 24, .ext_gprs = true,
		.vec = 2, .vec_qwords = 8, .pred = 4, .pred_qwords = 1,
	} },
	/* A kernel that wants a general purpose register gets IP. */
	{ &avx2, "ymm0", .expect = { .regs = 1 << 8, .vec = 1, .vec_qwords = 4 } },
	{ &avx2, "ymm0,ax", .expect = { .regs = 1, .vec = 1, .vec_qwords = 4 } },
	{ &avx2, "ax", .expect = { .regs = 1 } },
	/* XMM without the SIMD fields, where there is nothing better. */
	{ &old_pebs, "xmm0", .expect = { .regs = 3ULL << 32 } },
	{ &old_pebs, "xmm1-2,ax", .expect = { .regs = 0xfULL << 34 | 1 } },
	{ &old_pebs, "xmm", .expect = { .regs = 0xffffffff00000000 } },
	/* Names that are none. */
	{ &avx512, "foo", .why = "unknown register" },
	{ &avx512, "", .why = "unknown register" },
	{ &avx512, "ax,,bx", .why = "unknown register" },
	{ &avx512, "ax,", .why = "unknown register" },
	{ &avx512, "z0", .why = "unknown register" },
	{ &avx512, "zmm00", .why = "unknown register" },
	{ &avx512, "zmm-1", .why = "unknown register" },
	{ &avx512, "zmm1-", .why = "unknown register" },
	{ &avx512, "ymm0-zmm3", .why = "unknown register" },
	{ &avx512, "zmm1-zmm", .why = "unknown register" },
	{ &avx512, "zmm1-2-3", .why = "unknown register" },
	{ &avx512, "zmm1x", .why = "unknown register" },
	{ &avx512, "zmm1 ", .why = "unknown register" },
	{ &avx512, "7", .why = "unknown register" },
	{ &avx512, "0-7", .why = "unknown register" },
	{ &avx512, "r32", .why = "unknown register" },
	{ &avx512, "r0", .why = "unknown register" },
	{ &avx512, "zmm99999999999999999999", .why = "unknown register" },
	{ &avx512, "averyveryverylongname0-7", .why = "unknown register" },
	{ &sve, "zmm0", .why = "unknown register" },
	{ &sve, "ffr0", .why = "unknown register" },
	{ &sve, "r16", .why = "unknown register" },
	{ &no_simd_arch, "zmm0", .why = "unknown register" },
	/* Numbers that are none. */
	{ &avx512, "zmm32", .why = "the last register is ZMM31" },
	{ &avx512, "xmm16", .why = "the last register is XMM15" },
	{ &avx512, "k8", .why = "the last register is OPMASK7" },
	{ &avx512, "zmm30-32", .why = "the last register is ZMM31" },
	{ &avx512, "zmm7-0", .why = "backwards" },
	{ &i386, "xmm8", .why = "only XMM0 to XMM7 can be sampled on this machine" },
	{ &sve, "p16", .why = "the last register is P15" },
	/* A kernel that takes just whole classes. */
	{ &whole, "zmm0", .expect = { .vec = 1, .vec_qwords = 8, .whole_vec = 0xffffffff } },
	{ &whole, "ymm3-4", .expect = { .vec = 0x18, .vec_qwords = 4, .whole_vec = 0xffff } },
	{ &whole, "ymm3,zmm4", .expect = {
		.vec = 0x18, .vec_qwords = 8, .whole_vec = 0xffffffff,
	} },
	{ &whole, "k1", .expect = { .pred = 2, .pred_qwords = 1, .whole_pred = 0xff } },
	{ &whole, "ax,r16", .expect = { .regs = 1 << 24 | 1, .ext_gprs = true } },
	/* Registers that aren't there: no CPU has them, then no kernel, then no PMU. */
	{ &avx2, "zmm0", .why = "this CPU has no ZMM" },
	{ &avx2, "k1", .why = "this CPU has no OPMASK" },
	{ &avx2, "r16", .why = "this CPU has no R16 to R31" },
	{ &avx2, "ssp", .why = "this CPU has no shadow stack" },
	{ &no_cet, "ssp", .why = "this CPU has no shadow stack" },
	{ &old_both, "ymm", .why = "this CPU has no YMM" },
	{ &neon, "z0", .why = "this CPU has no Z" },
	{ &neon, "ffr", .why = "this CPU has no FFR" },
	{ &old, "ymm", .why = "is too old to sample SIMD" },
	{ &old, "xmm0", .why = "XMM needs adaptive PEBS on this kernel" },
	{ &old_user, "xmm0", .why = "is too old to sample SIMD" },
	{ &old, "ssp", .why = "is too old to sample SIMD" },
	{ &old_pebs, "ymm0", .why = "is too old to sample SIMD" },
	{ &forbidden, "ymm", .why = "perf_event_paranoid" },
	{ &just_xmm, "ymm0", .why = "the CPU has YMM, but neither cpu-clock nor cycles" },
	{ &just_xmm, "r31", .why = "the CPU has R16 to R31, but neither" },
	{ &i386, "zmm", .why = "refuses to sample it" },
};

static int parse_list(const struct list_case *c, struct reg_list *list, char *why, size_t size)
{
	struct reg_avail avail = *c->avail;
	char *copy = strdup(c->str), *str = copy, *item;
	int err = copy ? 0 : -1;

	while (!err && (item = strsep(&str, ",")))
		err = reg_list__add(list, &avail, item, why, size);
	if (!err)
		reg_list__finish(list, &avail);
	free(copy);
	return err;
}

static bool same_list(const struct reg_list *a, const struct reg_list *b)
{
	return a->regs == b->regs && a->ext_gprs == b->ext_gprs &&
	       a->vec == b->vec && a->vec_qwords == b->vec_qwords &&
	       a->pred == b->pred && a->pred_qwords == b->pred_qwords &&
	       a->min_vec_qwords == b->min_vec_qwords &&
	       a->whole_vec == b->whole_vec && a->whole_pred == b->whole_pred;
}

static int test__lists(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	int ret = TEST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(list_cases); i++) {
		const struct list_case *c = &list_cases[i];
		struct reg_list list = {};
		char why[128] = "";
		int err = parse_list(c, &list, why, sizeof(why));

		if (c->why ? err && strstr(why, c->why) : !err && same_list(&list, &c->expect))
			continue;

		pr_debug("FAILED list \"%s\" of case %zu: %s\n", c->str, i, why);
		ret = TEST_FAIL;
	}
	return ret;
}

#define X86_NAMES	"AX BX CX DX SI DI BP SP IP FLAGS CS SS "
#define X86_64_NAMES	X86_NAMES "R8 R9 R10 R11 R12 R13 R14 R15 "
#define APX_NAMES	"R16 R17 R18 R19 R20 R21 R22 R23 R24 R25 R26 R27 R28 R29 R30 R31 "
#define ARM64_0_15	"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 "
#define ARM64_16_29	"x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 "

static const struct {
	const struct reg_avail *avail;
	const char *expect;
} names_cases[] = {
	{ &avx512, X86_64_NAMES APX_NAMES "SSP XMM0-15 YMM0-15 ZMM0-31 OPMASK0-7" },
	{ &avx2, X86_64_NAMES "XMM0-15 YMM0-15" },
	{ &i386, X86_NAMES "DS ES FS GS XMM0-7 YMM0-7" },
	{ &old, X86_64_NAMES },
	{ &old_pebs, X86_64_NAMES "XMM0-15" },
	{ &sve, ARM64_0_15 ARM64_16_29 "lr sp pc V0-31 Z0-31 P0-15 FFR" },
};

static int test__names(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	int ret = TEST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(names_cases); i++) {
		struct reg_avail avail = *names_cases[i].avail;
		char expect[512], *text = NULL;
		size_t size;
		FILE *fp;

		scnprintf(expect, sizeof(expect), "available registers: %s",
			  names_cases[i].expect);
		fp = open_memstream(&text, &size);
		TEST_ASSERT_VAL("stream", fp);
		reg_avail__fprintf(&avail, fp);
		fclose(fp);
		if (strcmp(strim(text), strim(expect))) {
			pr_debug("FAILED case %zu: got\n%s\ninstead of\n%s\n", i, text, expect);
			ret = TEST_FAIL;
		}
		free(text);
	}
	return ret;
}

/* Both sides end up in one attr, with one width. */
static int test__sides(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct reg_list intr = { .regs = 1, .vec = 0xf, .vec_qwords = 4 };
	const struct reg_list user = {
		.regs = 2, .vec = 0x10, .vec_qwords = 8, .pred = 3, .pred_qwords = 1,
	};
	const struct reg_list gprs = { .regs = 4 };
	const struct reg_list ext = { .regs = 1 << 24, .ext_gprs = true };
	/* V registers, next to predicates of vectors of 1024 bits */
	const struct reg_list v = { .vec = 1, .vec_qwords = 2 };
	const struct reg_list p = { .pred = 2, .pred_qwords = 2, .min_vec_qwords = 16 };
	struct record_opts opts = {};

	TEST_ASSERT_VAL("nothing yet", !record_opts__has_regs(&opts, /*intr=*/true));
	record_opts__add_regs(&opts, &intr, /*intr=*/true);
	TEST_ASSERT_VAL("intr", record_opts__has_regs(&opts, /*intr=*/true));
	TEST_ASSERT_VAL("not user", !record_opts__has_regs(&opts, /*intr=*/false));
	record_opts__add_regs(&opts, &user, /*intr=*/false);
	TEST_ASSERT_VAL("user", record_opts__has_regs(&opts, /*intr=*/false));

	TEST_ASSERT_VAL("enabled", opts.simd_regs.enabled);
	TEST_ASSERT_VAL("regs", opts.sample_intr_regs == 1 && opts.sample_user_regs == 2);
	TEST_ASSERT_VAL("vec", opts.simd_regs.vec_intr == 0xf && opts.simd_regs.vec_user == 0x10);
	TEST_ASSERT_VAL("widest", opts.simd_regs.vec_qwords == 8);
	TEST_ASSERT_VAL("pred", opts.simd_regs.pred_intr == 0 && opts.simd_regs.pred_user == 3);
	TEST_ASSERT_VAL("pred width", opts.simd_regs.pred_qwords == 1);

	memset(&opts, 0, sizeof(opts));
	record_opts__add_regs(&opts, &gprs, /*intr=*/true);
	TEST_ASSERT_VAL("GPRs alone", !opts.simd_regs.enabled && opts.sample_intr_regs == 4);

	record_opts__add_regs(&opts, &ext, /*intr=*/false);
	TEST_ASSERT_VAL("extended GPRs", opts.simd_regs.enabled && !opts.simd_regs.vec_qwords);

	for (int v_side = 0; v_side <= 1; v_side++) {
		memset(&opts, 0, sizeof(opts));
		record_opts__add_regs(&opts, v_side ? &v : &p, /*intr=*/true);
		record_opts__add_regs(&opts, v_side ? &p : &v, /*intr=*/false);
		TEST_ASSERT_VAL("vectors of predicates", opts.simd_regs.vec_qwords == 16);
	}

	memset(&opts, 0, sizeof(opts));
	record_opts__add_regs(&opts, &p, /*intr=*/true);
	TEST_ASSERT_VAL("predicates alone", !opts.simd_regs.vec_qwords);
	return TEST_OK;
}

/*
 * A kernel that takes just whole classes gets those, of the width that both sides
 * have in the end.
 */
static int test__whole_classes(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct reg_list intr = {
		.regs = 1, .vec = 0xc, .vec_qwords = 8, .whole_vec = 0xffffffff,
		.pred = 2, .pred_qwords = 1, .whole_pred = 0xff,
	};
	const struct reg_list user = {
		.regs = 2, .vec = 1, .vec_qwords = 4, .whole_vec = 0xffff,
	};
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct record_opts opts = {};
	struct evsel *evsel;

	record_opts__add_regs(&opts, &intr, /*intr=*/true);
	record_opts__add_regs(&opts, &user, /*intr=*/false);
	evsel = evsel__new(&attr);
	TEST_ASSERT_VAL("evsel", evsel);
	evsel__config_sample_regs(evsel, &opts);
	attr = evsel->core.attr;

	TEST_ASSERT_VAL("width", attr.sample_simd_vec_reg_qwords == 8);
	TEST_ASSERT_VAL("vec, intr", attr.sample_simd_vec_reg_intr == 0xffffffff);
	TEST_ASSERT_VAL("vec, user", attr.sample_simd_vec_reg_user == 0xffffffff);
	TEST_ASSERT_VAL("pred, intr", attr.sample_simd_pred_reg_intr == 0xff);
	TEST_ASSERT_VAL("pred, user", !attr.sample_simd_pred_reg_user);
	evsel__put(evsel);
	return TEST_OK;
}

static struct test_case tests__reg_list[] = {
	TEST_CASE("Lists of registers", lists),
	TEST_CASE("Names of available registers", names),
	TEST_CASE("Both sides in one attr", sides),
	TEST_CASE("Whole classes in an attr", whole_classes),
	{ .name = NULL, }
};

struct test_suite suite__reg_list = {
	.desc = "Register lists of perf record",
	.test_cases = tests__reg_list,
};
