// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers as text: the fields of an attr, and the registers of samples of
 * several architectures, whichever this machine has.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "debug.h"
#include "event.h"
#include "evsel_fprintf.h"
#include "sample.h"
#include "sample-regs-print.h"
#include "simd-regs-lanes.h"
#include "tests.h"

#define ABI_64		PERF_SAMPLE_REGS_ABI_64
#define ABI_SIMD	PERF_SAMPLE_REGS_ABI_SIMD

static int print_field(FILE *fp, const char *name, const char *val, void *priv __maybe_unused)
{
	return fprintf(fp, "%s=%s\n", name, val);
}

static int test__attr_print(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	static const char * const expect[] = {
		"sample_simd_regs_enabled=1\n",
		"sample_simd_vec_reg_qwords=4\n",
		"sample_simd_vec_reg_user=0x8005\n",
		"sample_simd_pred_reg_qwords=1\n",
		"sample_simd_pred_reg_user=0x82\n",
	};
	struct perf_event_attr attr = {
		.size				= sizeof(attr),
		.sample_type			= PERF_SAMPLE_REGS_USER,
		.sample_simd_regs_enabled	= 1,
		.sample_simd_vec_reg_qwords	= 4,
		.sample_simd_vec_reg_user	= 0x8005,
		.sample_simd_pred_reg_qwords	= 1,
		.sample_simd_pred_reg_user	= 0x82,
	};
	char *text = NULL;
	size_t size;
	FILE *fp;

	fp = open_memstream(&text, &size);
	TEST_ASSERT_VAL("stream", fp);
	perf_event_attr__fprintf(fp, &attr, print_field, NULL);
	fclose(fp);
	for (size_t i = 0; i < ARRAY_SIZE(expect); i++)
		TEST_ASSERT_VAL(expect[i], strstr(text, expect[i]));
	TEST_ASSERT_VAL("not set", !strstr(text, "sample_simd_vec_reg_intr"));
	free(text);

	fp = open_memstream(&text, &size);
	TEST_ASSERT_VAL("stream", fp);
	attr.size = PERF_ATTR_SIZE_VER9;
	perf_event_attr__fprintf(fp, &attr, print_field, NULL);
	fclose(fp);
	TEST_ASSERT_VAL("past the size", !strstr(text, "simd"));
	free(text);
	return TEST_OK;
}

/* A sample as text. */
struct text_case {
	const char *name;
	uint16_t e_machine;
	u64 mask;
	bool enabled;
	u64 abi;
	struct simd_regs simd;
	/* As for --simd-type; not set for hex. */
	const char *view;
	/* Of the vector and predicate registers; not set for 1, 2, 3 and so on. */
	u64 data[8];
	const char *dump;
	const char *line;
};

