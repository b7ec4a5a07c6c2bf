// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_RECORD_SAMPLE to the byte, from the description in the UAPI header and nothing
 * else: each field is as long as the attribute says, and the record ends where the last
 * one does.
 */
#include <asm/perf_regs.h>
#include <linux/const.h>

#include "attr.h"

#define ABI_WIDTHS	(PERF_SAMPLE_REGS_ABI_32 | PERF_SAMPLE_REGS_ABI_64)
#define MAX_BRANCHES	64

static unsigned int weight(__u64 mask)
{
	return __builtin_popcountll(mask);
}

/* The values of a READ record, of a sample, or of read(2) */
void parse_read(struct cursor *c, const struct perf_event_attr *attr)
{
	__u64 format = attr->read_format, nr = 1;
	unsigned int each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	if (format & PERF_FORMAT_GROUP) {
		nr = take(c);
		expect(c, nr >= 1 && nr <= 64, "a group that is not that large");
	}
	take_words(c, weight(format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING)));
	if (!c->error)
		take_words(c, nr * each);
}

static void parse_callchain(struct cursor *c, const struct perf_event_attr *attr)
{
	/* Contexts are words of their own, and so is the cookie of a deferred chain. */
	__u64 nr = take(c), most = (attr->sample_max_stack ?: 127) + 8 + 2;

	expect(c, nr <= most, "a call chain that is too long");
	if (!c->error)
		take_words(c, nr);
}

/* The size is of what follows, and both together are words. */
static void parse_raw(struct cursor *c)
{
	const __u32 *size = (const __u32 *)c->at;
	__u64 bytes = c->at < c->end ? *size + sizeof(*size) : 0;

	expect(c, bytes % 8 == 0, "raw data that are not aligned");
	take_words(c, c->error ? 0 : bytes ? bytes / 8 : 1);
}

static void parse_branches(struct cursor *c, const struct perf_event_attr *attr)
{
	unsigned int each = sizeof(struct perf_branch_entry) / 8;
	__u64 nr = take(c);

	if (nr && attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		take(c);
	expect(c, nr <= MAX_BRANCHES, "a branch stack that is too deep");
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS)
		each++;
	if (!c->error)
		take_words(c, nr * each);
}

#ifdef __aarch64__
/*
 * A predicate has a bit for each byte of a vector. How long that is, a sample says of
 * vectors that are shorter than what was asked for.
 */
static void check_padding(struct cursor *c, const struct perf_event_attr *attr,
			  const struct block *b)
{
	__u64 i, last = b->vec_qwords % 8;

	if (!last || b->vec_qwords >= attr->sample_simd_vec_reg_qwords)
		return;
	for (i = b->pred_qwords - 1; i < b->nr_pred * b->pred_qwords; i += b->pred_qwords)
		expect(c, !(b->pred[i] >> 8 * last), "something behind a predicate");
}
#endif

/* The two pairs of words, each of which is zero together */
static void parse_simd(struct cursor *c, const struct perf_event_attr *attr, struct block *b)
{
	b->has_simd = true;
	b->nr_vec = take(c);
	b->vec_qwords = take(c);
	b->nr_pred = take(c);
	b->pred_qwords = take(c);
	expect(c, b->vec_mask || b->pred_mask, "SIMD registers that nobody asked for");
	expect(c, b->nr_vec <= weight(b->vec_mask), "more vectors than asked for");
	expect(c, b->nr_pred <= weight(b->pred_mask), "more predicates than asked for");
	expect(c, !b->nr_vec == !b->vec_qwords, "vectors without a width, or the reverse");
	expect(c, !b->nr_pred == !b->pred_qwords, "predicates without a width, or the reverse");
	expect(c, b->vec_qwords <= attr->sample_simd_vec_reg_qwords, "vectors that are too wide");
	expect(c, b->pred_qwords <= attr->sample_simd_pred_reg_qwords,
	       "predicates that are too wide");
#ifdef __aarch64__
	expect(c, b->vec_qwords % 2 == 0, "vectors of half a V register");
	expect(c, !b->nr_vec || !b->nr_pred || b->pred_qwords == (b->vec_qwords + 7) / 8,
	       "predicates that are not as long as the vectors");
#else
	/* All of a class, or nothing */
	expect(c, !b->nr_vec || b->nr_vec == weight(b->vec_mask), "some of the vectors");
	expect(c, !b->nr_vec || b->vec_qwords == attr->sample_simd_vec_reg_qwords,
	       "vectors that are too narrow");
	expect(c, !b->nr_pred || b->nr_pred == weight(b->pred_mask), "some of the predicates");
#endif
	if (c->error)
		return;
	b->vec = take_words(c, b->nr_vec * b->vec_qwords);
	b->pred = take_words(c, b->nr_pred * b->pred_qwords);
#ifdef __aarch64__
	if (b->pred)
		check_padding(c, attr, b);
#endif
}

