// SPDX-License-Identifier: GPL-2.0
/*
 * Value tests of a task whose vector registers become others while it is sampled:
 * longer and shorter, in streaming mode and out of it, changed by a signal handler
 * and back, written by a debugger. A sample has what there was at that moment.
 */
#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"
#include "simd_regs_arm64.h"
#include "simd_regs_debugger.h"
#include "simd_regs_expect.h"
#include "simd_regs_live.h"
#include "simd_regs_record.h"

#define SVCR_SM		1
#define SVCR_ZA		2

#define SWITCH_SEED	0x6500

/* What samples of user mode have been of, beside what the run counts */
static struct {
	unsigned long vq[17];		/* vectors of so many units of 16 bytes */
	unsigned long no_sve;		/* V registers, and nothing else */
	unsigned long zero, resumed;
} seen;

/* Which of them there have to be, and how many at least */
#define LEAST		20
static const unsigned long *wanted[ARRAY_SIZE(seen.vq) + 3];

static void want(const unsigned long *count)
{
	unsigned int i = 0;

	while (wanted[i] && wanted[i] != count)
		i++;
	wanted[i] = count;
}

static void judge(const struct perf_event_header *header, void *arg)
{
	struct simd_run *run = arg;
	struct simd_sample s;
	__u64 marker;

	simd_check_record(header, &run->check);
	if (header->type != PERF_RECORD_SAMPLE || simd_decode(header, &run->attr, &s))
		return;
	if (!simd_in_user_mode(&s) || !s.user.nr_vectors ||
	    !simd_block_reg(&s.user, SIMD_REG_MARKER, &marker) || !simd_is_marker(marker))
		return;
	if (marker & SIMD_MARK_Z)
		seen.vq[simd_marker_vq(marker)]++;
	else
		seen.no_sve++;
	seen.zero += !!(marker & SIMD_MARK_ZERO);
	seen.resumed += !!(marker & SIMD_MARK_RESUMED);
}

static bool have_wanted(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wanted) && wanted[i]; i++) {
		if (*wanted[i] < LEAST)
			return false;
	}
	return true;
}

/* Waits for a moment: true if more samples are needed, and there is time for them. */
static bool watch(struct simd_run *run, time_t end)
{
	usleep(2000);
	simd_event_drain(&run->events[0], judge, run);
	return (simd_run_marked(run) < run->min_samples || !have_wanted()) &&
	       time(NULL) < end;
}

static void finish_watch(struct __test_metadata *_metadata, struct simd_run *run,
			 const char *name)
{
	unsigned int i;

	finish_run(_metadata, run, name);
	for (i = 0; i < ARRAY_SIZE(seen.vq); i++) {
		if (seen.vq[i])
			TH_LOG("%lu samples with vectors of %u bytes", seen.vq[i], 16 * i);
	}
	TH_LOG("%lu with V alone, %lu of zeros, %lu resumed", seen.no_sve, seen.zero,
	       seen.resumed);
	EXPECT_TRUE(have_wanted());
}

static void watch_run(struct __test_metadata *_metadata, struct simd_run *run,
		      const char *name)
{
	time_t end = time(NULL) + SIMD_LOOP_SECONDS;

	while (watch(run, end))
		;
	finish_watch(_metadata, run, name);
}

/* One that simd_class_find() knows, as it is with vectors of @vl */
static struct simd_class class_with(const char *name, unsigned int vl)
{
	set_vl(!strcmp(name, "streaming") ? PR_SME_SET_VL : PR_SVE_SET_VL, vl);
	return *simd_class_find(name);
}

/* There have to be samples of that, or with what comes next below @vl. */
static void want_vectors(const char *name, unsigned int vl)
{
	want(&seen.vq[simd_marker_vq(class_with(name, vl).parts)]);
}

FIXTURE(switching)
{
	struct simd_run *run;
};

FIXTURE_VARIANT(switching)
{
	bool cycles;
};

FIXTURE_VARIANT_ADD(switching, clock)
{
};

FIXTURE_VARIANT_ADD(switching, cycles)
{
	.cycles = true,
};