static const struct text_case text_cases[] = {
	{
		.name = "XMM words as hex lanes", .e_machine = EM_X86_64, .mask = 3ULL << 38,
		.abi = ABI_64, .view = "x32",
		.dump =
			"... intr regs: mask 0xc000000000 ABI 64-bit\n"
			".... XMM[3] x32[0]: 0x00001000 0x00000000 0x00001001 0x00000000\n",
		.line = "XMM3:x32{0x00001000,0x00000000,0x00001001,0x00000000}\n",
	},
	{
		.name = "YMM and OPMASK", .e_machine = EM_X86_64, .mask = 1 << 8, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = {
			.vec_mask = 0x8004, .nr_vectors = 2, .vector_qwords = 4,
			.pred_mask = 0x82, .nr_pred = 2, .pred_qwords = 1,
		},
		.dump =
			"... intr regs: mask 0x100 ABI 64-bit SIMD\n"
			".... IP    0x0000000000001000\n"
			"... SIMD ABI nr_vectors 2 vector_qwords 4 nr_pred 2 pred_qwords 1\n"
			".... YMM[2][0] 0x0000000000000001\n"
			".... YMM[2][1] 0x0000000000000002\n"
			".... YMM[2][2] 0x0000000000000003\n"
			".... YMM[2][3] 0x0000000000000004\n"
			".... YMM[15][0] 0x0000000000000005\n"
			".... YMM[15][1] 0x0000000000000006\n"
			".... YMM[15][2] 0x0000000000000007\n"
			".... YMM[15][3] 0x0000000000000008\n"
			".... OPMASK[1] 0x0000000000000009\n"
			".... OPMASK[7] 0x000000000000000a\n",
		.line =
			"IP:0x1000\n"
			"YMM2:0x0000000000000004000000000000000300000000000000020000000000000001\n"
			"YMM15:0x0000000000000008000000000000000700000000000000060000000000000005\n"
			"OPMASK1:0x0000000000000009\n"
			"OPMASK7:0x000000000000000a\n",
	},
	{
		.name = "R16, R31, SSP", .e_machine = EM_X86_64, .enabled = true, .abi = ABI_64,
		.mask = 1ULL << 24 | 1ULL << 39 | 1ULL << 40,
		.dump =
			"... intr regs: mask 0x18001000000 ABI 64-bit\n"
			".... R16   0x0000000000001000\n"
			".... R31   0x0000000000001001\n"
			".... SSP   0x0000000000001002\n",
		.line =
			"R16:0x1000\n"
			"R31:0x1001\n"
			"SSP:0x1002\n",
	},
	{
		.name = "the same bits without the SIMD fields", .e_machine = EM_X86_64,
		.mask = 3ULL << 38, .abi = ABI_64,
		.dump =
			"... intr regs: mask 0xc000000000 ABI 64-bit\n"
			".... XMM[3][0] 0x0000000000001000\n"
			".... XMM[3][1] 0x0000000000001001\n",
		.line =
			"XMM3:0x00000000000010010000000000001000\n",
	},
	{
		.name = "a 32-bit task", .e_machine = EM_386, .enabled = true,
		.abi = PERF_SAMPLE_REGS_ABI_32 | ABI_SIMD,
		.simd = { .vec_mask = 0xff, .nr_vectors = 1, .vector_qwords = 2 },
		.dump =
			"... intr regs: mask 0x0 ABI 32-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 2 nr_pred 0 pred_qwords 0\n"
			".... XMM[0][0] 0x0000000000000001\n"
			".... XMM[0][1] 0x0000000000000002\n",
		.line =
			"XMM0:0x00000000000000020000000000000001\n",
	},
	{
		.name = "none to trust", .e_machine = EM_X86_64, .mask = 1, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = { .vec_mask = 0xffffffff, .vector_qwords = 8 },
		.dump =
			"... intr regs: mask 0x1 ABI 64-bit SIMD\n"
			".... AX    0x0000000000001000\n"
			"... SIMD ABI nr_vectors 0 vector_qwords 8 nr_pred 0 pred_qwords 0\n",
		.line =
			"AX:0x1000\n",
	},
	{
		.name = "SVE, 1024 bits", .e_machine = EM_AARCH64, .mask = 1ULL << 31,
		.enabled = true, .abi = ABI_64 | ABI_SIMD,
		.simd = {
			.vec_mask = 0x80000000, .nr_vectors = 1, .vector_qwords = 3,
			.pred_mask = 0x18000, .nr_pred = 2, .pred_qwords = 2,
		},
		.dump =
			"... intr regs: mask 0x80000000 ABI 64-bit SIMD\n"
			".... sp    0x0000000000001000\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 3 nr_pred 2 pred_qwords 2\n"
			".... Z[31][0] 0x0000000000000001\n"
			".... Z[31][1] 0x0000000000000002\n"
			".... Z[31][2] 0x0000000000000003\n"
			".... P[15][0] 0x0000000000000004\n"
			".... P[15][1] 0x0000000000000005\n"
			".... FFR[0] 0x0000000000000006\n"
			".... FFR[1] 0x0000000000000007\n",
		.line =
			"sp:0x1000\n"
			"Z31:0x000000000000000300000000000000020000000000000001\n"
			"P15:0x00000000000000050000000000000004\n"
			"FFR:0x00000000000000070000000000000006\n",
	},
	{
		.name = "SVE, 128 bits", .e_machine = EM_AARCH64, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = {
			.vec_mask = 1, .nr_vectors = 1, .vector_qwords = 2,
			.pred_mask = 0x10000, .nr_pred = 1, .pred_qwords = 1,
		},
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 2 nr_pred 1 pred_qwords 1\n"
			".... Z[0][0] 0x0000000000000001\n"
			".... Z[0][1] 0x0000000000000002\n"
			".... FFR   0x0000000000000003\n",
		.line =
			"Z0:0x00000000000000020000000000000001\n"
			"FFR:0x0000000000000003\n",
	},
	{
		.name = "a 32-bit task on arm64", .e_machine = EM_ARM, .enabled = true,
		.abi = PERF_SAMPLE_REGS_ABI_32 | ABI_SIMD,
		.simd = { .vec_mask = 0x10, .nr_vectors = 1, .vector_qwords = 2 },
		.dump =
			"... intr regs: mask 0x0 ABI 32-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 2 nr_pred 0 pred_qwords 0\n"
			".... V[4][0] 0x0000000000000001\n"
			".... V[4][1] 0x0000000000000002\n",
		.line =
			"V4:0x00000000000000020000000000000001\n",
	},
	{
		.name = "f32", .e_machine = EM_X86_64, .enabled = true, .abi = ABI_64 | ABI_SIMD,
		.simd = { .vec_mask = 1, .nr_vectors = 1, .vector_qwords = 4 },
		.view = "f32",
		.data = {
			0x3f8000003f000000, 0x7fc00000ff800000,
			0x3dcccccd00000001, 0x8000000042f6aec6,
		},
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 4 nr_pred 0 pred_qwords 0\n"
			".... YMM[0] f32[0]: 0.5 1 -inf nan\n"
			".... YMM[0] f32[4]: 1.4013e-45 0.1 123.341354 -0\n",
		.line =
			"YMM0:f32{0.5,1,-inf,nan,1.4013e-45,0.1,123.341354,-0}\n",
	},
	{
		.name = "f16, the highest first", .e_machine = EM_AARCH64, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = { .vec_mask = 8, .nr_vectors = 1, .vector_qwords = 2 },
		.view = "F16,high",
		.data = { 0x00017bffc0003c00, 0x2e6603ff7e007c00 },
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 2 nr_pred 0 pred_qwords 0\n"
			".... V[3] f16[7]: 0.099976 6.0976e-05 nan inf 5.9605e-08 65504 -2 1\n",
		.line =
			"V3:f16{0.099976,6.0976e-05,nan,inf,5.9605e-08,65504,-2,1}\n",
	},
	{
		.name = "bf16", .e_machine = EM_X86_64, .enabled = true, .abi = ABI_64 | ABI_SIMD,
		.simd = { .vec_mask = 1, .nr_vectors = 1, .vector_qwords = 2 },
		.view = "bf16",
		.data = { 0xff7f7f8040493f80, 0x0000800000017fc0 },
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 2 nr_pred 0 pred_qwords 0\n"
			".... XMM[0] bf16[0]: 1 3.141 inf -3.39e+38 nan 9.184e-41 -0 0\n",
		.line =
			"XMM0:bf16{1,3.141,inf,-3.39e+38,nan,9.184e-41,-0,0}\n",
	},
	{
		.name = "f64 and an OPMASK", .e_machine = EM_X86_64, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = {
			.vec_mask = 1, .nr_vectors = 1, .vector_qwords = 4,
			.pred_mask = 2, .nr_pred = 1, .pred_qwords = 1,
		},
		.view = "f64",
		.data = {
			0x400921fb54442d18, 0x0000000000000001, 0x3fd3333333333334,
			0xfff0000000000000, 0xf5,
		},
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 4 nr_pred 1 pred_qwords 1\n"
			".... YMM[0] f64[0]: 3.141592653589793 4.94065645841247e-324\n"
			".... YMM[0] f64[2]: 0.30000000000000004 -inf\n"
			".... OPMASK[1] f64[0]: 1 0 1 0\n",
		.line =
			"YMM0:f64{3.141592653589793,4.94065645841247e-324,0.30000000000000004,-inf}\n"
			"OPMASK1:f64{1,0,1,0}\n",
	},
	{
		.name = "i64 and a P register", .e_machine = EM_AARCH64, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = {
			.vec_mask = 1, .nr_vectors = 1, .vector_qwords = 4,
			.pred_mask = 1, .nr_pred = 1, .pred_qwords = 1,
		},
		.view = "i64,low",
		.data = { ~0ULL, 1ULL << 63, 5, 0, 0x01fe00ff },
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 4 nr_pred 1 pred_qwords 1\n"
			".... Z[0] i64[0]: -1 -9223372036854775808\n"
			".... Z[0] i64[2]: 5 0\n"
			".... P[0] i64[0]: 1 0 0 1\n",
		.line =
			"Z0:i64{-1,-9223372036854775808,5,0}\n"
			"P0:i64{1,0,0,1}\n",
	},
	{
		.name = "i16", .e_machine = EM_X86_64, .enabled = true, .abi = ABI_64 | ABI_SIMD,
		.simd = { .vec_mask = 1, .nr_vectors = 1, .vector_qwords = 2 },
		.view = "i16",
		.data = { 0x80007fffffff0001, 0 },
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 2 nr_pred 0 pred_qwords 0\n"
			".... XMM[0] i16[0]: 1 -1 32767 -32768 0 0 0 0\n",
		.line =
			"XMM0:i16{1,-1,32767,-32768,0,0,0,0}\n",
	},
	{
		.name = "predicates without vectors", .e_machine = EM_AARCH64, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = { .pred_mask = 0x10000, .nr_pred = 1, .pred_qwords = 1 },
		.view = "u32,high",
		.data = { 0x1000000000000011 },
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 0 vector_qwords 0 nr_pred 1 pred_qwords 1\n"
			".... FFR u32[15]: 1 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1\n",
		.line =
			"FFR:u32{1,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1}\n",
	},
	{
		.name = "an architecture without tables", .e_machine = EM_S390, .enabled = true,
		.abi = ABI_64 | ABI_SIMD,
		.simd = {
			.vec_mask = 2, .nr_vectors = 1, .vector_qwords = 1,
			.pred_mask = 1, .nr_pred = 1, .pred_qwords = 1,
		},
		.dump =
			"... intr regs: mask 0x0 ABI 64-bit SIMD\n"
			"... SIMD ABI nr_vectors 1 vector_qwords 1 nr_pred 1 pred_qwords 1\n"
			".... VEC[1][0] 0x0000000000000001\n"
			".... PRED[0] 0x0000000000000002\n",
		.line =
			"VEC1:0x0000000000000001\n"
			"PRED0:0x0000000000000002\n",
	},
};

