// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what is generic in the sampling of SIMD registers: which
 * attributes are refused, how large a sample is, how its bytes are gathered
 * from where the registers are saved, and that context levels don't share a
 * buffer. No architecture's registers are looked at.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "internal.h"
#include "simd_regs.h"

/* Attributes: refused whatever the architecture */

struct bad_attr {
	const char *what;
	struct perf_event_attr attr;
};

#define BOTH_SIDES	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR)

static const struct bad_attr bad_attrs[] = {
	{ "reserved field", { .__reserved_4 = 1 } },
	{ "reserved field of an enabled event",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .__reserved_4 = 0x8000 } },
	{ "reserved bit of enabled",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 2 } },
	{ "all bits of enabled",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 0xffff } },
	{ "vector width, not enabled", { .sample_simd_vec_reg_qwords = 2 } },
	{ "predicate width, not enabled", { .sample_simd_pred_reg_qwords = 1 } },
	{ "vector mask of user, not enabled", { .sample_simd_vec_reg_user = 1 } },
	{ "vector mask of intr, not enabled", { .sample_simd_vec_reg_intr = 1 } },
	{ "predicate mask of user, not enabled", { .sample_simd_pred_reg_user = 1 } },
	{ "predicate mask of intr, not enabled", { .sample_simd_pred_reg_intr = 1 } },
	{ "no side", { .sample_type = PERF_SAMPLE_IP, .sample_simd_regs_enabled = 1 } },
	{ "vectors of a side that is not sampled",
	  { .sample_type = PERF_SAMPLE_REGS_USER, .sample_simd_regs_enabled = 1,
	    .sample_simd_vec_reg_qwords = 2, .sample_simd_vec_reg_intr = 1 } },
	{ "predicates of a side that is not sampled",
	  { .sample_type = PERF_SAMPLE_REGS_INTR, .sample_simd_regs_enabled = 1,
	    .sample_simd_pred_reg_qwords = 1, .sample_simd_pred_reg_user = 1 } },
	{ "vectors without width",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .sample_simd_vec_reg_user = 1 } },
	{ "width without vectors",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .sample_simd_vec_reg_qwords = 2 } },
	{ "predicates without width",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .sample_simd_pred_reg_intr = 1 } },
	{ "width without predicates",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .sample_simd_pred_reg_qwords = 1 } },
	{ "widths whose sum wraps",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .sample_simd_vec_reg_qwords = 0xffff, .sample_simd_vec_reg_user = ~0ULL,
	    .sample_simd_pred_reg_qwords = 0xffff, .sample_simd_pred_reg_user = ~0U } },
	{ "sample that is too large",
	  { .sample_type = BOTH_SIDES, .sample_simd_regs_enabled = 1,
	    .sample_simd_vec_reg_qwords = 256, .sample_simd_vec_reg_intr = ~0U } },
};

static void bad_attr_desc(const struct bad_attr *bad, char *desc)
{
	strscpy(desc, bad->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad_attr, bad_attrs, bad_attr_desc);

static void refuses_bad_attr(struct kunit *test)
{
	const struct bad_attr *bad = test->param_value;

	KUNIT_EXPECT_EQ(test, perf_simd_regs_validate(&bad->attr), -EINVAL);
}

static void accepts_no_simd(struct kunit *test)
{
	struct perf_event_attr attr = {
		.sample_type = BOTH_SIDES,
		.sample_regs_user = ~0ULL,
		.sample_regs_intr = ~0ULL,
	};

	KUNIT_EXPECT_EQ(test, perf_simd_regs_validate(&attr), 0);
}

/*
 * The deepest callchain that leaves room for the rest, counted here by hand: 8 bytes of
 * header; a word each for IP, ABI and number of callers; 4 of SIMD header and 2 of a register.
 */
static void refuses_the_first_too_large(struct kunit *test)
{
	unsigned int largest = U16_MAX / 8 - 1 - 3 - (4 + 2) - PERF_MAX_CONTEXTS_PER_STACK;
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN,
		.sample_simd_regs_enabled = 1,
		.sample_simd_vec_reg_qwords = 2,
		.sample_simd_vec_reg_user = 1,
	};

	attr.sample_max_stack = largest + 1;
	KUNIT_EXPECT_EQ(test, perf_simd_regs_validate(&attr), -EINVAL);

	/* The bound may be rounded up, by less than 8 words. */
	attr.sample_max_stack = largest - 8;
	KUNIT_EXPECT_NE(test, perf_simd_regs_validate(&attr), -EINVAL);

	/* A user stack is cut, so that it leaves room for any registers. */
	attr.sample_type |= PERF_SAMPLE_STACK_USER;
	attr.sample_max_stack = 0;
	attr.sample_stack_user = round_down(U16_MAX, 8);
	KUNIT_EXPECT_NE(test, perf_simd_regs_validate(&attr), -EINVAL);
}

