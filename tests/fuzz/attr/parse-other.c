// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that are no samples: the body of each type, and what sample_id_all puts
 * behind it. And by which ID a record says whose it is.
 */
#include <string.h>

#include "attr.h"

/* In the order in which they are behind a record */
static const __u64 id_fields[] = {
	PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
	PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
};

#define NR_ID_FIELDS	(sizeof(id_fields) / sizeof(*id_fields))

static unsigned int id_words(const struct perf_event_attr *attr)
{
	unsigned int i, n = 0;

	for (i = 0; attr->sample_id_all && i < NR_ID_FIELDS; i++)
		n += !!(attr->sample_type & id_fields[i]);
	return n;
}

static void check_ids(struct cursor *c, const struct event *event)
{
	__u64 word;
	unsigned int i;

	for (i = 0; event->attr.sample_id_all && i < NR_ID_FIELDS; i++) {
		if (!(event->attr.sample_type & id_fields[i]))
			continue;
		word = take(c);
		switch (id_fields[i]) {
		case PERF_SAMPLE_ID:
		case PERF_SAMPLE_IDENTIFIER:
			expect(c, word == event->id, "the ID of another event");
			break;
		case PERF_SAMPLE_CPU:
			expect(c, !(word >> 32), "something in the reserved word of the CPU");
			break;
		}
	}
}

/* A text up to the end of the body: whole words, zeros behind its last character */
static void parse_text(struct cursor *c)
{
	const char *text = (const char *)c->at, *end = (const char *)c->end;
	const char *nul = memchr(text, 0, end - text);

	expect(c, nul, "a text without an end");
	if (!nul)
		return;
	expect(c, end - nul <= 8, "words behind a text");
	for (; nul < end; nul++)
		expect(c, !*nul, "something behind the end of a text");
	c->at = c->end;
}

static void parse_text_poke(struct cursor *c)
{
	const __u16 *len;
	const char *body, *end = (const char *)c->end;

	take(c);
	len = (const __u16 *)c->at;
	if (c->at == c->end) {
		take(c);
		return;
	}
	body = (const char *)c->at + 4 + len[0] + len[1];
	expect(c, body <= end && end - body < 8, "code that is not as long as it says");
	for (; !c->error && body < end; body++)
		expect(c, !*body, "something behind code");
	c->at = c->end;
}

static void parse_body(struct cursor *c, const struct perf_event_header *header,
		       const struct perf_event_attr *attr)
{
	__u64 nr;

	switch (header->type) {
	case PERF_RECORD_MMAP:
		expect(c, attr->mmap || attr->mmap_data, "a record that nobody asked for");
		take_words(c, 4);
		parse_text(c);
		break;
	case PERF_RECORD_MMAP2:
		expect(c, attr->mmap2, "a record that nobody asked for");
		take_words(c, 4 + 4);
		parse_text(c);
		break;
	case PERF_RECORD_COMM:
		expect(c, attr->comm, "a record that nobody asked for");
		take(c);
		parse_text(c);
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		expect(c, attr->task || attr->mmap || attr->mmap2 || attr->comm ||
		       attr->mmap_data, "a record that nobody asked for");
		take_words(c, 3);
		break;
	case PERF_RECORD_LOST:
		take_words(c, 2);
		count(COUNT_LOST);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		take(c);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		take_words(c, 3);
		break;
	case PERF_RECORD_READ:
		expect(c, attr->inherit_stat, "a record that nobody asked for");
		take(c);
		parse_read(c, attr);
		break;
	case PERF_RECORD_AUX:
		take_words(c, 3);
		break;
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		take(c);
		break;
	case PERF_RECORD_SWITCH:
		expect(c, attr->context_switch, "a record that nobody asked for");
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		expect(c, attr->context_switch, "a record that nobody asked for");
		take(c);
		break;
	case PERF_RECORD_NAMESPACES:
		expect(c, attr->namespaces, "a record that nobody asked for");
		take(c);
		nr = take(c);
		expect(c, nr <= 16, "namespaces that there are not");
		take_words(c, c->error ? 0 : 2 * nr);
		break;
	case PERF_RECORD_KSYMBOL:
		expect(c, attr->ksymbol, "a record that nobody asked for");
		take_words(c, 2);
		parse_text(c);
		break;
	case PERF_RECORD_BPF_EVENT:
		expect(c, attr->bpf_event, "a record that nobody asked for");
		take_words(c, 2);
		break;
	case PERF_RECORD_CGROUP:
		expect(c, attr->cgroup, "a record that nobody asked for");
		take(c);
		parse_text(c);
		break;
	case PERF_RECORD_TEXT_POKE:
		expect(c, attr->text_poke, "a record that nobody asked for");
		parse_text_poke(c);
		break;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		expect(c, attr->defer_output, "a record that nobody asked for");
		take(c);
		nr = take(c);
		expect(c, nr <= 1024, "a call chain that is too long");
		take_words(c, c->error ? 0 : nr);
		break;
	default:
		expect(c, false, "a type that there is not");
	}
}

const char *parse_other(const struct event *event, const struct perf_event_header *header)
{
	const __u64 *begin = (const __u64 *)(header + 1);
	const __u64 *end = (const __u64 *)((const char *)header + header->size);
	unsigned int ids = id_words(&event->attr);
	struct cursor body = { begin, end, NULL }, rest;

	if (ids > end - begin)
		return "shorter than its IDs";
	body.end -= ids;
	parse_body(&body, header, &event->attr);
	expect(&body, body.at == body.end, "is longer than its fields");
	if (body.error)
		return body.error;

	rest = (struct cursor) { body.end, end, NULL };
	check_ids(&rest, event);
	return rest.error;
}

bool parse_is_of(const struct event *event, const struct perf_event_header *header)
{
	const __u64 *begin = (const __u64 *)(header + 1);
	const __u64 *end = (const __u64 *)((const char *)header + header->size);
	const __u64 type = event->attr.sample_type;
	unsigned int before;

	if (header->type != PERF_RECORD_SAMPLE) {
		if (!(type & PERF_SAMPLE_IDENTIFIER) || !event->attr.sample_id_all)
			return true;
		return end > begin && end[-1] == event->id;
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		return end > begin && *begin == event->id;
	if (!(type & PERF_SAMPLE_ID))
		return true;
	before = __builtin_popcountll(type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
	return end - begin > before && begin[before] == event->id;
}