static int check_text(const struct text_case *tc, const char *what, const char *text,
		      const char *expect)
{
	if (!strcmp(text, expect))
		return TEST_OK;
	pr_debug("FAILED %s of \"%s\":\n%s\ninstead of\n%s\n", what, tc->name, text, expect);
	return TEST_FAIL;
}

/* A register on each line instead of all on one, for the sake of those who read this. */
static void one_per_line(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from != ' ')
			*to++ = *from;
		else if (to != text && to[-1] != '\n')
			*to++ = '\n';
	}
	*to = '\0';
}

static int text_one(const struct text_case *tc)
{
	const struct perf_event_attr attr = { .sample_simd_regs_enabled = tc->enabled };
	u64 gprs[] = { 0x1000, 0x1001, 0x1002 };
	u64 data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	struct regs_dump regs = {
		.abi = tc->abi, .mask = tc->mask, .regs = gprs, .simd = tc->simd,
	};
	struct simd_view view = {};
	char *text = NULL;
	size_t size;
	int ret;
	FILE *fp;

	regs.simd.data = memchr_inv(tc->data, 0, sizeof(tc->data)) ? tc->data : data;
	TEST_ASSERT_VAL("view", !simd_view__set(&view, tc->view ?: "hex"));

	fp = open_memstream(&text, &size);
	TEST_ASSERT_VAL("stream", fp);
	regs_dump__dump(fp, "intr", &regs, &attr, tc->e_machine, 0, &view);
	fclose(fp);
	ret = check_text(tc, "dump", text, tc->dump);
	free(text);

	fp = open_memstream(&text, &size);
	TEST_ASSERT_VAL("stream", fp);
	regs_dump__fprintf(fp, &regs, &attr, tc->e_machine, 0, &view);
	fclose(fp);
	one_per_line(text);
	ret |= check_text(tc, "line", text, tc->line);
	free(text);

	return ret;
}