/* Behind the user side, four words: the ABI of the other, two of a stack, one of AUX data */
static void leaves_room_for_what_follows(struct kunit *test)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_REGS_USER };
	static struct perf_simd_event alone, all;

	perf_simd_regs_set_bounds(&attr, &alone);
	attr.sample_type |= PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX;
	perf_simd_regs_set_bounds(&attr, &all);
	KUNIT_EXPECT_EQ(test, all.max_bytes[PERF_SIMD_USER] - alone.max_bytes[PERF_SIMD_USER], 32);
}

/* Output: every split at a page boundary gives the same bytes */

#define NR_PAGES	2

struct fake_ring {
	struct perf_buffer *rb;
	u8 *page[NR_PAGES];
};

static void make_ring(struct kunit *test, struct fake_ring *ring)
{
	int i;

	ring->rb = kunit_kzalloc(test, struct_size(ring->rb, data_pages, NR_PAGES),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring->rb);

	ring->rb->nr_pages = NR_PAGES;
	for (i = 0; i < NR_PAGES; i++) {
		ring->page[i] = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, ring->page[i]);
		ring->rb->data_pages[i] = ring->page[i];
	}
}

/* Write @simd so that @first bytes of it are the last ones of a page. */
static void output(struct fake_ring *ring, const struct perf_simd_regs *simd,
		   unsigned int first, u8 *result)
{
	struct perf_output_handle handle = {
		.rb = ring->rb,
		.addr = ring->page[0] + PAGE_SIZE - first,
		.size = first,
	};

	memset(ring->page[0], 0xa5, PAGE_SIZE);
	memset(ring->page[1], 0xa5, PAGE_SIZE);
	perf_simd_regs_output(&handle, simd);

	memcpy(result, ring->page[0] + PAGE_SIZE - first, first);
	memcpy(result + first, ring->page[1], simd->bytes - first);
}

struct source {
	u64 low[16][2], middle[16][2], high[16][4], whole[16][8], pred[8];
};

/* The sample word by word, from the numbers of the registers alone. */
static unsigned int expect(const struct source *src, u32 vec, u32 pred,
			   bool middle_is_zero, u64 *out)
{
	unsigned int n = 0, reg, q;

	out[n++] = hweight32(vec);
	out[n++] = vec ? 8 : 0;
	out[n++] = hweight32(pred);
	out[n++] = pred ? 1 : 0;

	for (reg = 0; reg < 32; reg++) {
		for (q = 0; vec & BIT(reg) && q < 8; q++) {
			if (reg >= 16)
				out[n++] = src->whole[reg - 16][q];
			else if (q < 2)
				out[n++] = src->low[reg][q];
			else if (q < 4)
				out[n++] = middle_is_zero ? 0 : src->middle[reg][q - 2];
			else
				out[n++] = src->high[reg][q - 4];
		}
	}

	for (reg = 0; reg < 8; reg++) {
		if (pred & BIT(reg))
			out[n++] = src->pred[reg];
	}

	return n * sizeof(u64);
}

