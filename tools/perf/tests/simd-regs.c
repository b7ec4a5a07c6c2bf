// SPDX-License-Identifier: GPL-2.0
/*
 * SIMD registers in samples and in attrs: reading, writing and byte order. The
 * samples are made here, word by word. Each is in memory that ends where the
 * sample ends, so that a checker of memory accesses sees any read that goes too
 * far.
 */
#include <byteswap.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>

#include "debug.h"
#include "event.h"
#include "evsel.h"
#include "sample.h"
#include "sample-regs.h"
#include "session.h"
#include "tests.h"
#include "util/memswap.h"
#include "util/synthetic-events.h"

#define ABI_64		PERF_SAMPLE_REGS_ABI_64
#define ABI_SIMD	PERF_SAMPLE_REGS_ABI_SIMD
#define PHYS_ADDR	0x123456789abcULL
#define IP		0x401136ULL
#define MAX_COUNT	16
#define MAX_WORDS	(2 * MAX_COUNT * MAX_COUNT + 16)

/* A value that tells which word of which register it is. */
#define VEC(nr, qword)	(0x7ec0000000000000ULL | (u64)(nr) << 32 | (qword))
#define PRED(nr)	(0x94ed000000000000ULL | (nr))

/* What follows the ABI word and the registers of the user side. */
struct simd_sample {
	const char *name;
	u64 abi;
	u64 header[4];
	/* Words of header and data that are left out at the end of the sample. */
	unsigned int cut;
	bool ok;
};

static const struct perf_event_attr x86_attr = {
	.size				= sizeof(x86_attr),
	.sample_type			= PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER,
	.sample_regs_user		= 1ULL << 7,	/* SP */
	.sample_simd_regs_enabled	= 1,
	.sample_simd_vec_reg_qwords	= 4,
	.sample_simd_vec_reg_user	= 0x8005,	/* 0, 2, 15 */
	.sample_simd_pred_reg_qwords	= 1,
	.sample_simd_pred_reg_user	= 0x82,		/* 1, 7 */
};

/* A sample that ends with its words, not one byte later. */
static union perf_event *make_event(const u64 *words, size_t nr)
{
	size_t size = sizeof(struct perf_event_header) + nr * sizeof(u64);
	union perf_event *event = malloc(size);

	if (!event)
		return NULL;
	event->header.type = PERF_RECORD_SAMPLE;
	event->header.misc = PERF_RECORD_MISC_USER;
	event->header.size = size;
	memcpy(event->sample.array, words, nr * sizeof(u64));
	return event;
}

static size_t put_simd_data(u64 *words, u64 nr_vectors, u64 qwords, u64 nr_pred, u64 pred_qwords)
{
	size_t n = 0;

	/* Headers with numbers that are too large get no data. */
	if (max(nr_vectors, nr_pred) > MAX_COUNT || max(qwords, pred_qwords) > MAX_COUNT)
		return 0;

	for (u64 i = 0; i < nr_vectors; i++)
		for (u64 q = 0; q < qwords; q++)
			words[n++] = VEC(i, q);
	for (u64 i = 0; i < nr_pred; i++)
		for (u64 q = 0; q < pred_qwords; q++)
			words[n++] = PRED(i);
	return n;
}

static union perf_event *make_simd_event(const struct simd_sample *s, bool phys_addr)
{
	u64 words[MAX_WORDS];
	size_t nr = 0;

	words[nr++] = IP;
	words[nr++] = s->abi;
	if (s->abi)
		words[nr++] = 0x7ffe0000;
	if (s->abi & ABI_SIMD) {
		memcpy(words + nr, s->header, sizeof(s->header));
		nr += ARRAY_SIZE(s->header);
		nr += put_simd_data(words + nr, s->header[0], s->header[1],
				    s->header[2], s->header[3]);
	}
	if (phys_addr)
		words[nr++] = PHYS_ADDR;
	return make_event(words, nr - s->cut);
}

static struct evsel *make_evsel(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;

	/* It works out the size of a sample's fixed part, too. */
	return evsel__new(&copy);
}