static void parse_regs(struct cursor *c, const struct perf_event_attr *attr, __u64 mask,
		       struct block *b)
{
	b->abi = take(c);
	expect(c, !(b->abi & ~(__u64)(ABI_WIDTHS | PERF_SAMPLE_REGS_ABI_SIMD)) &&
	       (b->abi & ABI_WIDTHS) != ABI_WIDTHS, "an ABI that there is not");
	expect(c, !b->abi || b->abi & ABI_WIDTHS, "an ABI without general purpose registers");
	if (!b->abi || c->error)
		return;
	b->mask = mask;
	b->regs = take_words(c, weight(mask));
	if (b->abi & PERF_SAMPLE_REGS_ABI_SIMD) {
		expect(c, attr->sample_simd_regs_enabled, "SIMD registers without the switch");
		parse_simd(c, attr, b);
	}
}

static void parse_stack(struct cursor *c, const struct perf_event_attr *attr)
{
	__u64 size = take(c), used;

	expect(c, size <= attr->sample_stack_user && size % 8 == 0,
	       "a stack that is larger than asked for");
	if (!size || c->error)
		return;
	take_words(c, size / 8);
	used = take(c);
	expect(c, used <= size, "a stack of which more is said to be there than is");
}

static void parse_page_size(struct cursor *c)
{
	__u64 size = take(c);

	expect(c, !size || (size >= 4096 && !(size & (size - 1))), "a size that no page has");
}

static void parse_aux(struct cursor *c)
{
	__u64 size = take(c);

	expect(c, size % 8 == 0, "AUX data that are not aligned");
	if (!c->error)
		take_words(c, size / 8);
}

/* What comes before the first field whose size varies */
static void parse_head(struct cursor *c, const struct event *event, struct sample *s)
{
	const __u64 type = event->attr.sample_type;
	__u64 word;

	if (type & PERF_SAMPLE_IDENTIFIER)
		expect(c, take(c) == event->id, "the ID of another event");
	if (type & PERF_SAMPLE_IP) {
		s->ip = take(c);
		s->has_ip = true;
	}
	if (type & PERF_SAMPLE_TID) {
		word = take(c);
		s->pid = word;
		s->tid = word >> 32;
		s->has_tid = true;
	}
	take_words(c, weight(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)));
	if (type & PERF_SAMPLE_ID)
		expect(c, take(c) == event->id, "the ID of another event");
	if (type & PERF_SAMPLE_STREAM_ID) {
		word = take(c);
		expect(c, event->attr.inherit || word == event->id, "another event's stream");
	}
	if (type & PERF_SAMPLE_CPU) {
		word = take(c);
		expect(c, !(word >> 32), "something in the reserved word of the CPU");
		expect(c, event->cpu < 0 || (__u32)word == (__u32)event->cpu, "another CPU");
	}
	if (type & PERF_SAMPLE_PERIOD)
		take(c);
}

const char *parse_sample(const struct event *event, const struct perf_event_header *header,
			 struct sample *s)
{
	const struct perf_event_attr *attr = &event->attr;
	const __u64 type = attr->sample_type;
	const __u64 *end = (const __u64 *)((const char *)header + header->size);
	struct cursor cursor = { (const __u64 *)(header + 1), end, NULL }, *c = &cursor;

	*s = (struct sample) {
		.cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.user = { .vec_mask = attr->sample_simd_vec_reg_user,
			  .pred_mask = attr->sample_simd_pred_reg_user },
		.intr = { .vec_mask = attr->sample_simd_vec_reg_intr,
			  .pred_mask = attr->sample_simd_pred_reg_intr },
	};

	parse_head(c, event, s);
	if (type & PERF_SAMPLE_READ)
		parse_read(c, attr);
	if (type & PERF_SAMPLE_CALLCHAIN)
		parse_callchain(c, attr);
	if (type & PERF_SAMPLE_RAW)
		parse_raw(c);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		parse_branches(c, attr);
	if (type & PERF_SAMPLE_REGS_USER)
		parse_regs(c, attr, attr->sample_regs_user, &s->user);
	if (type & PERF_SAMPLE_STACK_USER)
		parse_stack(c, attr);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		take(c);
	take_words(c, weight(type & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION)));
	if (type & PERF_SAMPLE_REGS_INTR)
		parse_regs(c, attr, attr->sample_regs_intr, &s->intr);
	take_words(c, weight(type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP)));
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		parse_page_size(c);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		parse_page_size(c);
	if (type & PERF_SAMPLE_AUX)
		parse_aux(c);
	expect(c, c->at == c->end, "is longer than its fields");
	return c->error;
}
