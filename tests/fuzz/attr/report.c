// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is printed: findings, each in one piece, and what has been done at the end.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attr.h"

#define MAX_KINDS	64
#define MAX_OF_KIND	2	/* that a process prints */
#define MAX_BYTES	8192	/* of a record */

static char text[4 * MAX_BYTES];
static size_t used;

__attribute__((format(printf, 1, 2)))
static void add(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
	used += n;
	if (used >= sizeof(text))
		used = sizeof(text) - 1;
}

static void add_hex(const char *name, const void *data, size_t size)
{
	const unsigned char *bytes = data;
	size_t i;

	add("# %s, %zu bytes:", name, size);
	for (i = 0; i < size && i < MAX_BYTES; i++)
		add("%s%02x", i % 32 ? i % 8 ? "" : " " : "\n#  ", bytes[i]);
	add("%s\n", i < size ? " ..." : "");
}

static void print(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < used) {
		n = write(STDOUT_FILENO, text + done, used - done);
		if (n <= 0)
			break;
		done += n;
	}
	used = 0;
}

/* Of each kind some are enough. */
static bool is_new(const char *what)
{
	static struct {
		const char *what;
		unsigned int nr;
	} kinds[MAX_KINDS];
	unsigned int i;

	__atomic_fetch_add(&shared->findings, 1, __ATOMIC_RELAXED);
	for (i = 0; i < MAX_KINDS && kinds[i].what && kinds[i].what != what; i++)
		;
	if (i == MAX_KINDS)
		return false;
	kinds[i].what = what;
	return kinds[i].nr++ < MAX_OF_KIND;
}

static void add_where(const char *what)
{
	add("FINDING: %s\n# SEED=%#llx, worker %u, step %u\n", what, options.seed,
	    worker.index, worker.step);
}

static void add_event(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	add("# %s event opened at step %u by %s: pid %d cpu %d flags %#lx id %llu\n",
	    kind_names[event->kind], event->step, worker.root ? "root" : "nobody",
	    event->pid, event->cpu, event->flags, event->id);
	add("# type %u config %#llx sample_type %#llx read_format %#llx period %llu\n",
	    attr->type, attr->config, attr->sample_type, attr->read_format,
	    attr->sample_period);
	add("# precise %u freq %u inherit %u regs user %#llx intr %#llx stack %u\n",
	    attr->precise_ip, attr->freq, attr->inherit, attr->sample_regs_user,
	    attr->sample_regs_intr, attr->sample_stack_user);
	add("# simd %u: %u words, user %#llx intr %#llx; predicates %u, %#x %#x\n",
	    attr->sample_simd_regs_enabled, attr->sample_simd_vec_reg_qwords,
	    attr->sample_simd_vec_reg_user, attr->sample_simd_vec_reg_intr,
	    attr->sample_simd_pred_reg_qwords, attr->sample_simd_pred_reg_user,
	    attr->sample_simd_pred_reg_intr);
	add_hex("attr", attr, sizeof(*attr));
}

static void add_record(const struct perf_event_header *header)
{
	add("# type %u misc %#x size %u\n", header->type, header->misc, header->size);
	add_hex("record", header, header->size);
}

void report(const char *what, const struct event *event,
	    const struct perf_event_header *header)
{
	if (!is_new(what))
		return;
	add_where(what);
	add_event(event);
	add_record(header);
	print();
}

/* Of a record that can be any event's that has written to its ring */
void report_ring(const char *what, const struct ring *ring,
		 const struct perf_event_header *header)
{
	unsigned int i;

	if (!is_new(what))
		return;
	add_where(what);
	add_record(header);
	add("# in a ring of %zu bytes that %u events have written to:\n", ring->size,
	    ring->nr_events);
	for (i = 0; i < ring->nr_events; i++)
		add_event(ring->events[i]);
	print();
}

void report_text(const char *what, const char *more)
{
	if (!is_new(what))
		return;
	add_where(what);
	add("%s%s", more, *more ? "\n" : "");
	print();
}

static __u64 sum(unsigned int what)
{
	__u64 n = 0;
	unsigned int i;

	for (i = 0; i < NR_WORKERS; i++)
		n += shared->counts[i][what];
	return n;
}

static void print_by_worker(unsigned int nr, const char *const *names,
			    __u64 *(*row)(unsigned int index))
{
	unsigned int i, w;
	__u64 n;

	for (i = 0; i < nr; i++) {
		for (n = 0, w = 0; w < NR_WORKERS; w++)
			n += row(w)[i];
		if (n && names)
			add(" %s %llu", names[i], n);
		else if (n)
			add(" %s %llu", strerrorname_np(i), n);
	}
	add("\n");
}

static __u64 *opened(unsigned int w)
{
	return shared->opened[w];
}

static __u64 *refused(unsigned int w)
{
	return shared->refused[w];
}

void print_summary(void)
{
	add("# opened:");
	print_by_worker(NR_KINDS, kind_names, opened);
	add("# refused:");
	print_by_worker(134, NULL, refused);
	add("# summary: seed %#llx: %llu steps, %llu CPUs on or off, %llu events, %llu with SIMD,",
	    options.seed, sum(COUNT_STEP), shared->hotplugs, sum(COUNT_OPEN),
	    sum(COUNT_SIMD_OPEN));
	add(" %llu rings, %llu records, %llu samples, %llu with SIMD, %llu words known,",
	    sum(COUNT_RING), sum(COUNT_RECORD), sum(COUNT_SAMPLE), sum(COUNT_SIMD_SAMPLE),
	    sum(COUNT_EXACT));
	add(" %llu lost; findings %llu\n", sum(COUNT_LOST), shared->findings);
	print();
}
