// SPDX-License-Identifier: GPL-2.0
/*
 * Judges samples: exact, absent, wrong, or another task's.
 *
 * A sample's own marker (in a GPR of the user) says what the task had in its
 * vector registers at that moment. It holds while the task's user IP is in
 * the code that sets it. Without it there is nothing to compare with, but a
 * value that carries somebody else's tag is still somebody else's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "simd_regs_check_arch.h"
#include "simd_regs_live.h"
#include "simd_regs_pattern.h"
#include "simd_regs_worker.h"

#define MAX_REPORTS	6

/*
 * Entry code, where an NMI finds the registers of the user and their saved copy
 * out of step. An IP of 0 can be there too: of an event that is not to see it.
 */
static struct range {
	const char *first, *last;
	__u64 start, end;
} entry_code[] = {
	{ "__entry_text_start", "__entry_text_end", 0, 0 },
	{ "__noinstr_text_start", "__noinstr_text_end", 0, 0 },
};

#define NR_ENTRY_CODE (sizeof(entry_code) / sizeof(*entry_code))

/*
 * Once for the tests of a program, which are its children: there are many symbols. And
 * before a test gives up what shows their addresses, CAP_SYSLOG: without that all are 0.
 */
static __attribute__((constructor)) void find_entry_code(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[256], name[128];
	__u64 address;
	unsigned int i;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "_text_") ||
		    sscanf(line, "%llx %*c %127s", &address, name) != 2)
			continue;
		for (i = 0; i < NR_ENTRY_CODE; i++) {
			if (!strcmp(name, entry_code[i].first))
				entry_code[i].start = address;
			if (!strcmp(name, entry_code[i].last))
				entry_code[i].end = address;
		}
	}
	fclose(file);
}

static bool in_entry_code(__u64 ip)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRY_CODE; i++) {
		if (ip >= entry_code[i].start && ip < entry_code[i].end)
			return true;
	}
	return false;
}

void simd_check_add_task(struct simd_check *check, pid_t tid, __u16 family)
{
	if (check->nr_tasks == SIMD_MAX_TASKS) {
		/* The oldest are the workers: forget children instead. */
		check->nr_tasks = SIMD_MAX_TASKS / 2;
	}
	check->tasks[check->nr_tasks].tid = tid;
	check->tasks[check->nr_tasks].family = family;
	check->nr_tasks++;
}

static int find_family(const struct simd_check *check, __u32 tid)
{
	unsigned int i;

	/* The last one first: numbers are used again. */
	for (i = check->nr_tasks; i--; ) {
		if (check->tasks[i].tid == tid)
			return check->tasks[i].family;
	}
	return -1;
}

static struct subject find_subject(const struct simd_check *check,
				   const struct simd_sample *s)
{
	bool kernel = !simd_in_user_mode(s);
	struct subject who = { .family = find_family(check, s->tid) };
	__u64 ip = 0;

	if (who.family == SIMD_EXEMPT) {
		who.exempt = true;
		return who;
	}
	if (simd_arch_marker(&s->user, &who.marker) &&
	    simd_block_reg(&s->user, SIMD_REG_IP, &ip) &&
	    simd_is_marker(who.marker) &&
	    (simd_live_ip(ip) || who.marker & SIMD_MARK_ANY_IP) &&
	    SIMD_FAMILY(simd_marker_seed(who.marker)) == who.family)
		who.marked = !kernel || (s->ip && !in_entry_code(s->ip));

	/* Only the system calls that the marker announces use vectors. */
	who.may_kfpu = kernel && check->privileged && who.marked &&
		       who.marker & SIMD_MARK_KFPU;
	return who;
}

static bool is_foreign(const struct subject *who, __u64 value, struct simd_tag *tag)
{
	return simd_find_tag(value, tag) && SIMD_FAMILY(tag->seed) != who->family;
}

void simd_report(const struct simd_check *check, const struct simd_sample *s,
		 const struct subject *who, const char *side, const char *what,
		 unsigned int reg, unsigned int word, __u64 value)
{
	struct simd_tag tag;

	if (check->n.wrong + check->n.foreign > MAX_REPORTS)
		return;
	printf("# %s: %s side, tid %u cpumode %u ip %#llx:", what, side, s->tid,
	       s->cpumode, s->ip);
	printf(" register %#x word %u is %#018llx", reg, word, value);
	if (simd_find_tag(value, &tag))
		printf(" = seed %#x phase %#x register %#x word %u", tag.seed,
		       tag.phase, tag.reg, tag.word);
	if (who->marked)
		printf("; task has seed %#x phase %#x", simd_marker_seed(who->marker),
		       simd_marker_phase(who->marker));
	else
		printf("; task has family %d, no marker", who->family);
	printf("\n");
}