/* A layout, and the sources that it names. */
struct described {
	struct perf_simd_layout layout;
	struct perf_simd_regs regs;
};

enum { LOW = 1, MIDDLE, HIGH, WHOLE, PRED };

static void describe(struct described *to, const struct source *src,
		     u32 vec, u32 pred, bool middle_is_zero)
{
	static const struct perf_simd_part pieces[] = {
		{ LOW, 0, 16, 16 }, { MIDDLE, 0, 16, 16 }, { HIGH, 0, 32, 32 },
	};
	static const struct perf_simd_part whole = { WHOLE, 0, 64, 64 };
	static const struct perf_simd_part word = { PRED, 0, 8, 8 };
	struct perf_simd_layout *layout = &to->layout;

	memset(to, 0, sizeof(*to));
	perf_simd_add_head(layout, hweight32(vec), 8, hweight32(pred), 1);
	perf_simd_add_regs(layout, vec & 0xffff, pieces, ARRAY_SIZE(pieces));
	perf_simd_add_regs(layout, vec >> 16, &whole, 1);
	perf_simd_add_regs(layout, pred, &word, 1);

	to->regs.layout = layout;
	to->regs.bytes = layout->bytes;
	to->regs.source[PERF_SIMD_HEAD] = layout->head;
	to->regs.source[LOW] = src->low;
	to->regs.source[MIDDLE] = middle_is_zero ? NULL : src->middle;
	to->regs.source[HIGH] = src->high;
	to->regs.source[WHOLE] = src->whole;
	to->regs.source[PRED] = src->pred;
}

/* Write what is described, split at every word. */
static void expect_output(struct kunit *test, struct fake_ring *ring,
			  const struct described *what, const u64 *want,
			  unsigned int bytes, u8 *got)
{
	unsigned int first;

	KUNIT_ASSERT_EQ(test, what->regs.bytes, bytes);
	for (first = sizeof(u64); first <= bytes; first += sizeof(u64)) {
		output(ring, &what->regs, first, got);
		KUNIT_ASSERT_MEMEQ_MSG(test, got, want, bytes,
				       "%u bytes on the first page", first);
	}
}

static void gathers_the_right_bytes(struct kunit *test)
{
	static const struct {
		u32 vec, pred;
		bool middle_is_zero;
	} cases[] = {
		{ 0xffffffff, 0xff, false },
		{ 0xffffffff, 0xff, true },
		{ 0x0000ffff, 0x00, false },
		{ 0xffff0000, 0x00, false },
		{ 0x80000001, 0x81, true },
		{ 0x5a5aa5a5, 0x6b, false },
		{ 0x00018000, 0x00, false },
		{ 0x00000000, 0x3c, false },
	};
	struct described *what = kunit_kzalloc(test, sizeof(*what), GFP_KERNEL);
	struct source *src = kunit_kzalloc(test, sizeof(*src), GFP_KERNEL);
	u64 *want = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	u8 *got = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct fake_ring ring;
	unsigned int i, bytes;

	KUNIT_ASSERT_NOT_NULL(test, what);
	KUNIT_ASSERT_NOT_NULL(test, src);
	KUNIT_ASSERT_NOT_NULL(test, want);
	KUNIT_ASSERT_NOT_NULL(test, got);
	make_ring(test, &ring);
	get_random_bytes(src, sizeof(*src));

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bytes = expect(src, cases[i].vec, cases[i].pred,
			       cases[i].middle_is_zero, want);
		describe(what, src, cases[i].vec, cases[i].pred,
			 cases[i].middle_is_zero);
		kunit_info(test, "case %u", i);
		expect_output(test, &ring, what, want, bytes, got);
	}
}

/*
 * Registers that are wider where they are saved than in the sample, and ones
 * that are no multiple of a word, which zeros make up for.
 */
