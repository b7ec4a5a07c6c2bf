// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a worker does, one step after the other: open an event, map its ring, redirect
 * it, any ioctl, read it, close it; do something that is sampled; look at the records.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attr.h"

struct worker worker;

static struct slot *any_slot(struct rand *r, bool open)
{
	unsigned int i, first = below(r, NR_SLOTS);

	for (i = 0; i < NR_SLOTS; i++) {
		struct slot *slot = &worker.slots[(first + i) % NR_SLOTS];

		if ((slot->fd >= 0) == open)
			return slot;
	}
	return NULL;
}

static void drop_orphan(struct ring **orphan)
{
	ring_drain(*orphan);
	ring_unmap(*orphan);
	ring_put(orphan);
}

/* The ring goes before the file, after it, or stays for a while. */
static void close_slot(struct slot *slot, struct rand *r)
{
	struct ring **orphan = &worker.orphans[below(r, NR_ORPHANS)];
	struct ring *own = slot->own;
	bool later = own && one_in(r, 4), first = one_in(r, 2);

	if (later) {
		if (*orphan)
			drop_orphan(orphan);
		ring_get(orphan, own);
	} else if (own && first) {
		ring_drain(own);
		ring_unmap(own);
	}
	close(slot->fd);
	if (own && !later && !first) {
		ring_drain(own);
		ring_unmap(own);
	}
	ring_put(&slot->own);
	ring_put(&slot->output);
	event_put(slot->event);
	slot->event = NULL;
	slot->fd = -1;
}

static void redirect(struct slot *slot, struct ring *ring)
{
	ring_add(ring, slot->event);
	ring_put(&slot->output);
	ring_get(&slot->output, ring);
}

/* What the kernel takes of an attribute: what is behind its size is zero. */
static void take_attr(struct event *event, const struct image *image)
{
	__u32 size = image->attr.size ?: PERF_ATTR_SIZE_VER0;

	memset(&event->attr, 0, sizeof(event->attr));
	memcpy(&event->attr, image, size < sizeof(event->attr) ? size : sizeof(event->attr));
}

/* Opens an event in @slot; of the group that place->group leads, if there is one. */
static bool open_slot(struct rand *r, struct slot *slot, const struct place *place)
{
	struct slot *leader = place->group >= 0 ? &worker.slots[place->group] : NULL;
	struct image image;
	struct event *event;
	int fd;

	make_attr(r, &image, place);

	slab_fail(r);
	fd = syscall(SYS_perf_event_open, &image, place->pid, place->cpu,
		     leader ? leader->fd : -1, place->flags);
	slab_end();
	if (fd < 0) {
		shared->refused[worker.index][errno < 134 ? errno : 0]++;
		return false;
	}

	event = calloc(1, sizeof(*event));
	if (!event)
		abort();
	take_attr(event, &image);
	event->kind = image.kind;
	event->pid = place->flags & PERF_FLAG_PID_CGROUP ? -1 : place->pid;
	event->cpu = place->cpu;
	event->flags = place->flags;
	event->step = worker.step;
	event->users = 1;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &event->id))
		report_text("an event without an ID", strerror(errno));
	slot->fd = fd;
	slot->leads = !leader || place->flags & PERF_FLAG_FD_NO_GROUP;
	slot->event = event;
	count(COUNT_OPEN);
	if (event->attr.sample_simd_regs_enabled)
		count(COUNT_SIMD_OPEN);
	shared->opened[worker.index][image.kind]++;
	if (place->flags & PERF_FLAG_FD_OUTPUT && leader && ring_of(leader))
		redirect(slot, ring_of(leader));

	slab_fail(r);
	if (!one_in(r, 4))
		ring_map(slot, r);
	slab_end();
	if (!one_in(r, 4))
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return true;
}

/* One event, or one and at once what is of its group: they are on a CPU together. */
static void step_open(struct rand *r)
{
	unsigned int siblings = one_in(r, 3) ? 1 + below(r, 3) : 0;
	struct slot *slot = any_slot(r, false);
	struct place place;

	if (!slot) {
		slot = any_slot(r, true);
		close_slot(slot, r);
	}
	make_place(r, &place);
	place.leads = siblings;
	if (siblings)
		place.group = -1;
	if (!open_slot(r, slot, &place))
		return;
	place.group = slot - worker.slots;
	place.leads = false;
	while (siblings--) {
		slot = any_slot(r, false);
		if (slot)
			open_slot(r, slot, &place);
	}
}

static void set_output(struct rand *r, struct slot *slot)
{
	struct slot *to = any_slot(r, true);
	struct ring *ring = ring_of(to);

	if (one_in(r, 8)) {
		if (!ioctl(slot->fd, PERF_EVENT_IOC_SET_OUTPUT, -1L))
			ring_put(&slot->output);
		return;
	}
	if (to == slot || (ring && ring->nr_events == MAX_SHARED))
		return;
	if (!ioctl(slot->fd, PERF_EVENT_IOC_SET_OUTPUT, to->fd) && ring)
		redirect(slot, ring);
}

static void set_filter(struct rand *r, struct slot *slot)
{
	static const char * const filters[] = {
		"common_pid != 1", "common_pid == 0", "common_preempt_count > 0", "no such",
		"start 0x1000/0x1000", "",
	};

	ioctl(slot->fd, PERF_EVENT_IOC_SET_FILTER, pick(r, filters));
}