/* Judges one word of a register: exact, unmarked, wrong or foreign. */
static enum verdict check_word(const struct subject *who, unsigned int reg,
			       unsigned int word, __u64 value)
{
	struct simd_tag tag;
	__u64 expected;

	if (is_foreign(who, value, &tag))
		return FOREIGN;
	if (!who->marked)
		return UNMARKED;
	if (!simd_expect(who->marker, reg, word, &expected))
		return who->marker & SIMD_MARK_MORE ? MATCH : UNMARKED;
	return value == expected ? MATCH : WRONG;
}

enum verdict simd_check_regs(struct simd_check *check, const struct simd_sample *s,
			     const struct subject *who, const char *side,
			     const __u64 *data, unsigned int first_reg,
			     __u64 mask, __u64 nr, __u64 qwords)
{
	enum verdict worst = MATCH, verdict;
	unsigned int reg, word;

	for (reg = 0; nr; mask &= ~(1ULL << reg), nr--) {
		reg = __builtin_ctzll(mask);
		for (word = 0; word < qwords; word++, data++) {
			verdict = check_word(who, first_reg + reg, word, *data);
			if (verdict > worst)
				worst = verdict;
			if (verdict >= WRONG && !who->may_kfpu) {
				simd_report(check, s, who, side,
					    verdict == WRONG ? "wrong" : "foreign",
					    first_reg + reg, word, *data);
				return verdict;
			}
		}
	}
	return worst;
}

void simd_count_class(struct simd_side_count *n, unsigned int class, bool there,
		      enum verdict verdict)
{
	if (there && verdict == MATCH)
		n->exact_of[class]++;
}

static void report_partial(const struct simd_sample *s, const struct subject *who,
			   const char *side, const struct simd_block *b)
{
	printf("# partial: %s side, tid %u cpumode %u ip %#llx:", side, s->tid, s->cpumode,
	       s->ip);
	printf(" %llu vectors of %llu words, %llu predicates of %llu", b->nr_vectors,
	       b->vector_qwords, b->nr_pred, b->pred_qwords);
	printf("; task has marker %#llx\n", who->marker);
}

static enum verdict check_block(struct simd_check *check, const struct simd_sample *s,
				const struct subject *who, bool user,
				struct simd_side_count *n)
{
	const struct simd_block *b = user ? &s->user : &s->intr;
	const char *side = user ? "user" : "intr";
	enum verdict verdict, other;

	if (!b->has_simd || (!b->nr_vectors && !b->nr_pred))
		return ABSENT;
	if (!simd_arch_whole(check->attr, s, who, b) && check->n.partial++ < MAX_REPORTS)
		report_partial(s, who, side, b);

	verdict = simd_check_regs(check, s, who, side, b->vectors, 0, b->vec_mask,
				  b->nr_vectors, b->vector_qwords);
	simd_count_class(n, simd_arch_vector_class(b->vector_qwords), b->nr_vectors,
			 verdict);
	other = simd_check_regs(check, s, who, side, b->preds, SIMD_REG_PRED,
				b->pred_mask, b->nr_pred, b->pred_qwords);
	simd_count_class(n, simd_arch_pred_class, b->nr_pred, other);
	if (other > verdict)
		verdict = other;
	other = simd_arch_check_gprs(check, s, who, user, n);
	return other > verdict ? other : verdict;
}

/*
 * Has the task no user registers, or entry code not saved them yet? R16-R31 that
 * are absent look the same, as they take the other GPRs with them.
 */