static void gathers_spaced_registers(struct kunit *test)
{
	static const struct perf_simd_part wide = { 1, 0, 32, 16 };
	static const struct perf_simd_part odd[] = { { 2, 0, 6, 6 }, { 3, 0, 2, 2 } };
	struct spaced {
		u64 wide[32][4];
		u8 odd[17][6];
	} *src = kunit_kzalloc(test, sizeof(*src), GFP_KERNEL);
	struct described *what = kunit_kzalloc(test, sizeof(*what), GFP_KERNEL);
	u64 *want = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	u8 *got = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	const u32 vec = 0xc000ff05, pred = 0x1800f;
	struct fake_ring ring;
	unsigned int reg, n = 0;

	KUNIT_ASSERT_NOT_NULL(test, src);
	KUNIT_ASSERT_NOT_NULL(test, what);
	KUNIT_ASSERT_NOT_NULL(test, want);
	KUNIT_ASSERT_NOT_NULL(test, got);
	make_ring(test, &ring);
	get_random_bytes(src, sizeof(*src));

	for (reg = 0; reg < 32; reg++) {
		if (vec & BIT(reg)) {
			want[n++] = src->wide[reg][0];
			want[n++] = src->wide[reg][1];
		}
	}
	for (reg = 0; reg < 17; reg++) {
		if (pred & BIT(reg))
			memcpy(&want[n++], src->odd[reg], 6);
	}

	perf_simd_add_regs(&what->layout, vec, &wide, 1);
	perf_simd_add_regs(&what->layout, pred, odd, ARRAY_SIZE(odd));
	what->regs.layout = &what->layout;
	what->regs.bytes = what->layout.bytes;
	what->regs.source[1] = src->wide;
	what->regs.source[2] = src->odd;

	expect_output(test, &ring, what, want, n * sizeof(u64), got);
}

/* Buffers: a sample at one level leaves those of the others alone */

struct level {
	struct perf_event *event;
	const struct perf_simd_regs *simd;
	struct completion done;
	struct irq_work irq_work;
	struct tasklet_struct tasklet;
};

static void sample(struct level *level)
{
	struct perf_sample_data data = {};

	preempt_disable();
	perf_simd_regs_begin_sample(&data, level->event);
	level->simd = data.regs_user.simd;
	perf_simd_regs_end_sample(&data, level->event);
	preempt_enable();
}

static void sample_in_hardirq(struct irq_work *work)
{
	struct level *level = container_of(work, struct level, irq_work);

	if (in_hardirq())
		sample(level);
	complete(&level->done);
}

static void sample_in_softirq(struct tasklet_struct *tasklet)
{
	struct level *level = from_tasklet(level, tasklet, tasklet);

	sample(level);
	complete(&level->done);
}

static void levels_have_their_own_buffers(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct level task = { .event = event };
	struct level softirq = { .event = event };
	struct level hardirq = { .event = event };

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.sample_type = PERF_SAMPLE_REGS_USER;
	event->attr.sample_simd_regs_enabled = 1;
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);
	KUNIT_ASSERT_NOT_NULL(test, event->simd);

	init_completion(&softirq.done);
	init_completion(&hardirq.done);
	tasklet_setup(&softirq.tasklet, sample_in_softirq);
	hardirq.irq_work = IRQ_WORK_INIT_HARD(sample_in_hardirq);

	/* All on one CPU: those of different CPUs can't be told apart. */
	migrate_disable();
	sample(&task);
	tasklet_schedule(&softirq.tasklet);
	wait_for_completion(&softirq.done);
	irq_work_queue(&hardirq.irq_work);
	wait_for_completion(&hardirq.done);
	migrate_enable();

	irq_work_sync(&hardirq.irq_work);
	tasklet_kill(&softirq.tasklet);
	perf_simd_regs_free_event(event);

	KUNIT_EXPECT_NOT_NULL(test, task.simd);
	KUNIT_EXPECT_NOT_NULL(test, softirq.simd);
	KUNIT_EXPECT_NOT_NULL(test, hardirq.simd);
	KUNIT_EXPECT_PTR_NE(test, task.simd, softirq.simd);
	KUNIT_EXPECT_PTR_NE(test, task.simd, hardirq.simd);
	KUNIT_EXPECT_PTR_NE(test, softirq.simd, hardirq.simd);
}

