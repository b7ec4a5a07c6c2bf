// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random attributes, and where they are opened. Most are meant to open: an event that
 * is refused has tested little. In one of eight a bit is flipped afterwards.
 */
#include <asm/perf_regs.h>
#include <linux/const.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "attr.h"
#include "simd_regs_live.h"
#include "simd_regs_record.h"

const char * const kind_names[NR_KINDS] = {
	[KIND_HW] = "hardware", [KIND_PEBS] = "precise", [KIND_CACHE] = "cache",
	[KIND_RAW] = "raw", [KIND_CLOCK] = "clock", [KIND_SW] = "software",
	[KIND_TRACEPOINT] = "tracepoint", [KIND_KPROBE] = "kprobe",
	[KIND_UPROBE] = "uprobe", [KIND_BREAKPOINT] = "breakpoint",
	[KIND_PMU] = "pmu", [KIND_ANY] = "any",
};

#ifdef __aarch64__
#define GPRS		((1ULL << PERF_REG_ARM64_MAX) - 1)
#else
/* Without the segments that a 64-bit task does not have */
#define GPRS		((1ULL << PERF_REG_X86_64_MAX) - 1 - (0xfULL << PERF_REG_X86_DS))
#endif

#define SAMPLE_TYPES	((PERF_SAMPLE_WEIGHT_STRUCT << 1) - 1)

/* What needs hardware that is not there, or more than most events have */
#define SAMPLE_RARE	(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_AUX)

/* With no others records can wait in the hardware's buffer. */
#define SAMPLE_LARGE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | \
			 PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID | \
			 PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_INTR | \
			 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_PERIOD)

static pid_t draw_pid(struct rand *r, int *cpu)
{
	*cpu = one_in(r, 3) ? (int)below(r, env.nr_cpus + one_in(r, 16)) : -1;
	switch (below(r, 12)) {
	case 0 ... 3:
		return 0;
	case 4 ... 7:
		/* Nobody may look at nobody's. */
		return shared->targets[below(r, NR_TARGETS / 2) +
				       (!worker.root || one_in(r, 4)) * NR_TARGETS / 2];
	case 8:
		return shared->workers[below(r, NR_WORKERS)];
	case 9 ... 10:
		if (*cpu < 0)
			*cpu = below(r, env.nr_cpus);
		return -1;
	default:
		return one_in(r, 8) ? (pid_t)below(r, 1000) : 0;
	}
}

void make_place(struct rand *r, struct place *place)
{
	const struct slot *leader;
	unsigned int i, first = below(r, NR_SLOTS);

	*place = (struct place) { .group = -1 };
	place->pid = draw_pid(r, &place->cpu);
	place->flags = some_of(r, PERF_FLAG_FD_CLOEXEC, 2) | some_of(r, PERF_FLAG_FD_NO_GROUP, 24);
	if (env.cgroup >= 0 && one_in(r, 24)) {
		place->pid = env.cgroup;
		place->flags |= PERF_FLAG_PID_CGROUP;
		place->cpu = below(r, env.nr_cpus);
	}
	if (one_in(r, 3))
		return;
	for (i = 0; i < NR_SLOTS; i++) {
		leader = &worker.slots[(first + i) % NR_SLOTS];
		if (leader->fd < 0 || leader->event->flags & PERF_FLAG_PID_CGROUP ||
		    (!leader->leads && !one_in(r, 16)))
			continue;
		place->group = (first + i) % NR_SLOTS;
		place->flags &= ~PERF_FLAG_PID_CGROUP;
		place->pid = leader->event->pid;
		place->cpu = leader->event->cpu;
		if (leader->output && leader->output->nr_events < MAX_SHARED && one_in(r, 4))
			place->flags |= PERF_FLAG_FD_OUTPUT;
		break;
	}
}

static enum kind draw_kind(struct rand *r)
{
	static const enum kind kinds[] = {
		KIND_HW, KIND_HW, KIND_HW, KIND_HW, KIND_PEBS, KIND_PEBS, KIND_PEBS,
		KIND_CACHE, KIND_RAW, KIND_CLOCK, KIND_CLOCK, KIND_CLOCK, KIND_SW, KIND_SW,
		KIND_SW, KIND_TRACEPOINT, KIND_TRACEPOINT, KIND_KPROBE, KIND_UPROBE,
		KIND_BREAKPOINT, KIND_PMU, KIND_ANY,
	};