static bool is_stateless(const struct simd_check *check, const struct simd_sample *s,
			 const struct subject *who)
{
	if (s->user.abi != PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	return who->family < 0 || check->exits || in_entry_code(s->ip) ||
	       !simd_arch_asks_for_gprs(check->attr, true);
}

static void check_side(struct simd_check *check, const struct simd_sample *s,
		       struct subject who, bool user)
{
	bool kernel = !simd_in_user_mode(s);
	struct simd_side_count *n = user ? &check->n.user[kernel] : &check->n.intr[kernel];
	enum verdict verdict;

	/* The user side never has the kernel's values. */
	if (user)
		who.may_kfpu = false;

	verdict = check_block(check, s, &who, user, n);
	if (is_stateless(check, s, &who)) {
		/* One that exits still owns the registers. */
		if (verdict != ABSENT && who.family < 0 && !in_entry_code(s->ip))
			check->n.stateless_regs++;
		if (verdict < WRONG)
			return;
	}
	if (verdict >= WRONG && who.may_kfpu) {
		/* What the kernel has not overwritten yet has to be the task's. */
		if (verdict == FOREIGN)
			check->n.residue++;
		verdict = KFPU;
	}
	switch (verdict) {
	case MATCH:
		n->exact++;
		break;
	case ABSENT:
		n->absent++;
		break;
	case UNMARKED:
		n->unmarked++;
		break;
	case KFPU:
		n->kfpu++;
		break;
	case WRONG:
		check->n.wrong++;
		break;
	case FOREIGN:
		check->n.foreign++;
		break;
	}
}

static void check_sample(struct simd_check *check, const struct perf_event_header *header)
{
	const struct perf_event_attr *attr = check->attr;
	struct simd_sample s;
	struct subject who;
	const char *error;
	bool kernel;

	error = simd_decode(header, attr, &s);
	if (error) {
		if (check->n.malformed++ < MAX_REPORTS)
			printf("# malformed: %s, size %u\n", error, header->size);
		return;
	}

	who = find_subject(check, &s);
	if (who.exempt)
		return;

	kernel = !simd_in_user_mode(&s);
	check->n.samples[kernel]++;
	check->n.guest += simd_in_guest(&s);
	check->n.marked[kernel] += who.marked;
	if (s.user.abi == PERF_SAMPLE_REGS_ABI_NONE)
		check->n.stateless++;

	if (simd_arch_asks(attr, true))
		check_side(check, &s, who, true);
	if (simd_arch_asks(attr, false))
		check_side(check, &s, who, false);
}

void simd_check_record(const struct perf_event_header *header, void *arg)
{
	const __u64 *body = (const __u64 *)(header + 1);
	const __u32 *ids = (const __u32 *)body;
	struct simd_check *check = arg;
	int family;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		check_sample(check, header);
		break;
	case PERF_RECORD_LOST:
		check->n.lost += body[1];
		break;
	case PERF_RECORD_THROTTLE:
		check->n.throttled++;
		break;
	case PERF_RECORD_FORK:
		/* pid, ppid, tid, ptid */
		family = find_family(check, ids[3]);
		if (family >= 0)
			simd_check_add_task(check, ids[2], family);
		break;
	}
}

static void print_side(const char *name, const struct simd_side_count *n)
{
	static const char * const classes[] = {
		[SIMD_XMM] = "XMM", [SIMD_YMM] = "YMM", [SIMD_ZMM] = "ZMM",
		[SIMD_OPMASK] = "OPMASK", [SIMD_EGPRS] = "R16-R31", [SIMD_SSP] = "SSP",
		[SIMD_V] = "V", [SIMD_Z] = "Z", [SIMD_P_FFR] = "P",
	};
	unsigned int i;

	printf(" | %s: exact %lu+%lu absent %lu+%lu unmarked %lu+%lu", name,
	       n[0].exact, n[1].exact, n[0].absent, n[1].absent, n[0].unmarked,
	       n[1].unmarked);
	if (n[0].kfpu + n[1].kfpu)
		printf(" kernel's %lu", n[1].kfpu);
	for (i = 0; i < SIMD_NR_CLASSES; i++) {
		if (n[0].exact_of[i] + n[1].exact_of[i])
			printf(" %s %lu+%lu", classes[i], n[0].exact_of[i],
			       n[1].exact_of[i]);
	}
}

void simd_check_print(const struct simd_check *check, const char *name)
{
	const struct simd_count *n = &check->n;

	printf("# %s: samples (user+kernel) %lu+%lu, with known values %lu+%lu", name,
	       n->samples[0], n->samples[1], n->marked[0], n->marked[1]);
	if (n->guest)
		printf(", %lu in guests", n->guest);
	print_side("user side", n->user);
	print_side("intr side", n->intr);
	printf(" | wrong %lu foreign %lu residue %lu malformed %lu partial %lu",
	       n->wrong, n->foreign, n->residue, n->malformed, n->partial);
	printf(" | stateless %lu (%lu) lost %lu throttled %lu\n", n->stateless,
	       n->stateless_regs, n->lost, n->throttled);
	fflush(stdout);
}