/* Samples of one level: each has its own description, and the first one the state */
static void nested_samples_have_their_own_place(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct perf_sample_data first = {}, second = {}, third = {}, next = {};
	bool may_save[4], has_saved[3];
	struct perf_simd_buf *buf;

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.sample_type = PERF_SAMPLE_REGS_USER;
	event->attr.sample_simd_regs_enabled = 1;
	KUNIT_ASSERT_EQ(test, perf_simd_regs_init_event(event), 0);

	preempt_disable();
	perf_simd_regs_begin_sample(&first, event);
	buf = first.regs_user.simd->buf;
	buf->saved = 1;
	may_save[0] = perf_simd_may_save(buf);
	has_saved[0] = perf_simd_has_saved(buf, 1);

	/* An overflow in a sample neither forgets nor shares what that has saved. */
	perf_simd_regs_begin_overflow();
	perf_simd_regs_begin_sample(&second, event);
	may_save[1] = perf_simd_may_save(buf);
	has_saved[1] = perf_simd_has_saved(buf, 1);
	perf_simd_regs_begin_sample(&third, event);
	may_save[2] = perf_simd_may_save(buf);
	KUNIT_EXPECT_NOT_NULL(test, second.regs_user.simd);
	KUNIT_EXPECT_PTR_NE(test, first.regs_user.simd, second.regs_user.simd);
	KUNIT_EXPECT_PTR_NE(test, first.regs_user.simd, first.regs_intr.simd);
	KUNIT_EXPECT_PTR_NE(test, first.regs_intr.simd, second.regs_intr.simd);
	KUNIT_EXPECT_NULL(test, third.regs_user.simd);
	KUNIT_EXPECT_NULL(test, third.regs_intr.simd);
	KUNIT_EXPECT_PTR_EQ(test, first.regs_user.simd, &buf->regs[0][PERF_SIMD_USER]);
	perf_simd_regs_end_sample(&third, event);
	perf_simd_regs_end_sample(&second, event);
	perf_simd_regs_end_overflow();

	may_save[3] = perf_simd_may_save(buf);
	has_saved[2] = perf_simd_has_saved(buf, 1);
	perf_simd_regs_end_sample(&first, event);

	perf_simd_regs_begin_sample(&next, event);
	KUNIT_EXPECT_EQ(test, buf->saved, 0);
	KUNIT_EXPECT_PTR_EQ(test, next.regs_user.simd, &buf->regs[0][PERF_SIMD_USER]);
	perf_simd_regs_end_sample(&next, event);
	perf_simd_regs_end_sample(&next, event);
	KUNIT_EXPECT_EQ(test, buf->depth, 0);
	preempt_enable();
	perf_simd_regs_free_event(event);

	KUNIT_EXPECT_TRUE(test, may_save[0] && !may_save[1] && !may_save[2] && may_save[3]);
	KUNIT_EXPECT_TRUE(test, has_saved[0] && !has_saved[1] && has_saved[2]);
}

static struct kunit_case simd_regs_cases[] = {
	KUNIT_CASE_PARAM(refuses_bad_attr, bad_attr_gen_params),
	KUNIT_CASE(accepts_no_simd),
	KUNIT_CASE(refuses_the_first_too_large),
	KUNIT_CASE(leaves_room_for_what_follows),
	KUNIT_CASE(gathers_the_right_bytes),
	KUNIT_CASE(gathers_spaced_registers),
	KUNIT_CASE(levels_have_their_own_buffers),
	KUNIT_CASE(nested_samples_have_their_own_place),
	{}
};

static struct kunit_suite simd_regs_suite = {
	.name = "perf_simd_regs",
	.test_cases = simd_regs_cases,
};

kunit_test_suite(simd_regs_suite);