	return pick(r, kinds);
}

static void draw_breakpoint(struct rand *r, struct perf_event_attr *attr)
{
	static const __u8 types[] = { HW_BREAKPOINT_W, HW_BREAKPOINT_RW, HW_BREAKPOINT_X };

	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = pick(r, types);
	if (attr->bp_type == HW_BREAKPOINT_X) {
		attr->bp_addr = one_in(r, 2) ? (uintptr_t)probe_me : (uintptr_t)simd_live_begin;
		attr->bp_len = sizeof(long);
#ifdef __aarch64__
		attr->bp_len = 4;
#endif
	} else {
		attr->bp_addr = (uintptr_t)&watched_word;
		attr->bp_len = 1 << below(r, 4);
	}
}

static void draw_probe(struct rand *r, struct perf_event_attr *attr, enum kind kind)
{
	static const char * const functions[] = {
		"ksys_read", "do_exit", "do_nanosleep", "vfs_write", "__schedule",
		"handle_mm_fault", "no_such_function",
	};

	attr->config = one_in(r, 4);	/* where it returns */
	if (kind == KIND_KPROBE) {
		attr->type = env.kprobe;
		attr->kprobe_func = (uintptr_t)pick(r, functions);
	} else {
		attr->type = env.uprobe;
		attr->uprobe_path = (uintptr_t)env.program;
		attr->probe_offset = env.probe_offset;
		/*
		 * No return probe where no function begins: it replaces what lies where
		 * a return address would.
		 */
		if (!attr->config && one_in(r, 3))
			attr->probe_offset = env.live_offset;
	}
}

/* The type and what it counts */
static void draw_config(struct rand *r, struct perf_event_attr *attr, enum kind kind)
{
	switch (kind) {
	case KIND_HW:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = one_in(r, 3) ? below(r, PERF_COUNT_HW_MAX) : below(r, 2);
		break;
	case KIND_PEBS:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = below(r, 2);
		attr->precise_ip = 1 + below(r, 3);
		break;
	case KIND_CACHE:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = below(r, 7) | below(r, 3) << 8 | below(r, 2) << 16;
		break;
	case KIND_RAW:
		attr->type = PERF_TYPE_RAW;
		/* Event, mask, edge and such */
		attr->config = (rand64(r) & 0xffff) |
			       (one_in(r, 4) ? rand64(r) & 0xffcc0000 : 0);
		break;
	case KIND_CLOCK:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = below(r, 2);
		break;
	case KIND_SW:
		attr->type = PERF_TYPE_SOFTWARE;
		/* Several of the same kind get their samples from the same hit. */
		attr->config = one_in(r, 2) ? PERF_COUNT_SW_PAGE_FAULTS :
			       2 + below(r, PERF_COUNT_SW_MAX - 1);
		break;
	case KIND_TRACEPOINT:
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = env.nr_tracepoints ?
			       env.tracepoints[below(r, env.nr_tracepoints)] : 1;
		break;
	case KIND_KPROBE:
	case KIND_UPROBE:
		draw_probe(r, attr, kind);
		break;
	case KIND_BREAKPOINT:
		draw_breakpoint(r, attr);
		break;
	case KIND_PMU:
		attr->type = env.nr_pmus ? env.pmus[below(r, env.nr_pmus)].type : 0;
		attr->config = rand64(r) & (one_in(r, 2) ? 0xff : 0xffff);
		break;
	default:
		attr->type = below(r, 32);
		attr->config = rand64(r) & (one_in(r, 2) ? 0xff : ~0ULL);
		break;
	}
}

/*
 * An emulated interrupt takes long. Periods are not so short that nothing else runs:
 * whoever wants to stop a machine that way needs no fuzzer.
 */
