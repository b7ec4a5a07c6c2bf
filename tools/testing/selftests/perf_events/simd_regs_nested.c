// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of samples that are taken while another one is prepared or
 * written: reading a precise event drains its records, and that happens when the
 * values of a group are written, or when a BPF program reads the event. A BPF
 * program can also write to an event that samples registers itself, and a
 * breakpoint can be hit in what writes a sample.
 *
 * The outer event asks for other registers than the inner one. Every record has
 * to be as long as its parts, and each value its own event's.
 *
 * There is a place for a few samples at a time. One that is not written after all
 * has to give its place back, too, or the next ones have no registers.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>
#include <time.h>

#include "kselftest_harness.h"
#include "simd_regs_bpf.h"
#include "simd_regs_expect.h"
#include "simd_regs_pattern.h"

/*
 * A breakpoint at an instruction of the kernel. To perf its context is that of an NMI on
 * x86, and the one that it was hit in on arm64: no registers are saved for its sample.
 */
#ifdef __aarch64__
#define BREAKPOINT_LEN		HW_BREAKPOINT_LEN_4
#define BREAKPOINT_MAY_LACK	true
#else
#define BREAKPOINT_LEN		sizeof(long)
#define BREAKPOINT_MAY_LACK	false
#endif

/* What makes the inner event sample */
enum nesting {
	BY_READ,		/* PERF_SAMPLE_READ of the group */
	BY_BPF_READ,		/* bpf_perf_event_read_value() */
	BY_BPF_OUTPUT,		/* bpf_perf_event_output() */
	BY_BREAKPOINT,		/* at the function that writes a sample; none in an NMI */
};

struct kind {
	enum nesting by;
	bool clock;		/* else instructions, or what counts as such */
	bool outer_is_wider;
	bool shared;		/* one ring buffer for both */
	bool backward;
};

struct nest {
	struct simd_run *run;		/* of the outer event */
	struct perf_event_attr inner_attr;
	struct simd_check inner_check;
	struct simd_event inner;
	__u64 inner_id;
	int prog, map;
};

FIXTURE(nested)
{
	struct nest *nest;
};

FIXTURE_VARIANT(nested)
{
	struct kind kind;
};

FIXTURE_VARIANT_ADD(nested, pmi)
{
	.kind = { .by = BY_READ },
};

FIXTURE_VARIANT_ADD(nested, clock)
{
	.kind = { .by = BY_READ, .clock = true },
};

FIXTURE_VARIANT_ADD(nested, pmi_wider)
{
	.kind = { .by = BY_READ, .outer_is_wider = true },
};

FIXTURE_VARIANT_ADD(nested, clock_wider)
{
	.kind = { .by = BY_READ, .clock = true, .outer_is_wider = true },
};

FIXTURE_VARIANT_ADD(nested, pmi_shared)
{
	.kind = { .by = BY_READ, .shared = true },
};

FIXTURE_VARIANT_ADD(nested, clock_shared)
{
	.kind = { .by = BY_READ, .clock = true, .shared = true },
};

FIXTURE_VARIANT_ADD(nested, pmi_backward)
{
	.kind = { .by = BY_READ, .backward = true },
};

FIXTURE_VARIANT_ADD(nested, clock_shared_backward)
{
	.kind = { .by = BY_READ, .clock = true, .shared = true, .backward = true },
};

FIXTURE_VARIANT_ADD(nested, pmi_bpf)
{
	.kind = { .by = BY_BPF_READ },
};

FIXTURE_VARIANT_ADD(nested, clock_bpf)
{
	.kind = { .by = BY_BPF_READ, .clock = true },
};

FIXTURE_VARIANT_ADD(nested, pmi_bpf_wider)
{
	.kind = { .by = BY_BPF_READ, .outer_is_wider = true },
};

FIXTURE_VARIANT_ADD(nested, pmi_bpf_output)
{
	.kind = { .by = BY_BPF_OUTPUT },
};

FIXTURE_VARIANT_ADD(nested, clock_bpf_output)
{
	.kind = { .by = BY_BPF_OUTPUT, .clock = true },
};