static int test__text(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	int ret = TEST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(text_cases); i++)
		ret |= text_one(&text_cases[i]);
	return ret ? TEST_FAIL : TEST_OK;
}

/* What --simd-type takes, and what it doesn't. */
static int test__view(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	static const char * const bad[] = {
		"", "f", "f8", "f321", "i128", "f32,", "f32,lowest", "hex,high", ",high", "?",
	};
	struct simd_view view = {};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (simd_view__set(&view, bad[i]))
			continue;
		pr_debug("FAILED: \"%s\" is taken for a type\n", bad[i]);
		return TEST_FAIL;
	}
	TEST_ASSERT_VAL("unchanged", !view.type && !view.high_first);

	TEST_ASSERT_VAL("f32,high", !simd_view__set(&view, "f32,high"));
	TEST_ASSERT_VAL("f32", view.type && !strcmp(view.type->name, "f32"));
	TEST_ASSERT_VAL("high", view.high_first);

	TEST_ASSERT_VAL("U8", !simd_view__set(&view, "U8"));
	TEST_ASSERT_VAL("u8", view.type && view.type->bits == 8 && !view.high_first);
	TEST_ASSERT_VAL("hex", !simd_view__set(&view, "hex") && !view.type);
	return TEST_OK;
}

/* Without the SIMD fields, with XMM registers and halves; with them; a predicate. */
static const char json[] =
	"{\"IP\": \"0x10\", \"XMM4[0]\": \"0x5\", \"XMM5[1]\": \"0x6\", \"XMM3\": \"0x00000000000000040000000000000003\"}\n"
	"{\"R16\": \"0x10\", \"XMM2\": \"0x00000000000000020000000000000001\"}\n"
	"{\"R16\": \"0x10\", \"OPMASK2\": \"0x0000000000000003\"}\n";