/* Only breakpoints can be changed, and only in what they watch. */
static void modify(struct rand *r, struct slot *slot)
{
	struct perf_event_attr attr = slot->event->attr;

	attr.size = sizeof(attr);
	attr.disabled = one_in(r, 2);
	if (one_in(r, 2) && attr.type == PERF_TYPE_BREAKPOINT)
		attr.bp_len = 1 << below(r, 4);
	ioctl(slot->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

static void step_ioctl(struct rand *r)
{
	unsigned long group = one_in(r, 3) ? PERF_IOC_FLAG_GROUP : 0;
	struct slot *slot = any_slot(r, true);
	__u32 ids[10] = { 8 };
	__u64 word;

	if (!slot)
		return;
	slab_fail(r);
	switch (below(r, 16)) {
	case 0 ... 3:
		ioctl(slot->fd, PERF_EVENT_IOC_ENABLE, group);
		break;
	case 4:
		ioctl(slot->fd, PERF_EVENT_IOC_DISABLE, group);
		break;
	case 5:
		ioctl(slot->fd, PERF_EVENT_IOC_REFRESH, below(r, 20));
		break;
	case 6:
		ioctl(slot->fd, PERF_EVENT_IOC_RESET, group);
		break;
	case 7:
		word = slot->event->attr.freq ? scaled(r, 10, 2000) : scaled(r, 20000, 1000000);
		ioctl(slot->fd, PERF_EVENT_IOC_PERIOD, &word);
		break;
	case 8 ... 10:
		set_output(r, slot);
		break;
	case 11:
		set_filter(r, slot);
		break;
	case 12:
		word = bpf_program(r);
		if ((int)word >= 0)
			ioctl(slot->fd, PERF_EVENT_IOC_SET_BPF, (int)word);
		bpf_set_event(below(r, 8), slot->fd);
		break;
	case 13:
		ioctl(slot->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, one_in(r, 4));
		break;
	case 14:
		ioctl(slot->fd, PERF_EVENT_IOC_QUERY_BPF, ids);
		break;
	case 15:
		modify(r, slot);
		break;
	}
	slab_end();
}

static void step_read(struct rand *r)
{
	struct slot *slot = any_slot(r, true);
	struct cursor c = { };
	__u64 words[512];
	ssize_t n;

	if (!slot)
		return;
	n = read(slot->fd, words, 8 * (1 + below(r, one_in(r, 4) ? 8 : 511)));
	if (n <= 0)
		return;
	c.at = words;
	c.end = words + n / 8;
	parse_read(&c, &slot->event->attr);
	expect(&c, n % 8 == 0 && c.at == c.end, "read() gives more than its fields");
	if (c.error)
		report_text(c.error, "of what read() gives");
}

static void step_drain(struct rand *r)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++) {
		if (worker.slots[i].fd >= 0 && worker.slots[i].own)
			ring_drain(worker.slots[i].own);
	}
	for (i = 0; i < NR_ORPHANS; i++) {
		if (!worker.orphans[i])
			continue;
		if (one_in(r, 4))
			drop_orphan(&worker.orphans[i]);
		else
			ring_drain(worker.orphans[i]);
	}
}

static void step_other(struct rand *r)
{
	struct slot *slot = any_slot(r, true);
	cpu_set_t set;
	struct pollfd p = { .events = POLLIN };
	unsigned int i;

	switch (below(r, 4)) {
	case 0:
		prctl(one_in(r, 2) ? PR_TASK_PERF_EVENTS_DISABLE : PR_TASK_PERF_EVENTS_ENABLE);
		break;
	case 1:
		CPU_ZERO(&set);
		for (i = 0; i < env.nr_cpus; i++) {
			if (one_in(r, 2))
				CPU_SET(i, &set);
		}
		sched_setaffinity(0, sizeof(set), &set);
		break;
	case 2:
		if (!slot)
			break;
		fcntl(slot->fd, F_SETOWN, getpid());
		fcntl(slot->fd, F_SETFL, one_in(r, 2) ? O_ASYNC : 0);
		break;
	case 3:
		p.fd = slot ? slot->fd : -1;
		poll(&p, 1, below(r, 3));
		break;
	}
}

static void step(struct rand *r)
{
	switch (below(r, 20)) {
	case 0 ... 4:
		step_open(r);
		break;
	case 5:
		if (any_slot(r, true))
			close_slot(any_slot(r, true), r);
		break;
	case 6 ... 9:
		step_ioctl(r);
		break;
	case 10:
		step_read(r);
		break;
	case 11:
		step_other(r);
		break;
	case 12 ... 13:
		step_drain(r);
		break;
	default:
		burst(r);
		break;
	}
}

static void become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(2);
	prctl(PR_SET_DUMPABLE, 1);
}

void run_worker(unsigned int index)
{
	unsigned int i;

	worker.index = index;
	worker.root = index < NR_WORKERS / 2;
	for (i = 0; i < NR_SLOTS; i++)
		worker.slots[i].fd = -1;
	slab_init();
	if (worker.root)
		bpf_init();
	else
		become_nobody();
	burst_init();

	for (i = 0; !stopped() && (!options.steps || i < options.steps); i++) {
		worker.step = i;
		worker.rand = rand_of_step(options.seed, index, i);
		step(&worker.rand);
		count(COUNT_STEP);
		__atomic_store_n(&shared->steps_done[index], i, __ATOMIC_RELAXED);
	}
	for (i = 0; i < NR_SLOTS; i++) {
		if (worker.slots[i].fd >= 0)
			close_slot(&worker.slots[i], &worker.rand);
	}
	for (i = 0; i < NR_ORPHANS; i++) {
		if (worker.orphans[i])
			drop_orphan(&worker.orphans[i]);
	}
}