static void draw_period(struct rand *r, struct perf_event_attr *attr, enum kind kind)
{
	bool software = attr->type == PERF_TYPE_SOFTWARE && attr->config > 1;
	bool clock = attr->type == PERF_TYPE_SOFTWARE && attr->config <= 1;

	attr->freq = attr->type != PERF_TYPE_BREAKPOINT && one_in(r, 4);
	if (attr->freq)
		attr->sample_freq = scaled(r, 10, 2000);
	else if (software || attr->type == PERF_TYPE_BREAKPOINT)
		attr->sample_period = one_in(r, 2) ? 1 : scaled(r, 1, 100);
	else if (attr->type == PERF_TYPE_TRACEPOINT || attr->type == env.kprobe ||
		 attr->type == env.uprobe)
		attr->sample_period = scaled(r, 1, 1000);
	else if (clock)
		attr->sample_period = scaled(r, 300000, 5000000) | 1;
	else if (kind == KIND_PEBS)
		attr->sample_period = scaled(r, 4000, 200000) | 1;	/* many an interrupt */
	else
		attr->sample_period = scaled(r, 20000, 1000000) | 1;
	if (one_in(r, 12))
		attr->sample_period = 0;
}

static __u64 draw_sample_type(struct rand *r, enum kind kind)
{
	__u64 type;

	/* Few, some, or many */
	if (kind == KIND_PEBS && one_in(r, 2))
		type = some_of(r, SAMPLE_LARGE, 2);
	else
		type = some_of(r, SAMPLE_TYPES & ~SAMPLE_RARE, 2 << below(r, 3));
	if (!one_in(r, 4))
		type |= one_in(r, 2) ? PERF_SAMPLE_REGS_INTR : PERF_SAMPLE_REGS_USER;
	if (one_in(r, 4))
		type |= PERF_SAMPLE_READ;
	if (one_in(r, 2))
		type |= PERF_SAMPLE_IDENTIFIER;
	if (one_in(r, 2))
		type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	type |= some_of(r, SAMPLE_RARE, 24);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		type &= ~PERF_SAMPLE_WEIGHT;
	return type;
}

static __u64 draw_regs(struct rand *r)
{
	__u64 regs = some_of(r, GPRS, 1 << below(r, 5)) | (one_in(r, 2) ? SIMD_MARKER_REGS : 0);

#ifndef __aarch64__
	/* XMM by the old bits */
	if (one_in(r, 8))
		regs |= some_of(r, PERF_REG_EXTENDED_MASK, 1 << below(r, 4));
#endif
	return regs;
}

static void draw_sizes(struct rand *r, struct perf_event_attr *attr)
{
	attr->sample_regs_user = draw_regs(r);
	attr->sample_regs_intr = draw_regs(r);
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		attr->sample_stack_user = one_in(r, 8) ? 8 * below(r, 8192) :
					  one_in(r, 8) ? 0 : 8 * scaled(r, 1, 200);
	/* With what is behind it this is more than a record can have. */
	if (attr->sample_stack_user && one_in(r, 6))
		attr->sample_stack_user = 65528 - 8 * below(r, 100);
	if (one_in(r, 4))
		attr->sample_max_stack = 1 + below(r, 127);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		attr->branch_sample_type = some_of(r, 0xfffff, 4) | PERF_SAMPLE_BRANCH_ANY;
	if (attr->sample_type & PERF_SAMPLE_AUX)
		attr->aux_sample_size = 8 * below(r, 1024);
}

/* Each of the switches that is a bit */
static void draw_bits(struct rand *r, struct perf_event_attr *attr)
{
	attr->disabled = one_in(r, 4);
	attr->inherit = one_in(r, 4);
	attr->pinned = one_in(r, 10);
	attr->exclusive = one_in(r, 24);
	attr->exclude_user = one_in(r, 10);
	attr->exclude_kernel = worker.root ? one_in(r, 2) : !one_in(r, 16);
	attr->exclude_hv = one_in(r, 8);
	attr->exclude_idle = one_in(r, 10);
	attr->mmap = one_in(r, 4);
	attr->comm = one_in(r, 4);
	attr->inherit_stat = one_in(r, 10);
	attr->enable_on_exec = one_in(r, 12);
	attr->task = one_in(r, 4);
	attr->watermark = one_in(r, 3);
	attr->mmap_data = one_in(r, 10);
	attr->sample_id_all = !one_in(r, 4);
	attr->exclude_host = one_in(r, 40);
	attr->exclude_guest = one_in(r, 10);
	attr->exclude_callchain_kernel = one_in(r, 6);
	attr->exclude_callchain_user = one_in(r, 6);
	attr->mmap2 = one_in(r, 6);
	attr->comm_exec = one_in(r, 6);
	attr->use_clockid = one_in(r, 12);
	attr->context_switch = one_in(r, 8);
	attr->write_backward = one_in(r, 8);
	attr->namespaces = worker.root && one_in(r, 10);
	attr->ksymbol = worker.root && one_in(r, 10);
	attr->bpf_event = worker.root && one_in(r, 10);
	attr->aux_output = one_in(r, 100);
	attr->cgroup = one_in(r, 10);
	attr->text_poke = worker.root && one_in(r, 16);
	attr->build_id = one_in(r, 10);
	attr->inherit_thread = attr->inherit && one_in(r, 10);
	attr->remove_on_exec = !attr->enable_on_exec && one_in(r, 10);
	attr->sigtrap = one_in(r, 24);
	attr->defer_callchain = one_in(r, 16);
	attr->defer_output = one_in(r, 16);
}

