// SPDX-License-Identifier: GPL-2.0
/*
 * What samples show of the user's registers while a signal frame is restored. The
 * kernel loads them from the frame in more than one step: an XRSTOR that faults may
 * have loaded some of them before it did, and what the frame lacks is initialized by
 * a second one. In between the registers are a mix that the task never had, also in
 * memory if the task is preempted; a sample has to have none then.
 *
 * The signal's handler loads a pattern, and returns to a frame with another one. A
 * sample may show either, but not some registers of each.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "simd_regs_event.h"
#include "simd_regs_image.h"
#include "simd_regs_pattern.h"
#include "simd_regs_record.h"

/* The fixed places of a frame's XSAVE area, and what it says of itself */
#define LEGACY_SIZE		464
#define SW_EXTENDED_SIZE	468
#define SW_XFEATURES		472
#define SW_XSTATE_SIZE		480
#define XSAVE_HEADER		512
#define XSAVE_EXTENDED		576

#define FPSSE			3ULL

/* An event of instructions has hundreds of samples for each signal. */
#define ENOUGH_SAMPLES		30000

enum { HANDLER = 1, FRAME = 2 };	/* whose pattern: the seed */

static struct {
	const struct simd_class *cls;
	char *handler, *image;		/* what the handler loads, and the frame has */
	char *frame;			/* the area that the frame is returned to from */
	bool made;
	__u64 xfeatures;		/* of the frame, 0 for as they are */
} sig;

static bool stop;

/* Puts the pattern into a copy of the frame that the kernel made. */
static void make_frame(const char *made)
{
	__u32 bytes, xstate_bytes;

	memcpy(&bytes, made + SW_EXTENDED_SIZE, sizeof(bytes));
	memcpy(&xstate_bytes, made + SW_XSTATE_SIZE, sizeof(xstate_bytes));
	memcpy(sig.frame, made, bytes);
	memcpy(sig.frame, sig.image, LEGACY_SIZE);
	memcpy(sig.frame + XSAVE_HEADER, sig.image + XSAVE_HEADER,
	       simd_image_size(sig.cls) - XSAVE_HEADER);
	/* Behind the state is a magic number, which the image may reach beyond. */
	memcpy(sig.frame + xstate_bytes, made + xstate_bytes, bytes - xstate_bytes);
	if (sig.xfeatures)
		memcpy(sig.frame + SW_XFEATURES, &sig.xfeatures, sizeof(sig.xfeatures));
	sig.made = true;
}

/* Nothing but the last instruction may touch the registers. */
__attribute__((target("general-regs-only")))
static void handler(int nr, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)nr;
	(void)info;
	if (!sig.made)
		make_frame((char *)uc->uc_mcontext.fpregs);
	uc->uc_mcontext.fpregs = (void *)sig.frame;
	asm volatile("xrstor64 (%0)" : : "r" (sig.handler), "a" ((__u32)sig.cls->xfeatures),
		     "d" ((__u32)(sig.cls->xfeatures >> 32)) : "memory");
}

/* Takes the frame's second page out of the page tables again and again, on another CPU. */
static void *take_page(void *page)
{
	cpu_set_t others;

	sched_getaffinity(0, sizeof(others), &others);
	CPU_CLR(simd_test_cpu(), &others);
	sched_setaffinity(0, sizeof(others), &others);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		madvise(page, sysconf(_SC_PAGESIZE), MADV_DONTNEED);
	return NULL;
}

/* An event, and what its samples show: neither pattern, either, or some of both */
struct sampling {
	struct perf_event_attr attr;
	struct simd_event event;
	unsigned long samples, absent, of[HANDLER + FRAME], mixed, malformed;
};

static void check_record(const struct perf_event_header *header, void *arg)
{
	struct sampling *s = arg;
	struct simd_sample sample;
	unsigned int whose = 0;
	struct simd_tag tag;
	__u64 i;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	s->samples++;
	if (simd_decode(header, &s->attr, &sample)) {
		s->malformed++;
		return;
	}
	if (!sample.user.has_simd || !sample.user.nr_vectors) {
		s->absent++;
		return;
	}

	for (i = 0; i < sample.user.nr_vectors * sample.user.vector_qwords; i++) {
		if (simd_find_tag(sample.user.vectors[i], &tag) &&
		    (tag.seed == HANDLER || tag.seed == FRAME))
			whose |= tag.seed;
	}
	if (whose == (HANDLER | FRAME))
		s->mixed++;
	else
		s->of[whose]++;
}