FIXTURE_SETUP(switching)
{
	struct perf_event_attr *attr;
	unsigned int qwords;

	if (geteuid())
		SKIP(return, "needs root");
	if (!have_sve())
		SKIP(return, "this CPU has no SVE");

	memset(&seen, 0, sizeof(seen));
	memset(wanted, 0, sizeof(wanted));
	qwords = longest_vl() / 8;
	self->run = simd_run_new(SIMD_EACH_TASK, false, 0);
	self->run->min_samples = 2000;
	self->run->check.kernel_may_lack = true;
	if (variant->cycles)
		simd_run_use_cycles(self->run);
	attr = &self->run->attr;
	simd_attr_vectors(attr, qwords, ALL_VECTORS, ALL_VECTORS);
	attr->sample_simd_pred_reg_qwords = (qwords + 7) / 8;
	attr->sample_simd_pred_reg_intr = have_ffr() ? ALL_P | FFR : ALL_P;
	attr->sample_simd_pred_reg_user = attr->sample_simd_pred_reg_intr;
}

FIXTURE_TEARDOWN(switching)
{
	simd_run_free(self->run);
}

static const unsigned int lengths[] = { 16, 256, 32, 64, 128 };

/* The mode that the phases of a worker are in; 0: one after the other */
static const char *phases_of;

static const struct simd_class *next_length(unsigned int phase)
{
	static struct simd_class classes[2 * ARRAY_SIZE(lengths)];
	struct simd_class *cls = &classes[phase % ARRAY_SIZE(classes)];
	const char *name = phases_of;

	if (!name)
		name = phase % 2 ? "streaming" : "z";
	*cls = class_with(name, lengths[phase % ARRAY_SIZE(lengths)]);
	return cls;
}

static void add_prctl(struct simd_call *calls, unsigned int *nr, int option,
		      unsigned int vl)
{
	calls[(*nr)++] = (struct simd_call) {
		.nr = SYS_prctl, .arg = { option, vl },
	};
}

/* The V registers stay, whatever the length. */
static int change_lengths(struct simd_call *calls, unsigned int *nr)
{
	if (have_class("z")) {
		add_prctl(calls, nr, PR_SVE_SET_VL, 16);
		add_prctl(calls, nr, PR_SVE_SET_VL, 64);
	}
	if (have_class("streaming")) {
		add_prctl(calls, nr, PR_SME_SET_VL, 16);
		add_prctl(calls, nr, PR_SME_SET_VL, 64);
	}
	return 0;
}

static void run_lengths(struct __test_metadata *_metadata, struct simd_run *run,
			const char *mode, const char *name)
{
	struct simd_worker *w = simd_run_add(run, SWITCH_SEED, 0);
	unsigned int i;

	phases_of = mode;
	w->enter_phase = next_length;
	w->more_calls = change_lengths;
	w->nr_phases = 2 * ARRAY_SIZE(lengths);
	w->rounds = 1;
	w->spin = 20000;
	/* Nothing is known of system calls that were made in streaming mode. */
	run->min_samples = 1000;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (!mode || strcmp(mode, "streaming"))
			want_vectors("z", lengths[i]);
		if (!mode || !strcmp(mode, "streaming"))
			want_vectors("streaming", lengths[i]);
	}
	/* In the system calls, that is */
	if (!mode || strcmp(mode, "streaming"))
		simd_run_demand(run, user[1].exact, 1);
	if (!start_run(_metadata, run))
		return;
	watch_run(_metadata, run, name);
}

TEST_F_TIMEOUT(switching, length, SIMD_TEST_SECONDS)
{
	if (!have_class("z"))
		SKIP(return, "this CPU has no SVE but in streaming mode");
	run_lengths(_metadata, self->run, "z", "vector length");
}

TEST_F_TIMEOUT(switching, streaming_length, SIMD_TEST_SECONDS)
{
	if (!have_class("streaming"))
		SKIP(return, "this CPU has no streaming mode");
	run_lengths(_metadata, self->run, "streaming", "streaming vector length");
}

TEST_F_TIMEOUT(switching, length_and_mode, SIMD_TEST_SECONDS)
{
	if (!have_class("z") || !have_class("streaming"))
		SKIP(return, "this CPU has not both modes");
	run_lengths(_metadata, self->run, NULL, "vector length and mode");
}