static int test__json(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct perf_event_attr legacy = {}, simd = { .sample_simd_regs_enabled = 1 };
	u64 gprs[] = { 0x10, 0x3, 0x4, 0x5, 0x6 }, data[] = { 1, 2, 3 };
	struct regs_dump regs = {
		.abi = ABI_64, .regs = gprs, .mask = 1ULL << 8 | 0x9ULL << 40 | 3ULL << 38,
	};
	char *text = NULL;
	size_t size;
	int ret;
	FILE *fp;

	fp = open_memstream(&text, &size);
	TEST_ASSERT_VAL("stream", fp);
	regs_dump__fprintf_json(fp, &regs, &legacy, EM_X86_64, 0);
	fputc('\n', fp);

	regs.abi |= ABI_SIMD;
	regs.mask = 1ULL << 24;
	regs.simd.data = data;
	regs.simd.vec_mask = 4;
	regs.simd.nr_vectors = 1;
	regs.simd.vector_qwords = 2;
	regs_dump__fprintf_json(fp, &regs, &simd, EM_X86_64, 0);
	fputc('\n', fp);

	regs.simd.data = data + 2;
	regs.simd.nr_vectors = 0;
	regs.simd.pred_mask = 4;
	regs.simd.nr_pred = 1;
	regs.simd.pred_qwords = 1;
	regs_dump__fprintf_json(fp, &regs, &simd, EM_X86_64, 0);
	fputc('\n', fp);
	fclose(fp);

	ret = strcmp(text, json);
	if (ret)
		pr_debug("FAILED JSON:\n%s\n", text);
	free(text);
	return ret ? TEST_FAIL : TEST_OK;
}

static struct test_case tests__simd_regs_text[] = {
	TEST_CASE("Print the attr", attr_print),
	TEST_CASE("Print registers", text),
	TEST_CASE("Print registers as JSON", json),
	TEST_CASE("Views of registers", view),
	{ .name = NULL, }
};

struct test_suite suite__simd_regs_text = {
	.desc = "SIMD registers as text",
	.test_cases = tests__simd_regs_text,
};