static const struct simd_sample samples[] = {
	/* Fine: everything, less than asked for, nothing. */
	{ "all",		ABI_64 | ABI_SIMD, { 3, 4, 2, 1 }, .ok = true },
	{ "narrower",		ABI_64 | ABI_SIMD, { 3, 2, 2, 1 }, .ok = true },
	{ "wider",		ABI_64 | ABI_SIMD, { 3, 8, 2, 1 }, .ok = true },
	{ "odd width",		ABI_64 | ABI_SIMD, { 1, 3, 1, 5 }, .ok = true },
	{ "fewer",		ABI_64 | ABI_SIMD, { 1, 4, 1, 1 }, .ok = true },
	{ "vectors only",	ABI_64 | ABI_SIMD, { 3, 4, 0, 0 }, .ok = true },
	{ "predicates only",	ABI_64 | ABI_SIMD, { 0, 0, 2, 1 }, .ok = true },
	{ "counts of 0",	ABI_64 | ABI_SIMD, { 0, 4, 0, 1 }, .ok = true },
	{ "zeros",		ABI_64 | ABI_SIMD, { 0, 0, 0, 0 }, .ok = true },
	{ "no SIMD",		ABI_64, .ok = true },
	{ "no registers",	PERF_SAMPLE_REGS_ABI_NONE, .ok = true },
	/* The sample ends too early. */
	{ "no data",		ABI_64 | ABI_SIMD, { 3, 4, 2, 1 }, .cut = 14 },
	{ "last word missing",	ABI_64 | ABI_SIMD, { 3, 4, 2, 1 }, .cut = 1 },
	{ "header cut by 1",	ABI_64 | ABI_SIMD, { 0, 0, 0, 0 }, .cut = 1 },
	{ "header cut by 3",	ABI_64 | ABI_SIMD, { 0, 0, 0, 0 }, .cut = 3 },
	{ "no header",		ABI_64 | ABI_SIMD, { 0, 0, 0, 0 }, .cut = 4 },
	{ "no GPR",		ABI_64, .cut = 1 },
	{ "no ABI",		ABI_64, .cut = 2 },
	/* Numbers that no sample can have. */
	{ "huge nr_vectors",	ABI_64 | ABI_SIMD, { UINT64_MAX, 4, 0, 0 }, .ok = false },
	{ "huge width",		ABI_64 | ABI_SIMD, { 3, UINT64_MAX, 0, 0 }, .ok = false },
	{ "huge nr_pred",	ABI_64 | ABI_SIMD, { 0, 0, UINT64_MAX, 1 }, .ok = false },
	{ "huge pred width",	ABI_64 | ABI_SIMD, { 0, 0, 2, UINT64_MAX }, .ok = false },
	{ "product wraps to 0",	ABI_64 | ABI_SIMD, { 1ULL << 32, 1ULL << 32, 0, 0 }, .ok = false },
	{ "product wraps to 4",	ABI_64 | ABI_SIMD, { 3, UINT64_MAX / 3 + 2, 0, 0 }, .ok = false },
	{ "bytes wrap to 0",	ABI_64 | ABI_SIMD, { 1, 1ULL << 61, 0, 0 }, .ok = false },
	{ "sum wraps to 0",	ABI_64 | ABI_SIMD, { 1, 1ULL << 63, 1, 1ULL << 63 }, .ok = false },
	{ "16-bit product",	ABI_64 | ABI_SIMD, { 3, 0x5556, 0, 0 }, .ok = false },
	{ "32-bit nr_vectors",	ABI_64 | ABI_SIMD, { 1ULL << 32, 4, 0, 0 }, .ok = false },
	/* More than the event has asked for: which registers would that be? */
	{ "too many vectors",	ABI_64 | ABI_SIMD, { 4, 4, 0, 0 }, .ok = false },
	{ "too many predicates", ABI_64 | ABI_SIMD, { 0, 0, 3, 1 }, .ok = false },
	{ "vectors, no width",	ABI_64 | ABI_SIMD, { 3, 0, 0, 0 }, .ok = false },
	{ "predicates, no width", ABI_64 | ABI_SIMD, { 0, 0, 2, 0 }, .ok = false },
};