static void add_mode(struct simd_call *calls, unsigned int *nr, __u64 svcr, __u16 parts)
{
	calls[(*nr)++] = (struct simd_call) {
		.nr = SIMD_CALL_MODE,
		.arg = { svcr, simd_marker(SWITCH_SEED, *nr, parts | SIMD_MARK_ZERO), 2000 },
	};
	calls[(*nr)++] = (struct simd_call) { .nr = SIMD_CALL_TRAP };
}

/* Whoever enters or leaves streaming mode finds zeros there, as wide as it has them. */
static void change_modes(struct simd_call *calls, unsigned int *nr, const char *outside)
{
	const __u16 streaming = simd_class_find("streaming")->parts;
	const __u16 other = simd_class_find(outside)->parts & ~SIMD_MARK_MORE;

	add_mode(calls, nr, SVCR_SM, streaming);
	add_mode(calls, nr, 0, other);
	add_mode(calls, nr, SVCR_SM | SVCR_ZA, streaming);
	add_mode(calls, nr, SVCR_ZA, other);
	add_mode(calls, nr, 0, other);
}

static int change_modes_of_z(struct simd_call *calls, unsigned int *nr)
{
	change_modes(calls, nr, "z");
	return 0;
}

/* SVE stays enabled for whoever has used it, be it memcpy(), until the length changes. */
static int change_modes_of_v(struct simd_call *calls, unsigned int *nr)
{
	add_prctl(calls, nr, PR_SME_SET_VL, 16);
	add_prctl(calls, nr, PR_SME_SET_VL, 64);
	change_modes(calls, nr, "v");
	return 0;
}

/* SMSTART and SMSTOP, with a pattern, and with vectors that differ in length */
TEST_F_TIMEOUT(switching, mode, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, SWITCH_SEED, SIMD_DO_TRAP);

	if (!have_class("z") || !have_class("streaming"))
		SKIP(return, "this CPU has not both modes");
	set_vl(PR_SVE_SET_VL, 64);
	set_vl(PR_SME_SET_VL, 32);
	w->cls = simd_class_find("z");
	w->more_calls = change_modes_of_z;
	want(&seen.zero);
	want_vectors("z", 64);
	want_vectors("streaming", 32);
	if (!start_run(_metadata, self->run))
		return;
	watch_run(_metadata, self->run, "streaming mode and SVE");
}

/* The same of a task that has nothing but V registers */
TEST_F_TIMEOUT(switching, mode_of_v, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, SWITCH_SEED, 0);

	if (!have_class("streaming"))
		SKIP(return, "this CPU has no streaming mode");
	set_vl(PR_SME_SET_VL, 64);
	w->cls = simd_class_find("v");
	w->more_calls = change_modes_of_v;
	want(&seen.zero);
	want(&seen.no_sve);
	want_vectors("streaming", 64);
	if (!start_run(_metadata, self->run))
		return;
	watch_run(_metadata, self->run, "streaming mode and V");
}

/*
 * A handler has registers of another mode and with other values, and what it has
 * interrupted goes on with its own. Hits in user mode only: the kernel restores
 * the register with the marker before those of SVE.
 */
static void run_signals(struct __test_metadata *_metadata, struct simd_run *run,
			const char *cls, const char *handler_cls, const char *name)
{
	struct simd_worker *w = simd_run_add(run, SWITCH_SEED, SIMD_DO_TIMER | SIMD_DO_RESUME);
	static struct simd_class classes[2];

	classes[0] = class_with(cls, strcmp(cls, "streaming") ? 64 : 32);
	classes[1] = class_with(handler_cls, strcmp(handler_cls, "streaming") ? 64 : 32);
	w->cls = &classes[0];
	w->handler_cls = &classes[1];
	w->spin = 50000;
	run->attr.exclude_kernel = 1;
	want(&seen.resumed);
	want(&seen.vq[simd_marker_vq(classes[0].parts)]);
	want(&seen.vq[simd_marker_vq(classes[1].parts)]);
	if (!start_run(_metadata, run))
		return;
	watch_run(_metadata, run, name);
}

TEST_F_TIMEOUT(switching, handler_streams, SIMD_TEST_SECONDS)
{
	if (!have_class("z") || !have_class("streaming"))
		SKIP(return, "this CPU has not both modes");
	run_signals(_metadata, self->run, "z", "streaming", "handler that streams");
}