FIXTURE(sigframe)
{
	struct sampling s;
	char *pages;
	size_t page;
};

FIXTURE_VARIANT(sigframe)
{
	bool clock;
};

FIXTURE_VARIANT_ADD(sigframe, instructions)
{
};

FIXTURE_VARIANT_ADD(sigframe, clock)
{
	.clock = true,
};

static char *new_image(__u16 seed)
{
	char *image = aligned_alloc(64, simd_image_size(sig.cls));

	simd_image_fill(sig.cls, image, simd_marker(seed, 0, sig.cls->parts));
	return image;
}

FIXTURE_SETUP(sigframe)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	struct perf_event_attr attr = simd_clock_attr();

	if (geteuid())
		SKIP(return, "needs root");
	sig.cls = simd_class_find("ymm");
	if (!simd_class_supported(sig.cls))
		SKIP(return, "needs AVX");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");
	sig.cls = simd_class_find("all");

	if (!variant->clock) {
		simd_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
		attr.sample_period = 499;
		attr.exclude_user = 1;
	} else {
		attr.sample_period = 20011;
	}
	attr.exclude_hv = 1;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = 4;
	attr.sample_simd_vec_reg_user = 0xffff;
	self->s.attr = attr;
	if (simd_event_open(&self->s.event, &self->s.attr, 0, -1, NULL))
		SKIP(return, "no such event");

	/* What is shared keeps its contents while it is not mapped. */
	self->page = sysconf(_SC_PAGESIZE);
	self->pages = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	sig.frame = self->pages + self->page - XSAVE_EXTENDED;
	sig.handler = new_image(HANDLER);
	sig.image = new_image(FRAME);
	sig.xfeatures = 0;
	sig.made = false;
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
}

FIXTURE_TEARDOWN(sigframe)
{
	if (self->pages)
		munmap(self->pages, 2 * self->page);
	if (self->s.event.map)
		simd_event_close(&self->s.event);
	free(sig.handler);
	free(sig.image);
}

/* Returns from so many signals, and judges the samples. */
static void run(struct __test_metadata *_metadata, struct sampling *s,
		unsigned int signals, const char *name)
{
	struct rusage before, after;
	unsigned int i;

	/* Where the event counts, on a machine with more than one kind of CPUs. */
	simd_use_test_cpu();

	raise(SIGUSR1);
	getrusage(RUSAGE_THREAD, &before);
	ASSERT_EQ(0, simd_event_enable(&s->event));
	/* On a busy machine they have few samples. */
	for (i = 0; i < 20 * signals; i++) {
		if (s->of[HANDLER] && s->of[FRAME] &&
		    (i >= signals || s->samples >= ENOUGH_SAMPLES))
			break;
		raise(SIGUSR1);
		if (i & 63)
			continue;
		/* Who copies samples has both patterns in the registers. */
		simd_event_disable(&s->event);
		simd_event_drain(&s->event, check_record, s);
		raise(SIGUSR1);
		simd_event_enable(&s->event);
	}
	simd_event_disable(&s->event);
	getrusage(RUSAGE_THREAD, &after);
	simd_event_drain(&s->event, check_record, s);

	TH_LOG("%s: %u signals, %ld faults, %lu samples", name, i,
	       after.ru_minflt - before.ru_minflt, s->samples);
	TH_LOG("handler's %lu, frame's %lu, neither %lu, absent %lu, mixed %lu, malformed %lu",
	       s->of[HANDLER], s->of[FRAME], s->of[0], s->absent, s->mixed, s->malformed);
	EXPECT_EQ(0UL, s->mixed);
	EXPECT_EQ(0UL, s->malformed);
	/* Both have to be seen, or nothing was tested. */
	EXPECT_GT(s->of[HANDLER], 0UL);
	EXPECT_GT(s->of[FRAME], 0UL);
}

/* The frame's XSAVE area lacks a page when XRSTOR reads it. */
TEST_F_TIMEOUT(sigframe, fault, 180)
{
	pthread_t thread;

	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_create(&thread, NULL, take_page, self->pages + self->page));
	run(_metadata, &self->s, 2000, "fault");
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* The frame lacks all but the x87 and XMM registers, which is a second XRSTOR. */
TEST_F_TIMEOUT(sigframe, second_step, 180)
{
	sig.xfeatures = FPSSE;
	run(_metadata, &self->s, 5000, "second step");
}

TEST_HARNESS_MAIN