static int check_simd(const struct simd_sample *s, const struct regs_dump *regs)
{
	const struct simd_regs *simd = &regs->simd;
	u64 expect[MAX_WORDS];
	size_t nr;

	TEST_ASSERT_VAL("abi", regs->abi == s->abi);
	TEST_ASSERT_VAL("regs", !s->abi || regs->regs[0] == 0x7ffe0000);
	if (!(s->abi & ABI_SIMD)) {
		TEST_ASSERT_VAL("no SIMD data", !simd->nr_vectors && !simd->nr_pred);
		return TEST_OK;
	}

	TEST_ASSERT_VAL("nr_vectors", simd->nr_vectors == s->header[0]);
	TEST_ASSERT_VAL("vector_qwords", simd->vector_qwords == s->header[1]);
	TEST_ASSERT_VAL("nr_pred", simd->nr_pred == s->header[2]);
	TEST_ASSERT_VAL("pred_qwords", simd->pred_qwords == s->header[3]);

	nr = put_simd_data(expect, s->header[0], s->header[1], s->header[2], s->header[3]);
	TEST_ASSERT_VAL("size", simd_regs__qwords(simd) == nr);
	TEST_ASSERT_VAL("data", !memcmp(simd->data, expect, nr * sizeof(u64)));
	return TEST_OK;
}

static int parse_one(const struct simd_sample *s, struct evsel *evsel, bool phys_addr)
{
	union perf_event *event = make_simd_event(s, phys_addr);
	struct perf_sample sample;
	int err, ret;

	TEST_ASSERT_VAL("event", event);
	perf_sample__init(&sample, /*all=*/true);
	err = evsel__parse_sample(evsel, event, &sample);

	if (!s->ok)
		ret = err ? TEST_OK : TEST_FAIL;
	else if (err)
		ret = TEST_FAIL;
	else
		ret = check_simd(s, sample.user_regs);

	/* What comes after the registers must be found too. */
	if (s->ok && phys_addr && sample.phys_addr != PHYS_ADDR)
		ret = TEST_FAIL;

	if (ret)
		pr_debug("FAILED sample \"%s\"\n", s->name);
	perf_sample__exit(&sample);
	free(event);
	return ret;
}

static int test__parse(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	struct perf_event_attr attr = x86_attr;
	struct evsel *last, *middle;
	int ret = TEST_OK;

	last = make_evsel(&attr);
	attr.sample_type |= PERF_SAMPLE_PHYS_ADDR;
	middle = make_evsel(&attr);
	TEST_ASSERT_VAL("evsel", last && middle);

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		ret |= parse_one(&samples[i], last, /*phys_addr=*/false);
		/* One word is missing, but the address has one: that makes another sample. */
		if (!samples[i].cut)
			ret |= parse_one(&samples[i], middle, /*phys_addr=*/true);
	}

	evsel__put(last);
	evsel__put(middle);
	return ret ? TEST_FAIL : TEST_OK;
}

/* Registers that take all of the sample leave nothing for what has to follow. */
static int test__parse_tail(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct simd_sample s = { "tail", ABI_64 | ABI_SIMD, { 3, 4, 2, 1 }, .ok = false };
	const u64 tails[] = {
		PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CGROUP,
		PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE,
		PERF_SAMPLE_AUX, PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_STACK_USER,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		struct perf_event_attr attr = x86_attr;
		struct evsel *evsel;
		int ret;

		attr.sample_type |= tails[i];
		evsel = make_evsel(&attr);
		TEST_ASSERT_VAL("evsel", evsel);
		ret = parse_one(&s, evsel, /*phys_addr=*/false);
		evsel__put(evsel);
		TEST_ASSERT_VAL("field beyond the end", ret == TEST_OK);
	}
	return TEST_OK;
}

