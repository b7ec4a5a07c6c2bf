// SPDX-License-Identifier: GPL-2.0-only
/*
 * The values of a sample. Tasks that the fuzzer runs keep tags in their registers, by
 * which a word says whose it is (simd_regs_pattern.h of the selftests). An event of one
 * task never shows another's tag, nor does a sample that says whose it is. Where the
 * task's marker is in the sample as well, each word has to be the very one.
 */
#include <asm/perf_regs.h>

#include "attr.h"
#include "simd_regs_live.h"
#include "simd_regs_pattern.h"
#include "simd_regs_record.h"
#include "simd_regs_worker.h"

#define NO_FAMILY	(-1)

/* What DEBUG=1 has where the kernel's stack was not written: CONFIG_INIT_STACK_ALL_PATTERN */
#define UNWRITTEN	0xfefefefefefefefeULL

/* What is known of the task that was hit */
struct subject {
	int family;		/* whose tags it may have; NO_FAMILY: nobody's */
	bool user_hit;
	bool marked;
	__u64 marker;
};

/* Patterns have few phases, and these of children and of handlers. */
static bool is_phase(__u16 phase)
{
	return (phase & 0x3fff) < 64;
}

/*
 * A word that looks like a tag by chance is one in 65,536; this one is in a sample
 * that has hundreds. A tag of a target is not: its seed, phase and place are of those
 * that there are.
 */
static bool find_target_tag(__u64 value, struct simd_tag *tag)
{
	return simd_find_tag(value, tag) && is_target_family(SIMD_FAMILY(tag->seed)) &&
	       is_phase(tag->phase) && tag->reg < 0x90 && tag->word < 32;
}

static bool get_reg(const struct block *b, unsigned int reg, __u64 *value)
{
	if (!b->regs || !(b->mask >> reg & 1))
		return false;
	*value = b->regs[__builtin_popcountll(b->mask & ((1ULL << reg) - 1))];
	return true;
}

/* Who was hit? False if that cannot be told. */
static bool find_subject(const struct event *event, const struct sample *s, struct subject *who)
{
	int of_event = event->pid > 0 ? target_family(event->pid) : NO_FAMILY;
	__u64 ip;

	who->marked = false;
	who->family = s->has_tid ? target_family(s->tid) : NO_FAMILY;
	if (who->family == NO_FAMILY && of_event != NO_FAMILY)
		who->family = of_event;	/* its child, or it is not said */
	else if (who->family == NO_FAMILY && !(s->has_tid && is_kthread(s->tid)))
		return false;

	if (who->family != NO_FAMILY && s->user.abi & PERF_SAMPLE_REGS_ABI_64 &&
	    get_reg(&s->user, SIMD_REG_MARKER, &who->marker) &&
	    get_reg(&s->user, SIMD_REG_IP, &ip) && simd_live_ip(ip) &&
	    simd_is_marker(who->marker) &&
	    SIMD_FAMILY(simd_marker_seed(who->marker)) == who->family)
		who->marked = who->user_hit || (s->has_ip && s->ip && !in_entry_code(s->ip));
	return true;
}

static const char *judge_word(const struct subject *who, bool exactly, unsigned int reg,
			      unsigned int word, __u64 value)
{
	struct simd_tag tag;
	__u64 expected;

	if (value == UNWRITTEN)
		return "what was on the kernel's stack";
	if (find_target_tag(value, &tag) && SIMD_FAMILY(tag.seed) != who->family)
		return "the registers of another task";
	if (!exactly || !simd_expect(who->marker, reg, word, &expected))
		return NULL;
	if (value != expected)
		return "a register that the task did not have";
	count(COUNT_EXACT);
	return NULL;
}

static const char *judge_regs(const struct subject *who, bool exactly, const __u64 *data,
			      unsigned int first, __u64 mask, __u64 nr, __u64 qwords)
{
	const char *error = NULL;
	unsigned int reg, word;

	for (; nr && !error; mask &= mask - 1, nr--) {
		reg = __builtin_ctzll(mask);
		for (word = 0; word < qwords && !error; word++, data++)
			error = judge_word(who, exactly, first + reg, word, *data);
	}
	return error;
}

#ifdef __aarch64__

static const char *judge_words(const struct event *event, const struct subject *who,
			       bool exactly, const struct block *b)
{
	(void)event;
	(void)who;
	(void)exactly;
	(void)b;
	return NULL;
}

#else

/* Those that are among the general purpose registers: R16-R31, or XMM by the old bits. */
static const char *judge_words(const struct event *event, const struct subject *who,
			       bool exactly, const struct block *b)
{
	bool simd = event->attr.sample_simd_regs_enabled;
	unsigned int first = simd ? PERF_REG_X86_R16 : PERF_REG_X86_XMM0, reg;
	const char *error = NULL;
	__u64 value;

	for (reg = first; reg < (simd ? first + 16 : 64) && !error; reg++) {
		if (!get_reg(b, reg, &value))
			continue;
		if (simd)
			error = judge_word(who, exactly, SIMD_REG_EGPR + reg - first, 0, value);
		else
			error = judge_word(who, exactly, (reg - first) / 2, (reg - first) % 2,
					   value);
	}
	return error;
}

#endif

static const char *judge_block(const struct event *event, const struct subject *who,
			       bool exactly, const struct block *b)
{
	const char *error = judge_words(event, who, exactly, b);

	if (error || !b->has_simd)
		return error;
	return judge_regs(who, exactly, b->vec, 0, b->vec_mask, b->nr_vec, b->vec_qwords) ?:
	       judge_regs(who, exactly, b->pred, SIMD_REG_PRED, b->pred_mask, b->nr_pred,
			  b->pred_qwords);
}

/* Tracepoints of the scheduler are of one task, and told to events of another. */
static bool is_of_current(const struct event *event)
{
	return event->attr.type != PERF_TYPE_TRACEPOINT;
}

const char *judge(const struct event *event, const struct sample *s)
{
	struct subject who = { .user_hit = s->cpumode == PERF_RECORD_MISC_USER };

	/* A task that exits has no number any more. */
	if (event->pid > 0 && s->has_tid && s->tid != (__u32)event->pid && s->tid != -1U &&
	    !event->attr.inherit && is_of_current(event))
		return "a sample of another task";
	if (s->user.has_simd || s->intr.has_simd)
		count(COUNT_SIMD_SAMPLE);
	if (!find_subject(event, s, &who))
		return NULL;
	/* What the kernel has in its own sections is not known, but not another task's. */
	return judge_block(event, &who, who.marked, &s->user) ?:
	       judge_block(event, &who, who.marked && who.user_hit, &s->intr);
}
