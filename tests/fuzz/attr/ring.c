// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: mapped in all sizes, written by one event or several, forwards or backwards,
 * with a tail or overwritten. Each record is looked at once.
 *
 * A record that says by ID whose it is has to be as that event has them. One that does
 * not has to be as one of the events has them that ever wrote to its ring.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attr.h"

#define MEMBARRIER_GLOBAL	1

static __u64 copy[(1 << 16) / sizeof(__u64) + 1];

void event_put(struct event *event)
{
	if (event && !--event->users)
		free(event);
}

void ring_add(struct ring *ring, struct event *event)
{
	unsigned int i;

	for (i = 0; i < ring->nr_events; i++) {
		if (ring->events[i] == event)
			return;
	}
	if (ring->nr_events == MAX_SHARED)
		abort();
	event->users++;
	ring->events[ring->nr_events++] = event;
}

void ring_get(struct ring **to, struct ring *ring)
{
	ring->users++;
	*to = ring;
}

void ring_put(struct ring **from)
{
	struct ring *ring = *from;
	unsigned int i;

	*from = NULL;
	if (!ring || --ring->users)
		return;
	for (i = 0; i < ring->nr_events; i++)
		event_put(ring->events[i]);
	free(ring);
}

struct ring *ring_of(const struct slot *slot)
{
	return slot->output && slot->output->map ? slot->output : NULL;
}

/* Events that other slots have redirected to it then write nowhere. */
void ring_unmap(struct ring *ring)
{
	munmap(ring->map, ring->size + getpagesize());
	close(ring->fd);
	ring->map = NULL;
}

/* The AUX area, which few PMUs have */
static void map_aux(struct ring *ring, struct rand *r, size_t page)
{
	struct perf_event_mmap_page *control = ring->map;
	size_t size = page << below(r, 5);
	void *aux;

	control->aux_offset = ring->size + page;
	control->aux_size = size;
	aux = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
		   control->aux_offset);
	if (aux != MAP_FAILED && one_in(r, 2))
		munmap(aux, size);
}

void ring_map(struct slot *slot, struct rand *r)
{
	bool overwrite = one_in(r, slot->event->attr.write_backward ? 2 : 8);
	size_t page = getpagesize(), pages = 1UL << below(r, one_in(r, 4) ? 8 : 5);
	int prot = PROT_READ | (overwrite ? 0 : PROT_WRITE);
	struct ring *ring;
	void *map;

	/* Sizes that are none, or that are the control page alone */
	if (one_in(r, 16)) {
		pages = below(r, 8);
		map = mmap(NULL, page * pages, prot, MAP_SHARED, slot->fd, page * below(r, 2));
		if (map != MAP_FAILED)
			munmap(map, page * pages);
		return;
	}

	map = mmap(NULL, (1 + pages) * page, prot, MAP_SHARED, slot->fd, 0);
	if (map == MAP_FAILED)
		return;
	/* Mapped before, by this event or another that it writes to: it has a reader. */
	if (ring_of(slot)) {
		munmap(map, (1 + pages) * page);
		return;
	}
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		abort();
	ring->map = map;
	ring->size = pages * page;
	ring->overwrite = overwrite;
	ring->backward = slot->event->attr.write_backward;
	ring->fd = fcntl(slot->fd, F_DUPFD_CLOEXEC, 0);
	ring_add(ring, slot->event);
	ring_put(&slot->own);
	ring_put(&slot->output);
	ring_get(&slot->own, ring);
	ring_get(&slot->output, ring);
	count(COUNT_RING);
	if (!overwrite && one_in(r, 16))
		map_aux(ring, r, page);
}

/* NULL, or what is wrong with a record if it is one of @event's. */
static const char *check_as(const struct event *event, const struct perf_event_header *header)
{
	struct sample sample;
	const char *error;

	if (header->type != PERF_RECORD_SAMPLE)
		return parse_other(event, header);
	error = parse_sample(event, header, &sample);
	return error ?: judge(event, &sample);
}

static void check_record(struct ring *ring, const struct perf_event_header *header)
{
	const struct event *first = NULL;
	const char *error = NULL, *other;
	unsigned int i;

	count(COUNT_RECORD);
	if (header->type == PERF_RECORD_SAMPLE)
		count(COUNT_SAMPLE);
	for (i = 0; i < ring->nr_events; i++) {
		if (!parse_is_of(ring->events[i], header))
			continue;
		other = check_as(ring->events[i], header);
		if (!other)
			return;
		if (!first) {
			first = ring->events[i];
			error = other;
		}
	}
	if (first)
		report(error, first, header);
	else
		report_ring("of none of the events of this ring", ring, header);
}

/* Copies a record that may go over the end of the ring. */
static const struct perf_event_header *get_record(struct ring *ring, __u64 at, size_t size)
{
	const char *data = (const char *)ring->map + getpagesize();
	size_t pos = at & (ring->size - 1), first = ring->size - pos;

	if (first > size)
		first = size;
	memcpy(copy, data + pos, first);
	memcpy((char *)copy + first, data, size - first);
	return (const struct perf_event_header *)copy;
}

/*
 * The records from @begin to @end. If what is behind @end is no record that has been
 * read before but overwritten ones, the last can be cut off.
 */
static void check_range(struct ring *ring, __u64 begin, __u64 end, bool cut)
{
	const struct perf_event_header *header;

	while (begin != end) {
		header = get_record(ring, begin, sizeof(*header));
		if (header->size < sizeof(*header) || header->size % 8) {
			report_ring("a size that no record has", ring, header);
			return;
		}
		if (header->size > end - begin) {
			if (!cut)
				report_ring("goes over the end", ring, header);
			return;
		}
		begin += header->size;
		check_record(ring, get_record(ring, begin - header->size, header->size));
	}
}

/* Between a pause and its end nothing is written. */
static void pause_ring(struct ring *ring)
{
	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	/* Who is writing has preemption disabled, and is through after a grace period. */
	syscall(SYS_membarrier, MEMBARRIER_GLOBAL, 0, 0);
}

void ring_drain(struct ring *ring)
{
	struct perf_event_mmap_page *control = ring->map;
	__u64 head, nr;
	bool lost;

	if (ring->overwrite)
		pause_ring(ring);
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	nr = ring->backward ? ring->seen - head : head - ring->seen;
	lost = nr > ring->size;

	if (!ring->overwrite && lost)
		report_text("a ring has more records than it is long", "");
	else if (ring->backward)
		check_range(ring, head, lost ? head + ring->size : ring->seen, lost);
	else if (!lost)
		check_range(ring, ring->seen, head, false);

	ring->seen = head;
	if (ring->overwrite)
		ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	else
		__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}