/* A sample of the other byte order has its words swapped before it is parsed. */
static int test__parse_swapped(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct simd_sample s = { "swapped", ABI_64 | ABI_SIMD, { 3, 4, 2, 1 }, .ok = true };
	struct evsel *evsel = make_evsel(&x86_attr);
	union perf_event *event = make_simd_event(&s, /*phys_addr=*/false);
	struct perf_sample sample;
	size_t size;
	int ret;

	TEST_ASSERT_VAL("setup", evsel && event);
	size = event->header.size - sizeof(event->header);

	for (size_t i = 0; i < size / sizeof(u64); i++)
		event->sample.array[i] = bswap_64(event->sample.array[i]);
	TEST_ASSERT_VAL("still in our byte order", event->sample.array[0] != IP);

	mem_bswap_64(event->sample.array, size);
	evsel->needs_swap = true;
	perf_sample__init(&sample, /*all=*/true);
	TEST_ASSERT_VAL("parse", !evsel__parse_sample(evsel, event, &sample));
	ret = check_simd(&s, sample.user_regs);

	perf_sample__exit(&sample);
	free(event);
	evsel__put(evsel);
	return ret;
}

/* Write a sample as it has been read: the same bytes come out. */
static int synthesize_one(const struct simd_sample *s, struct evsel *evsel)
{
	u64 type = evsel->core.attr.sample_type;
	union perf_event *event = make_simd_event(s, /*phys_addr=*/false), *copy;
	struct perf_sample sample;
	size_t size;
	int ret;

	TEST_ASSERT_VAL("event", event);
	perf_sample__init(&sample, /*all=*/true);
	TEST_ASSERT_VAL("parse", !evsel__parse_sample(evsel, event, &sample));

	size = perf_event__sample_event_size(&sample, type, 0, 0);
	TEST_ASSERT_VAL("size", size == event->header.size);
	copy = zalloc(size);
	TEST_ASSERT_VAL("copy", copy);
	copy->header = event->header;
	TEST_ASSERT_VAL("write", !perf_event__synthesize_sample(copy, type, 0, 0, &sample));

	ret = memcmp(event, copy, size);
	perf_sample__exit(&sample);
	free(event);
	free(copy);
	return ret;
}

static int test__synthesize(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	struct evsel *evsel = make_evsel(&x86_attr);
	int ret = TEST_OK;

	TEST_ASSERT_VAL("evsel", evsel);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		if (samples[i].ok && synthesize_one(&samples[i], evsel)) {
			pr_debug("FAILED to write sample \"%s\"\n", samples[i].name);
			ret = TEST_FAIL;
		}
	}
	evsel__put(evsel);
	return ret;
}

static int test__attr_swap(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct perf_event_attr attr = {
		.type				= bswap_32(PERF_TYPE_SOFTWARE),
		.size				= bswap_32(PERF_ATTR_SIZE_VER10),
		.sample_regs_intr		= bswap_64(0x0102030405060708ULL),
		.sample_simd_regs_enabled	= bswap_16(1),
		.sample_simd_pred_reg_qwords	= bswap_16(0x0203),
		.sample_simd_vec_reg_qwords	= bswap_16(0x0405),
		.sample_simd_pred_reg_intr	= bswap_32(0x06070809),
		.sample_simd_pred_reg_user	= bswap_32(0x0a0b0c0d),
		.sample_simd_vec_reg_intr	= bswap_64(0x0e0f101112131415ULL),
		.sample_simd_vec_reg_user	= bswap_64(0x161718191a1b1c1dULL),
	};
	struct perf_event_attr swapped = attr;

	perf_event__attr_swap(&swapped);
	TEST_ASSERT_VAL("regs_intr", swapped.sample_regs_intr == 0x0102030405060708ULL);
	TEST_ASSERT_VAL("enabled", swapped.sample_simd_regs_enabled == 1);
	TEST_ASSERT_VAL("pred_qwords", swapped.sample_simd_pred_reg_qwords == 0x0203);
	TEST_ASSERT_VAL("vec_qwords", swapped.sample_simd_vec_reg_qwords == 0x0405);
	TEST_ASSERT_VAL("pred_intr", swapped.sample_simd_pred_reg_intr == 0x06070809);
	TEST_ASSERT_VAL("pred_user", swapped.sample_simd_pred_reg_user == 0x0a0b0c0d);
	TEST_ASSERT_VAL("vec_intr", swapped.sample_simd_vec_reg_intr == 0x0e0f101112131415ULL);
	TEST_ASSERT_VAL("vec_user", swapped.sample_simd_vec_reg_user == 0x161718191a1b1c1dULL);

	/* An attr of an older file ends before: what follows it is something else. */
	swapped = attr;
	swapped.size = bswap_32(PERF_ATTR_SIZE_VER9);
	perf_event__attr_swap(&swapped);
	TEST_ASSERT_VAL("left alone", !memcmp((void *)&swapped + PERF_ATTR_SIZE_VER9,
					      (void *)&attr + PERF_ATTR_SIZE_VER9,
					      sizeof(attr) - PERF_ATTR_SIZE_VER9));
	return TEST_OK;
}