FIXTURE_VARIANT_ADD(nested, clock_bpf_output_shared)
{
	.kind = { .by = BY_BPF_OUTPUT, .clock = true, .outer_is_wider = true, .shared = true },
};

FIXTURE_VARIANT_ADD(nested, clock_breakpoint)
{
	.kind = { .by = BY_BREAKPOINT, .clock = true },
};

FIXTURE_VARIANT_ADD(nested, clock_breakpoint_wider)
{
	.kind = { .by = BY_BREAKPOINT, .clock = true, .outer_is_wider = true },
};

static bool uses_bpf(const struct kind *kind)
{
	return kind->by == BY_BPF_READ || kind->by == BY_BPF_OUTPUT;
}

/* A single narrow register, or all that the CPU has; what is recorded is XMM. */
static void ask(struct perf_event_attr *attr, bool wide, bool inner)
{
	if (!wide)
		simd_attr_vectors(attr, 2, 1, 1);
	else if (inner)
		simd_attr_vectors(attr, 2, 0xffff, 0xffff);
	else
		simd_attr_parts(attr, simd_class_find("all")->parts);
}

static struct perf_event_attr base_attr(const struct kind *kind)
{
	struct perf_event_attr attr = kind->clock ? simd_clock_attr() :
						       simd_cycles_attr();

	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr.exclude_kernel = 1;
	attr.write_backward = kind->backward;
	return attr;
}

static struct perf_event_attr outer_attr(const struct kind *kind)
{
	struct perf_event_attr attr = base_attr(kind);

#ifndef __aarch64__
	if (!kind->clock) {
		simd_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
		attr.sample_period = attr.sample_period * 2 / 5;
	}
#endif
	if (kind->by == BY_READ) {
		attr.sample_type |= PERF_SAMPLE_READ;
		attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	}
	ask(&attr, kind->outer_is_wider, false);
	return attr;
}

/* Where the registers of a sample have been found, and nothing of it is written yet */
static __u64 writing_function(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	__u64 address, found = 0;
	char name[128];

	if (!file)
		return 0;
	while (!found && fscanf(file, "%llx %*c %127s%*[^\n]", &address, name) == 2) {
		if (!strcmp(name, "perf_output_sample"))
			found = address;
	}
	fclose(file);
	return found;
}

static struct perf_event_attr inner_attr(const struct kind *kind)
{
	struct perf_event_attr attr = base_attr(kind);

	attr.disabled = 0;
	if (kind->by == BY_BPF_OUTPUT) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_BPF_OUTPUT;
		attr.sample_period = 1;
	} else if (kind->by == BY_BREAKPOINT) {
		attr.type = PERF_TYPE_BREAKPOINT;
		attr.bp_type = HW_BREAKPOINT_X;
		attr.bp_addr = writing_function();
		attr.bp_len = BREAKPOINT_LEN;
		attr.sample_period = 1;
		attr.exclude_kernel = 0;
	} else {
		/* With a fixed period and no wakeups, records wait in the buffer. */
		simd_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
		attr.sample_period = simd_cycles_attr().sample_period / 20 + 9;
		attr.precise_ip = 2;
		attr.watermark = 1;
		attr.wakeup_watermark = 1 << 20;
	}
	ask(&attr, !kind->outer_is_wider, true);
	return attr;
}

FIXTURE_SETUP(nested)
{
	struct nest *nest;
	int fd;

	if (geteuid())
		SKIP(return, "needs root");
	nest = calloc(1, sizeof(*nest));
	ASSERT_NE(NULL, nest);
	self->nest = nest;
	nest->map = -1;
	nest->prog = -1;
	nest->inner_attr = inner_attr(&variant->kind);
	if (variant->kind.by == BY_BREAKPOINT && !nest->inner_attr.bp_addr)
		SKIP(return, "perf_output_sample is not in /proc/kallsyms");
	if (variant->kind.by == BY_BREAKPOINT)
		fd = simd_perf_event_open(&nest->inner_attr, -1, simd_test_cpu(), -1);
	else
		fd = simd_perf_event_open(&nest->inner_attr, 0, -1, -1);
	if (fd < 0)
		SKIP(return, "no such inner event: %s", strerror(errno));
	close(fd);
	nest->run = simd_run_new(SIMD_EACH_TASK, variant->kind.by != BY_READ, 2);
	nest->run->attr = outer_attr(&variant->kind);
}