TEST_F_TIMEOUT(switching, handler_of_streaming, SIMD_TEST_SECONDS)
{
	if (!have_class("z") || !have_class("streaming"))
		SKIP(return, "this CPU has not both modes");
	run_signals(_metadata, self->run, "streaming", "z", "handler while it streams");
}

TEST_F_TIMEOUT(switching, handler_uses_sve, SIMD_TEST_SECONDS)
{
	if (!have_class("z"))
		SKIP(return, "this CPU has no SVE but in streaming mode");
	run_signals(_metadata, self->run, "z", "z", "handler with SVE");
}

/* What a debugger writes, in turn */
static const struct {
	const char *cls;
	unsigned int vl;
} writes[] = {
	{ "z", 64 }, { "streaming", 32 }, { "z", 16 }, { "v", 0 }, { "z", 256 },
	{ "streaming", 256 }, { "v", 0 }, { "streaming", 16 }, { "z", 32 },
};

static void write_next(struct __test_metadata *_metadata, struct simd_run *run)
{
	static unsigned int turn;
	unsigned int i = ++turn % ARRAY_SIZE(writes);
	struct simd_class cls;

	if (!have_class(writes[i].cls))
		return;
	cls = class_with(writes[i].cls, writes[i].vl);
	/* The C library has no part in what the task has after this. */
	cls.parts &= ~SIMD_MARK_MORE;
	ASSERT_EQ(0, simd_debugger_write(run->workers[0].pid, &cls,
					 simd_marker(SWITCH_SEED, turn, cls.parts)))
		TH_LOG("%s, vectors of %u bytes", writes[i].cls, writes[i].vl);
}

/* The regsets NT_ARM_SVE and NT_ARM_SSVE, and the V registers by the former */
TEST_F_TIMEOUT(switching, debugger, SIMD_TEST_SECONDS)
{
	struct simd_worker *w = simd_run_add(self->run, SWITCH_SEED, SIMD_DO_TRAP);
	static struct simd_class worker_class;
	time_t end = time(NULL) + SIMD_LOOP_SECONDS;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		if (!writes[i].vl)
			want(&seen.no_sve);
		else if (have_class(writes[i].cls))
			want_vectors(writes[i].cls, writes[i].vl);
	}
	worker_class = class_with(have_class("z") ? "z" : "streaming", 64);
	w->cls = &worker_class;
	w->nr_phases = 1;
	w->rounds = ULONG_MAX;
	if (!start_run(_metadata, self->run))
		return;
	ASSERT_EQ(0, simd_debugger_attach(w->pid));
	do {
		write_next(_metadata, self->run);
	} while (watch(self->run, end));
	/* At the end the worker looks whether it still has what it has loaded. */
	ASSERT_EQ(0, simd_debugger_write(w->pid, w->cls, simd_worker_marker(w, 0)));
	ASSERT_EQ(0, simd_debugger_detach(w->pid));
	finish_watch(_metadata, self->run, "debugger");
}

/*
 * A program that replaces itself in that mode: the new one has V registers, which are
 * zero, and no others, until it uses them.
 */
static void run_exec(struct __test_metadata *_metadata, struct simd_run *run,
		     const char *cls, const char *name)
{
	struct simd_worker *w = simd_run_add(run, SWITCH_SEED, 0);
	unsigned int i;

	if (!have_class(cls))
		SKIP(return, "this CPU has no %s", cls);
	/* exec() as root takes an event of the task away from the unprivileged. */
	run->privileged = true;
	w->cls = simd_class_find(cls);
	w->program = simd_run_program("simd_regs_exec");
	ASSERT_NE(NULL, w->program);
	want(&seen.zero);
	want(&seen.no_sve);
	/* Those that the program sets, one after the other */
	for (i = 0; i < ARRAY_SIZE(lengths) - 1; i++)
		want_vectors(cls, lengths[i]);
	simd_run_demand(run, user[1].exact, 1);
	if (!start_run(_metadata, run))
		return;
	watch_run(_metadata, run, name);
}

TEST_F_TIMEOUT(switching, exec_of_z, SIMD_TEST_SECONDS)
{
	run_exec(_metadata, self->run, "z", "exec out of SVE");
}

TEST_F_TIMEOUT(switching, exec_of_streaming, SIMD_TEST_SECONDS)
{
	run_exec(_metadata, self->run, "streaming", "exec out of streaming mode");
}

TEST_HARNESS_MAIN