/* Fields are restored and cleared as a whole, and the user side of them can be taken out. */
static int test__attr_user(struct test_suite *t __maybe_unused, int subtest __maybe_unused)
{
	const struct perf_event_attr both = {
		.sample_type			= PERF_SAMPLE_REGS_INTR,
		.sample_simd_regs_enabled	= 1,
		.sample_simd_pred_reg_qwords	= 2,
		.sample_simd_vec_reg_qwords	= 3,
		.sample_simd_pred_reg_intr	= 4,
		.sample_simd_pred_reg_user	= 5,
		.sample_simd_vec_reg_intr	= 6,
		.sample_simd_vec_reg_user	= 7,
	};
	const struct perf_event_attr none = {};
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_REGS_INTR };
	struct attr_simd_regs saved;

	perf_event_attr__save_simd_regs(&both, &saved);
	perf_event_attr__restore_simd_regs(&attr, &saved);
	TEST_ASSERT_VAL("restore", !memcmp(&attr, &both, sizeof(attr)));

	perf_event_attr__drop_user_simd_regs(&attr);
	TEST_ASSERT_VAL("enabled", attr.sample_simd_regs_enabled == 1);
	TEST_ASSERT_VAL("pred_qwords", attr.sample_simd_pred_reg_qwords == 2);
	TEST_ASSERT_VAL("vec_qwords", attr.sample_simd_vec_reg_qwords == 3);
	TEST_ASSERT_VAL("pred_intr", attr.sample_simd_pred_reg_intr == 4);
	TEST_ASSERT_VAL("pred_user", !attr.sample_simd_pred_reg_user);
	TEST_ASSERT_VAL("vec_intr", attr.sample_simd_vec_reg_intr == 6);
	TEST_ASSERT_VAL("vec_user", !attr.sample_simd_vec_reg_user);

	/* Just the numbering of the other side needs the fields. */
	attr.sample_simd_pred_reg_intr = 0;
	attr.sample_simd_vec_reg_intr = 0;
	perf_event_attr__drop_user_simd_regs(&attr);
	TEST_ASSERT_VAL("numbering", attr.sample_simd_regs_enabled == 1);
	TEST_ASSERT_VAL("no pred_qwords", !attr.sample_simd_pred_reg_qwords);
	TEST_ASSERT_VAL("no vec_qwords", !attr.sample_simd_vec_reg_qwords);

	attr.sample_type = 0;
	perf_event_attr__drop_user_simd_regs(&attr);
	TEST_ASSERT_VAL("nothing", !attr.sample_simd_regs_enabled);

	attr = both;
	attr.sample_type = 0;
	perf_event_attr__clear_simd_regs(&attr);
	TEST_ASSERT_VAL("clear", !memcmp(&attr, &none, sizeof(attr)));
	return TEST_OK;
}

static struct test_case tests__simd_regs[] = {
	TEST_CASE("Parse good and malformed samples", parse),
	TEST_CASE("Parse samples that end after the registers", parse_tail),
	TEST_CASE("Parse samples of the other byte order", parse_swapped),
	TEST_CASE("Synthesize samples", synthesize),
	TEST_CASE("Swap the attr", attr_swap),
	TEST_CASE("Take the user side out of the attr", attr_user),
	{ .name = NULL, }
};

struct test_suite suite__simd_regs = {
	.desc = "SIMD registers in samples",
	.test_cases = tests__simd_regs,
};