FIXTURE_TEARDOWN(nested)
{
	if (!self->nest)
		return;
	simd_run_free(self->nest->run);
	free(self->nest);
}

/* The program of the outer event, that makes the inner one sample */
static int attach_program(struct nest *nest, bool output)
{
	int err;

	nest->prog = output ? simd_bpf_output_prog(nest->map) :
			      simd_bpf_read_prog(nest->map);
	if (nest->prog < 0)
		return nest->prog;
	err = ioctl(nest->run->events[0].fd, PERF_EVENT_IOC_SET_BPF, nest->prog);
	return err ? -errno : 0;
}

static int open_inner(struct nest *nest, const struct kind *kind)
{
	struct simd_event *outer = &nest->run->events[0];
	pid_t pid = nest->run->workers[0].pid;

	/* One of a task can't be in arm64's kernel. */
	if (kind->by == BY_BREAKPOINT)
		return simd_event_open(&nest->inner, &nest->inner_attr, -1, simd_test_cpu(),
				       NULL);
	if (!kind->shared)
		return simd_event_open(&nest->inner, &nest->inner_attr, pid, -1,
				       kind->by == BY_READ ? outer : NULL);

	nest->inner.fd = simd_perf_event_open(&nest->inner_attr, pid, -1,
					      kind->by == BY_READ ? outer->fd : -1);
	if (nest->inner.fd < 0)
		return -errno;
	return ioctl(nest->inner.fd, PERF_EVENT_IOC_SET_OUTPUT, outer->fd) ? -errno : 0;
}

/* In a ring buffer of both, the ID says whose a sample is. */
static void judge(const struct perf_event_header *header, void *arg)
{
	struct nest *nest = arg;
	const __u64 *id = (const __u64 *)(header + 1);

	if (header->type == PERF_RECORD_SAMPLE && *id == nest->inner_id)
		simd_check_record(header, &nest->inner_check);
	else
		simd_check_record(header, &nest->run->check);
}

static void drain(struct nest *nest)
{
	simd_event_drain(&nest->run->events[0], judge, nest);
	if (nest->inner.map)
		simd_event_drain(&nest->inner, judge, nest);
}

TEST_F_TIMEOUT(nested, values, SIMD_TEST_SECONDS)
{
	struct nest *nest = self->nest;
	struct simd_run *run = nest->run;
	struct simd_worker *w = simd_run_add(run, 0x4900, 0);
	time_t end = time(NULL) + SIMD_LOOP_SECONDS;
	const struct simd_count *n = &run->check.n, *inner = &nest->inner_check.n;
	unsigned long min_inner = run->min_samples / 4;
	int err;

	/* The registers change often: those of another moment are wrong. */
	w->spin = 1000;
	w->rounds = 2;
	if (!start_run(_metadata, run))
		return;
	nest->inner_check.attr = &nest->inner_attr;
	nest->inner_check.privileged = run->privileged;
	simd_check_add_task(&nest->inner_check, w->pid, SIMD_FAMILY(w->seed));
	err = open_inner(nest, &variant->kind);
	ASSERT_EQ(0, err)
		TH_LOG("inner event: %s", strerror(-err));
	/* A clock is off again once the PMU's event is in its group. */
	ASSERT_EQ(0, simd_event_enable(&run->events[0]));
	ASSERT_EQ(0, ioctl(nest->inner.fd, PERF_EVENT_IOC_ID, &nest->inner_id));
	if (uses_bpf(&variant->kind)) {
		nest->map = simd_bpf_event_map(nest->inner.fd);
		if (nest->map < 0) {
			simd_run_stop(run);
			SKIP(return, "no BPF: %s", strerror(-nest->map));
		}
		err = attach_program(nest, variant->kind.by == BY_BPF_OUTPUT);
		ASSERT_EQ(0, err)
			TH_LOG("BPF program: %s", strerror(-err));
	}

	/* The outer one has sampled for some time before it had its program. */
	while ((n->marked[0] + n->malformed < run->min_samples ||
		inner->samples[0] + inner->samples[1] < min_inner) && time(NULL) < end) {
		usleep(5000);
		drain(nest);
	}
	simd_event_disable(&run->events[0]);
	simd_event_disable(&nest->inner);
	drain(nest);
	EXPECT_EQ(0, simd_run_stop(run));

	expect_clean(_metadata, &run->check, "nested: outer");
	/* What cannot be told any more is absent. */
	if (variant->kind.by == BY_BPF_OUTPUT)
		nest->inner_check.may_lack = inner->samples[0];
	if (variant->kind.by == BY_BREAKPOINT)
		nest->inner_check.kernel_may_lack = BREAKPOINT_MAY_LACK;
	expect_clean(_metadata, &nest->inner_check, "nested: inner");
	EXPECT_GE(n->marked[0], run->min_samples);
	EXPECT_GE(inner->samples[0] + inner->samples[1], min_inner);
}