static void draw_rest(struct rand *r, struct perf_event_attr *attr)
{
	static const __s32 clocks[] = {
		CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI,
	};

	if (attr->use_clockid)
		attr->clockid = pick(r, clocks);
	if (attr->sigtrap) {
		attr->remove_on_exec = 1;
		attr->enable_on_exec = 0;
		attr->sig_data = rand64(r);
	}
	if (attr->watermark)
		attr->wakeup_watermark = below(r, 4) * 4096;
	else
		attr->wakeup_events = one_in(r, 2) ? 0 : below(r, 8);
	attr->read_format = some_of(r, 0x1f, 3);
	if (one_in(r, 3))
		attr->read_format |= PERF_FORMAT_GROUP;
	if (one_in(r, 32))
		attr->config3 = rand64(r) & 0xff;
}

static __u32 draw_size(struct rand *r)
{
	static const __u16 sizes[] = {
		0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 176, 184, 192, 256,
	};

	switch (below(r, 16)) {
	case 0:
		return below(r, 320);
	case 1 ... 3:
		return pick(r, sizes);
	default:
		return PERF_ATTR_SIZE_VER10;
	}
}

/*
 * A signal at a hit ends a task that does not know of it. And whatever else says so,
 * an address in the kernel is not watched.
 */
static void keep_harmless(struct perf_event_attr *attr, const struct place *place)
{
	if (place->pid)
		attr->sigtrap = 0;
	if (attr->type == PERF_TYPE_BREAKPOINT)
		attr->bp_addr &= ~0ULL >> 16;
}

void make_attr(struct rand *r, struct image *image, const struct place *place)
{
	struct perf_event_attr *attr = &image->attr;
	const struct perf_event_attr *leader;

	memset(image, 0, sizeof(*image));
	image->kind = draw_kind(r);
	/* While a sample is written, others of its group are read. */
	if (place->leads && one_in(r, 2))
		image->kind = one_in(r, 2) ? KIND_HW : KIND_CLOCK;
	else if (place->group >= 0 && one_in(r, 2))
		image->kind = KIND_PEBS;
	attr->size = draw_size(r);
	draw_config(r, attr, image->kind);
	draw_period(r, attr, image->kind);
	attr->sample_type = draw_sample_type(r, image->kind);
	if (image->kind == KIND_PEBS && one_in(r, 2))
		attr->freq = 0;
	draw_sizes(r, attr);
	draw_bits(r, attr);
	draw_rest(r, attr);
	if (!one_in(r, 3))
		make_simd(r, attr);

	if (place->leads && one_in(r, 2)) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_GROUP;
	}
	/* Whose count it is has to be said. */
	if (attr->inherit && attr->sample_type & PERF_SAMPLE_READ && !one_in(r, 8))
		attr->sample_type |= PERF_SAMPLE_TID;
	if (place->group >= 0) {
		leader = &worker.slots[place->group].event->attr;
		attr->use_clockid = leader->use_clockid;
		attr->clockid = leader->clockid;
		attr->inherit = leader->inherit;
		attr->write_backward = leader->write_backward;
		attr->pinned = 0;
		attr->exclusive = 0;
	}
	if (one_in(r, 8))
		image->bytes[below(r, attr->size < 176 ? 176 : 256)] ^= 1 << below(r, 8);
	keep_harmless(attr, place);
}