/* So many samples at least are lost or dropped */
#define UNWRITTEN	100

FIXTURE(unwritten)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(unwritten)
{
	bool cycles;
};

FIXTURE_VARIANT_ADD(unwritten, clock)
{
};

FIXTURE_VARIANT_ADD(unwritten, cycles)
{
	.cycles = true,
};

FIXTURE_SETUP(unwritten)
{
	struct simd_run *run;

	if (geteuid())
		SKIP(return, "needs root");
	run = simd_run_new(SIMD_EACH_TASK, true, 2);
	self->run = run;
	if (variant->cycles)
		simd_run_use_cycles(run);
	run->attr.read_format = PERF_FORMAT_LOST;
	simd_run_add(run, 0x4a00, 0);
}

FIXTURE_TEARDOWN(unwritten)
{
	simd_run_free(self->run);
}

struct unwritten_count {
	__u64 value, lost;
};

TEST_F_TIMEOUT(unwritten, output_paused, SIMD_TEST_SECONDS)
{
	struct unwritten_count count = {};
	struct simd_run *run = self->run;
	int fd;

	if (!start_run(_metadata, run))
		return;
	fd = run->events[0].fd;
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	while (count.lost < UNWRITTEN) {
		usleep(1000);
		ASSERT_EQ(sizeof(count), read(fd, &count, sizeof(count)));
	}
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	finish_run(_metadata, run, "after lost samples");
}

static void count_record(const struct perf_event_header *header, void *arg)
{
	unsigned int *nr_samples = arg;

	*nr_samples += header->type == PERF_RECORD_SAMPLE;
}

TEST_F_TIMEOUT(unwritten, dropped_by_bpf, SIMD_TEST_SECONDS)
{
	struct unwritten_count count = {};
	struct simd_run *run = self->run;
	struct simd_event dropped;
	unsigned int nr_samples = 0;
	int prog, err;

	if (!start_run(_metadata, run))
		return;
	err = simd_event_open(&dropped, &run->attr, run->workers[0].pid, -1, NULL);
	ASSERT_EQ(0, err)
		TH_LOG("second event: %s", strerror(-err));
	prog = simd_bpf_drop_prog();
	if (prog < 0) {
		simd_run_stop(run);
		SKIP(return, "no BPF: %s", strerror(-prog));
	}
	ASSERT_EQ(0, ioctl(dropped.fd, PERF_EVENT_IOC_SET_BPF, prog));
	ASSERT_EQ(0, simd_event_enable(&dropped));
	while (count.value < UNWRITTEN * run->attr.sample_period) {
		usleep(1000);
		ASSERT_EQ(sizeof(count), read(dropped.fd, &count, sizeof(count)));
	}
	finish_run(_metadata, run, "beside dropped samples");

	simd_event_drain(&dropped, count_record, &nr_samples);
	EXPECT_EQ(0, nr_samples);
	simd_event_close(&dropped);
}

TEST_HARNESS_MAIN
