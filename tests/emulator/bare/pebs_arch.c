// SPDX-License-Identifier: GPL-2.0-only
/*
 * Architectural PEBS: records in a physical buffer. Layouts are those that
 * Intel's "Architecture Instruction Set Extensions" describes and that Linux 7.3
 * reads; where it is silent (EGPRS, 16-byte padding) the emulator's own.
 *
 * The model-id says how long a fragment may be, as there is no other way to tell.
 *
 * cpu: max,vendor=GenuineIntel,family=19,model=1,level=0x23,pmu=on,pdcm=on,arch-perfmon-ext=on,pebs-fmt=15,avx512f=on,xsavec=on,xsaves=on,shstk=on,apxf=on,mpx=off,model-id=whole
 * cpu: max,vendor=GenuineIntel,family=19,model=1,level=0x23,pmu=on,pdcm=on,arch-perfmon-ext=on,pebs-fmt=15,avx512f=on,xsavec=on,xsaves=on,shstk=on,apxf=on,mpx=off,x-pebs-fragment=64,model-id=64
 * cpu: max,vendor=GenuineIntel,family=19,model=1,level=0x23,pmu=on,pdcm=on,arch-perfmon-ext=on,pebs-fmt=15,avx512f=on,xsavec=on,xsaves=on,shstk=on,apxf=on,mpx=off,x-pebs-fragment=552,model-id=552
 * cpu: max,vendor=GenuineIntel,family=19,model=1,level=0x23,pmu=on,pdcm=on,arch-perfmon-ext=on,pebs-fmt=15,avx=off,xsavec=on
 */

#include "pebs.h"

#define MSR_PEBS_BASE		0x3f4
#define MSR_PEBS_INDEX		0x3f5
#define MSR_GP_CFG_C(n)		(0x1903 + 4 * (n))
#define MSR_FIXED_CFG_C(n)	(0x1983 + 4 * (n))
#define MSR_U_CET		0x6a0
#define MSR_PL3_SSP		0x6a7
#define CR4_CET			(1 << 23)

#define STATUS_THRESHOLD	(1ull << 54)

#define INDEX_FULL		(1ull << 31)
#define INDEX_EN		(1ull << 32)
#define INDEX_THRESHOLD(units)	((uint64_t)(units) << 36)

#define ALLOW			(1ull << 35)
#define CNTR_GP			(1ull << 36)
#define CNTR_FIXED		(1ull << 37)
#define GPR			(1ull << 61)
#define AUX			(1ull << 62)
#define BASIC			(1ull << 63)	/* in a record; in CFG_C, EN */
#define EN			BASIC
#define CONTINUED		(1ull << 31)
#define MODE64			(1ull << 30)

#define CANARY			0x5a
#define NEVER			0x7fffff

static uint8_t buffer[8 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
#define SIZE_FIELD		3

/* The groups in the order of a record, and where a state component comes from. */
static const struct group {
	const char *name;
	uint64_t bit;
	unsigned int size, component;
} groups[] = {
	{ "basic", BASIC, 48, 0 },
	{ "AUX", AUX, 64, 0 },
	{ "GPR", GPR, 160, 0 },
	{ "XMM", 1ull << 49, 256, SSE },
	{ "YMMH", 1ull << 50, 256, YMM },
	{ "EGPRS", 1ull << 51, 128, APX },
	{ "OPMASK", 1ull << 53, 64, OPMASK },
	{ "ZMMH", 1ull << 54, 512, ZMM_HI256 },
	{ "H16ZMM", 1ull << 55, 1024, HI16_ZMM },
	/* As long as its own words say. */
	{ "counters", CNTR_GP | CNTR_FIXED, 0, 0 },
};

#define GROUPS	(sizeof(groups) / sizeof(groups[0]))
#define BASIC_GROUP	0
#define AUX_GROUP	1
#define GPR_GROUP	2
#define COUNTERS_GROUP	9

/* A record as it was found: each group wherever its fragment is. */
struct record {
	const uint64_t *group[GROUPS];
	uint64_t format;		/* of all fragments */
	uint64_t xstate;		/* of all XER headers */
	unsigned int fragments;
	const uint8_t *end;
	const char *error;
};

static unsigned int limit;	/* of a fragment; 0: none */
static uint64_t all_groups;	/* that CPUID has */

static uint64_t word(const void *p, unsigned int n)
{
	return ((const uint64_t *)p)[n];
}

static unsigned int bits_set(uint64_t v)
{
	unsigned int n = 0;

	for (; v; v &= v - 1)
		n++;
	return n;
}

/* One fragment: the way on, or NULL and r->error. */
static const uint8_t *decode_fragment(const uint8_t *p, struct record *r)
{
	uint64_t header = word(p, 0);
	unsigned int size = header & 0xffff, at = 16, nr = 0;
	bool xer = false;

	if (size < 16 || size % 16 || word(p, 1) || !(header & MODE64) || header >> 16 & 0x3fff) {
		r->error = "a header is wrong";
		return NULL;
	}
	for (unsigned int i = 0; i < GROUPS; i++) {
		const struct group *g = &groups[i];
		unsigned int length = g->size;

		if (!(header & g->bit))
			continue;
		r->format |= header & g->bit;
		header &= ~g->bit;
		if (r->group[i]) {
			r->error = "a group is there twice";
			return NULL;
		}
		if (g->component && !xer) {
			if (r->xstate & word(p + at, 0) || word(p + at, 1))
				r->error = "an XER header is wrong";
			r->xstate |= word(p + at, 0);
			at += 16;
			xer = true;
		}
		r->group[i] = (const uint64_t *)(p + at);
		if (i == COUNTERS_GROUP)
			length = 16 + 8 * bits_set(word(p + at, 0));
		at += length;
		nr++;
	}
	if (header & ~(0xffffull | MODE64 | CONTINUED))
		r->error = "the header has bits that nobody asked for";
	if ((at + 15) / 16 * 16 != size)
		r->error = "its groups do not make up its size";
	if (limit && size > limit && nr > 1)
		r->error = "a fragment is too long";
	r->fragments++;
	return p + size;
}

static struct record decode(const uint8_t *p)
{
	struct record r = { 0 };

	do {
		bool more = word(p, 0) & CONTINUED;
		const uint8_t *next = decode_fragment(p, &r);

		if (!next)
			break;
		if (r.fragments == 1 && !r.group[BASIC_GROUP])
			r.error = "the first fragment has no basic group";
		r.end = p = next;
		if (!more)
			break;
	} while (1);
	if (r.error)
		note("%s at offset 0x%lx: 0x%lx", r.error, (long)(p - buffer), word(p, 0));
	return r;
}

static uint64_t write_index(void)
{
	return rdmsr(MSR_PEBS_INDEX) >> 4 & 0x7fffff;
}

static unsigned int records(void)
{
	const uint8_t *p = buffer, *end = buffer + write_index() * 16;
	unsigned int n = 0;

	while (p < end) {
		struct record r = decode(p);

		if (r.error)
			return 1000;
		p = r.end;
		n++;
	}
	return p == end ? n : 2000;
}

static bool untouched_behind(const uint8_t *p)
{
	while (p < buffer + sizeof(buffer))
		if (*p++ != CANARY)
			return false;
	return true;
}

static bool basic_is(const struct record *r, const uint8_t *steps, unsigned int k, uint64_t counters)
{
	uint64_t ip = (uint64_t)steps + (k - 1) * STEP_SIZE;
	const uint64_t *basic = r->group[BASIC_GROUP];

	if (r->error || !basic)
		return false;
	if (basic[0] == ip && basic[1] == counters && !basic[3] && !basic[4] && !basic[5])
		return true;
	note("eventing IP 0x%lx, expected 0x%lx; counters 0x%lx, expected 0x%lx", basic[0], ip,
	     basic[1], counters);
	return false;
}

/* Everything off; an empty buffer with that size field and threshold. */
static void set_up(unsigned int size, unsigned int threshold)
{
	stop_counters();
	on_vector(VECTOR_NMI, NULL);
	for (int i = 0; i < 8; i++)
		wrmsr(MSR_GP_CFG_C(i), 0);
	for (int i = 0; i < 4; i++)
		wrmsr(MSR_FIXED_CFG_C(i), 0);
	memset(buffer, CANARY, sizeof(buffer));
	wrmsr(MSR_PEBS_BASE, (uint64_t)buffer | size);
	wrmsr(MSR_PEBS_INDEX, INDEX_EN | INDEX_THRESHOLD(threshold));
}

static void test_enumeration(void)
{
	uint64_t caps = rdmsr(MSR_PERF_CAPABILITIES);
	struct cpuid main = cpuid(0x23, 0), four = cpuid(0x23, 4), five = cpuid(0x23, 5);
	struct cpuid one = cpuid(1, 0), seven = cpuid(7, 0), seven_1 = cpuid(7, 1);
	uint64_t expected = ALLOW | CNTR_GP | CNTR_FIXED | AUX | GPR | 1ull << 49;
	struct cpuid brand = cpuid(0x80000002, 0);
	const char *c = (const char *)&brand;

	while (*c >= '0' && *c <= '9')
		limit = 10 * limit + *c++ - '0';
	if (one.ecx >> 28 & 1)
		expected |= 1ull << 50;
	if (seven_1.edx >> 21 & 1)
		expected |= 1ull << 51;
	if (seven.ebx >> 16 & 1)
		expected |= 7ull << 53;
	ok((caps >> 8 & 15) == 15, "PEBS_FMT is %lu", caps >> 8 & 15);
	ok((main.eax & 0x32) == 0x32, "leaf 0x23 has sub-leaves 1, 4 and 5");
	ok((uint64_t)four.ebx << 32 == expected, "sub-leaf 4 has 0x%x << 32, expected 0x%lx", four.ebx,
	   expected);
	ok(!four.eax && !four.ecx && !four.edx, "and nothing else");
	ok(five.eax == 0xff && five.ebx == 0xff && five.ecx == 0xf && five.edx == 0xf,
	   "sub-leaf 5 has all counters: 0x%x 0x%x 0x%x 0x%x", five.eax, five.ebx, five.ecx, five.edx);
	all_groups = expected & ~ALLOW;
}

static void test_msrs(void)
{
	struct {
		uint32_t msr;
		uint64_t good, bad;
	} t[] = {
		{ MSR_PEBS_BASE, 0x123456700f, 0x10 },
		{ MSR_PEBS_BASE, 0x123456700f, 0x800 },
		{ MSR_PEBS_BASE, 0x123456700f, 1ull << (cpuid(0x80000008, 0).eax & 0xff) },
		{ MSR_PEBS_INDEX, 0x07fffff187fffff0, 1 },
		{ MSR_PEBS_INDEX, 0x07fffff187fffff0, 1ull << 27 },
		{ MSR_PEBS_INDEX, 0x07fffff187fffff0, 1ull << 33 },
		{ MSR_PEBS_INDEX, 0x07fffff187fffff0, 1ull << 59 },
		{ MSR_GP_CFG_C(0), all_groups | ALLOW | 0x12345678, 1ull << 32 },
		{ MSR_GP_CFG_C(7), all_groups | ALLOW | 0xffffffff, 1ull << 40 },
		{ MSR_GP_CFG_C(3), all_groups | ALLOW, 1ull << 52 },
		{ MSR_FIXED_CFG_C(0), all_groups | ALLOW | 1, 1ull << 60 },
		{ MSR_FIXED_CFG_C(3), all_groups | ALLOW | 2, 1ull << 38 },
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = 0;

		wrmsr(t[i].msr, t[i].good);
		ok(try_wrmsr(t[i].msr, t[i].bad).vector == VECTOR_GP,
		   "MSR 0x%x refuses 0x%lx", t[i].msr, t[i].bad);
		try_rdmsr(t[i].msr, &v);
		ok(v == t[i].good, "MSR 0x%x keeps 0x%lx", t[i].msr, v);
	}
	for (int bit = 49; bit < 56; bit++)
		if (!(all_groups >> bit & 1))
			ok(try_wrmsr(MSR_GP_CFG_C(1), 1ull << bit).vector == VECTOR_GP,
			   "a group that CPUID lacks is refused: bit %d", bit);
	ok(try_wrmsr(MSR_GP_CFG_C(8), 0).vector == VECTOR_GP ||
	   try_rdmsr(MSR_GP_CFG_C(8), &(uint64_t){ 0 }).vector == VECTOR_GP ||
	   !rdmsr(MSR_GP_CFG_C(8)), "there is no ninth counter to configure");
}

/* Everything that a record behind the k-th step must say, given what is in use. */
static void check_record(const struct record *r, uint64_t expected, unsigned int k, uint64_t in_use)
{
	uint64_t xstate = 0;

	ok(!r->error && r->format == expected, "it has the groups 0x%lx", r->format);
	ok(basic_is(r, kernel_steps, k, 1), "its basic group");
	if (r->group[AUX_GROUP])
		ok(all_zero(r->group[AUX_GROUP], 64), "its AUX group is zeros");
	if (r->group[GPR_GROUP])
		ok(!wrong_gprs(r->group[GPR_GROUP], kernel_steps, k) && !r->group[GPR_GROUP][18] &&
		   !r->group[GPR_GROUP][19], "its GPRs, and no shadow stack");
	for (unsigned int i = 0; i < GROUPS; i++) {
		const struct group *g = &groups[i];

		if (!g->component || !r->group[i])
			continue;
		if (in_use & 1 << g->component) {
			ok(!wrong_words(r->group[i], g->component, g->size / 8), "its %s", g->name);
			xstate |= 1 << g->component;
		} else {
			ok(all_zero(r->group[i], g->size), "its %s, which are initial", g->name);
		}
	}
	ok(r->xstate == xstate, "its components in use are 0x%lx, expected 0x%lx", r->xstate, xstate);
}

static struct record record_one(uint64_t config, unsigned int k)
{
	set_up(SIZE_FIELD, NEVER);
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + k);
	wrmsr(MSR_GP_CFG_C(0), config);
	kernel_sled(1);
	return write_index() ? decode(buffer) : (struct record){ .error = "there is none" };
}

static void test_groups(void)
{
	uint64_t mine = all_groups & ~(CNTR_GP | CNTR_FIXED);
	uint64_t before, after;
	struct record r;

	load_components(VECTOR_COMPONENTS);
	for (unsigned int i = 0; i < GROUPS; i++) {
		uint64_t config = EN | (groups[i].bit & mine);

		r = record_one(config, 10);
		ok(records() == 1, "%s: %u record", groups[i].name, records());
		check_record(&r, config, 10, VECTOR_COMPONENTS);
		ok(untouched_behind(r.end), "nothing is written behind it");
	}
	before = rdtsc();
	r = record_one(EN | mine, 20);
	after = rdtsc();
	ok(records() == 1, "all groups: %u record", records());
	check_record(&r, EN | mine, 20, VECTOR_COMPONENTS);
	ok(r.group[BASIC_GROUP][2] >= before && r.group[BASIC_GROUP][2] <= after, "its time");
	ok(untouched_behind(r.end), "nothing is written behind it");
	ok((r.fragments > 1) == !!limit, "it has %u fragments", r.fragments);

	/* Each component alone is in its initial configuration, then all are. */
	for (unsigned int i = 0; i < GROUPS; i++) {
		uint64_t in_use = VECTOR_COMPONENTS & ~(1 << groups[i].component);

		if (!groups[i].component || !(mine & groups[i].bit))
			continue;
		load_components(in_use);
		r = record_one(EN | mine, 30);
		ok(!r.error && !(r.xstate & 1 << groups[i].component),
		   "initial %s are not in use: 0x%lx", groups[i].name, r.xstate);
		check_record(&r, EN | mine, 30, in_use);
	}
	load_components(0);
	r = record_one(EN | mine, 40);
	check_record(&r, EN | mine, 40, 0);
}

static void test_position(void)
{
	for (unsigned int k = 1; k <= SLED; k += 9) {
		struct record r = record_one(EN | GPR, k);

		ok(records() == 1 && basic_is(&r, kernel_steps, k, 1) &&
		   !wrong_gprs(r.group[GPR_GROUP], kernel_steps, k), "an overflow at step %u", k);
	}
}

static void test_reload(void)
{
	static const struct {
		uint32_t reload;
		int64_t counter;
	} t[] = {
		{ -1000u, -1000 }, { 1, 1 - (1ll << 32) }, { 0x80000000, -(1ll << 31) }, { 0, 0 },
	};
	struct record r;

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		record_one(EN | t[i].reload, 10);
		ok(records() == 1 && rdmsr(MSR_GP_COUNTER) ==
		   ((t[i].counter + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK),
		   "with RELOAD 0x%x it went on to 0x%lx", t[i].reload, rdmsr(MSR_GP_COUNTER));
		ok(!rdmsr(MSR_GLOBAL_STATUS), "no overflow bit is set");
	}
	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_FIXED_CFG_C(1), EN | -3000u);
	wrmsr(MSR_FIXED_CTRL, 1 << 4);
	/* Fixed counter 1 counts cycles, of which there are two to an instruction. */
	wrmsr(MSR_FIXED_COUNTER + 1, -(uint64_t)(2 * (LEAD_KERNEL + 10)) & COUNTER_MASK);
	kernel_sled(1ull << (FIXED + 1));
	r = decode(buffer);
	ok(records() == 1 && basic_is(&r, kernel_steps, 10, 1ull << (FIXED + 1)),
	   "a record of fixed counter 1");
	ok(rdmsr(MSR_FIXED_COUNTER + 1) ==
	   ((-3000 + 2 * (SLED - 10 + TAIL_KERNEL)) & COUNTER_MASK), "which is reloaded");
}

/* A counter without EN, or with no buffer, overflows as if there was no PEBS. */
static void test_disabled(void)
{
	record_one(GPR, 10);
	ok(!write_index() && untouched_behind(buffer), "no record without EN");
	ok(rdmsr(MSR_GLOBAL_STATUS) == 1, "but an overflow");
	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_PEBS_INDEX, 0);
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
	wrmsr(MSR_GP_CFG_C(0), EN);
	kernel_sled(1);
	ok(!write_index() && untouched_behind(buffer), "no record without IA32_PEBS_INDEX.EN");
}

static void test_several_counters(void)
{
	struct record r;

	set_up(SIZE_FIELD, NEVER);
	load_components(VECTOR_COMPONENTS);
	wrmsr(MSR_GP_CFG_C(0), EN | GPR | -1000u);
	wrmsr(MSR_GP_CFG_C(2), EN | 1ull << 49 | -2000u);
	wrmsr(MSR_FIXED_CFG_C(0), EN | AUX | -3000u);
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
	count_down(1, COUNT_KERNEL, LEAD_KERNEL + 10);
	count_down(2, COUNT_KERNEL, LEAD_KERNEL + 10);
	wrmsr(MSR_FIXED_CTRL, 1);
	wrmsr(MSR_FIXED_COUNTER, -(uint64_t)(LEAD_KERNEL + 10) & COUNTER_MASK);
	kernel_sled(7 | 1ull << FIXED);
	r = decode(buffer);
	ok(records() == 1 && basic_is(&r, kernel_steps, 10, 5 | 1ull << FIXED),
	   "three counters that overflow together make %u record", records());
	ok(r.format == (BASIC | GPR | AUX | 1ull << 49), "with the groups of all: 0x%lx", r.format);
	ok(rdmsr(MSR_GLOBAL_STATUS) == 2, "the one without PEBS overflowed: 0x%lx",
	   rdmsr(MSR_GLOBAL_STATUS));
	ok(rdmsr(MSR_GP_COUNTER) == ((-1000 + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK) &&
	   rdmsr(MSR_GP_COUNTER + 2) == ((-2000 + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK) &&
	   rdmsr(MSR_FIXED_COUNTER) == ((-3000 + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK),
	   "each is reloaded");
}

static void test_counters_group(void)
{
	for (unsigned int kinds = 0; kinds < 4; kinds++) {
		uint64_t config = (kinds & 1 ? CNTR_GP : 0) | (kinds & 2 ? CNTR_FIXED : 0);
		uint64_t expected = (kinds & 1 ? 9 : 0) | (kinds & 2 ? 1ull << FIXED : 0);
		const uint64_t *g;
		struct record r;

		set_up(SIZE_FIELD, NEVER);
		wrmsr(MSR_GP_CFG_C(0), EN | ALLOW | config | -5000u);
		wrmsr(MSR_GP_CFG_C(3), ALLOW);
		wrmsr(MSR_FIXED_CFG_C(0), ALLOW);
		count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
		count_down(1, COUNT_KERNEL, 900);
		count_down(3, COUNT_KERNEL, 1000);
		wrmsr(MSR_FIXED_CTRL, 1);
		wrmsr(MSR_FIXED_COUNTER, 7);
		kernel_sled(0xb | 1ull << FIXED);
		r = decode(buffer);
		ok(records() == 1 && basic_is(&r, kernel_steps, 10, 1) && r.format == (BASIC | config),
		   "counters, kinds %u: a record", kinds);
		g = r.group[COUNTERS_GROUP];
		if (!kinds) {
			ok(!g, "without any");
			continue;
		}
		ok(g[0] == expected && !g[1], "those that allow it: 0x%lx", g[0]);
		g += 2;
		if (kinds & 1) {
			ok(g[0] == 0, "counter 0 had overflowed: 0x%lx", g[0]);
			ok(g[1] == ((-1000 + LEAD_KERNEL + 10) & COUNTER_MASK), "counter 3: 0x%lx", g[1]);
			g += 2;
		}
		if (kinds & 2)
			ok(g[0] == 7 + LEAD_KERNEL + 10, "fixed counter 0: 0x%lx", g[0]);
	}
}

static void drain(void)
{
	wrmsr(MSR_PEBS_INDEX, rdmsr(MSR_PEBS_INDEX) & ~0x7fffff0ull);
}

/* Every 4th step of 64 at CPL 3; a PMI is due at the third record. */
static void test_threshold(void)
{
	unsigned int size, good = 0;
	const uint8_t *p;
	struct record r = record_one(EN | GPR, 10);

	size = r.end - buffer;
	set_up(SIZE_FIELD, 3 * size / 16);
	wrmsr(MSR_GP_CFG_C(0), EN | GPR | -4u);
	count_down(0, COUNT_USER, LEAD_USER + 4);
	expect_pmis(NULL);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	ok(pmi.nr == 1, "%u PMI while the status bit stays set", pmi.nr);
	ok(pmi.status[0] == STATUS_THRESHOLD, "its cause is 0x%lx", pmi.status[0]);
	ok(pmi.rip[0] == (uint64_t)user_steps + 12 * STEP_SIZE,
	   "it came right behind step %ld", (long)(pmi.rip[0] - (uint64_t)user_steps) / STEP_SIZE);
	ok(records() == 16, "%u records, as nothing stopped them", records());
	p = buffer;
	for (unsigned int i = 0; i < 16; i++) {
		r = decode(p);
		if (r.error)
			break;
		good += basic_is(&r, user_steps, 4 + 4 * i, 1) &&
			!wrong_gprs(r.group[GPR_GROUP], user_steps, 4 + 4 * i);
		p = r.end;
	}
	ok(good == 16, "%u of them are good", good);

	set_up(SIZE_FIELD, 3 * size / 16);
	wrmsr(MSR_GP_CFG_C(0), EN | GPR | -4u);
	count_down(0, COUNT_USER, LEAD_USER + 4);
	expect_pmis(drain);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	ok(pmi.nr == 5 && pmi.rip[4] == (uint64_t)user_steps + 60 * STEP_SIZE,
	   "%u PMIs, one of every third record, once each is handled", pmi.nr);
	ok(records() == 1, "%u record is left", records());
	on_vector(VECTOR_NMI, NULL);
}

static void test_full(void)
{
	uint64_t wr;

	/* A page; XMM and GPR make 16 + 48 + 160 + 16 + 256 = 496 bytes and more. */
	set_up(0, NEVER);
	wrmsr(MSR_GP_CFG_C(0), EN | GPR | 1ull << 49 | -4u);
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 4);
	kernel_sled(1);
	ok(rdmsr(MSR_PEBS_INDEX) & INDEX_FULL, "a page is full");
	wr = write_index();
	ok(records() == (limit == 64 ? 7 : 8) && wr * 16 <= PAGE_SIZE,
	   "%u records of %lu bytes are in it", records(), wr * 16);
	ok(untouched_behind(buffer + wr * 16), "nothing is written behind them");

	/* Nothing more is written, even what would fit, until software clears FULL. */
	wrmsr(MSR_PEBS_INDEX, INDEX_EN | INDEX_FULL | INDEX_THRESHOLD(NEVER));
	memset(buffer, CANARY, sizeof(buffer));
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 4);
	kernel_sled(1);
	ok(untouched_behind(buffer) && !write_index(), "FULL stops the output");
	wrmsr(MSR_PEBS_INDEX, INDEX_EN | INDEX_THRESHOLD(NEVER));
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 60);
	kernel_sled(1);
	ok(records() == 3, "without it %u records are written", records());

	/* A write index beyond the buffer. */
	set_up(0, NEVER);
	wrmsr(MSR_PEBS_INDEX, INDEX_EN | INDEX_THRESHOLD(NEVER) | 300 << 4);
	wrmsr(MSR_GP_CFG_C(0), EN);
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 4);
	kernel_sled(1);
	ok(untouched_behind(buffer) && rdmsr(MSR_PEBS_INDEX) & INDEX_FULL, "no write outside of it");
}

static void test_rings(void)
{
	struct record r;

	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_GP_CFG_C(0), EN);
	count_down(0, COUNT_USER, 10);
	kernel_sled(1);
	ok(!write_index(), "the kernel's instructions make no record of a user event");

	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_GP_CFG_C(0), EN | -8u);
	count_down(0, COUNT_KERNEL, 8);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	ok(records() > 3 && records() < 1000, "a kernel event has its %u records around user mode",
	   records());
	for (const uint8_t *p = buffer; p < buffer + write_index() * 16; p = r.end) {
		r = decode(p);
		if (r.error || (r.group[BASIC_GROUP][0] >= (uint64_t)user_steps &&
				r.group[BASIC_GROUP][0] < (uint64_t)user_steps + SLED * STEP_SIZE)) {
			ok(false, "a record of 0x%lx", r.group[BASIC_GROUP][0]);
			break;
		}
	}

	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_GP_CFG_C(0), EN | GPR);
	count_down(0, COUNT_USER, LEAD_USER + 10);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	r = decode(buffer);
	ok(records() == 1 && basic_is(&r, user_steps, 10, 1) &&
	   !wrong_gprs(r.group[GPR_GROUP], user_steps, 10), "a record of user mode");
}

/* The buffer's address is physical: page tables have no say. */
static void test_addresses(void)
{
	uint64_t entry = *page_entry(buffer);
	struct record r;

	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_GP_CFG_C(0), EN);
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
	*page_entry(buffer) = 0;
	invlpg(buffer);
	kernel_sled(1);
	*page_entry(buffer) = entry;
	invlpg(buffer);
	r = decode(buffer);
	ok(records() == 1 && basic_is(&r, kernel_steps, 10, 1), "a record needs no mapping");

	/* The local APIC is not memory, and 2 TiB up there is nothing. */
	for (int i = 0; i < 2; i++) {
		set_up(SIZE_FIELD, NEVER);
		wrmsr(MSR_PEBS_BASE, i ? 1ull << 39 : 0xfee00000);
		wrmsr(MSR_GP_CFG_C(0), EN | -1000u);
		count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
		kernel_sled(1);
		ok(!write_index() && rdmsr(MSR_GP_COUNTER) ==
		   ((-1000 + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK),
		   "without memory a record is lost, and the counter reloaded");
	}
}

static uint8_t shadow_stack[2 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static uint64_t ssp_seen;

static void sled_with_ssp(void *unused)
{
	uint64_t ssp = 0;

	asm volatile("rdsspq %0" : "+r"(ssp));
	ssp_seen = ssp;
	user_sled(NULL);
	/* No tail call: the sled has a return address of its own. */
	asm volatile("");
}

/* At CPL 3 with a shadow stack, whose pointer RDSSP gives as seen by software. */
static void test_shadow_stack(void)
{
	uint64_t entry = *page_entry(shadow_stack), top = (uint64_t)shadow_stack + PAGE_SIZE;
	unsigned int n = 0, good = 0;
	struct record r;

	if (!(cpuid(7, 0).ecx >> 7 & 1))
		return;
	set_up(SIZE_FIELD, NEVER);
	wrmsr(MSR_GP_CFG_C(0), EN | GPR | -4u);
	count_down(0, COUNT_USER, 4);
	write_cr4(read_cr4() | CR4_CET);
	wrmsr(MSR_U_CET, 1);
	wrmsr(MSR_PL3_SSP, top);
	*page_entry(shadow_stack) = (entry | PTE_D | PTE_A) & ~PTE_RW;
	invlpg(shadow_stack);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	ok(try_user(sled_with_ssp, NULL).vector == -1, "user mode with a shadow stack");
	wrmsr(MSR_GLOBAL_CTRL, 0);
	wrmsr(MSR_U_CET, 0);
	write_cr4(read_cr4() & ~(uint64_t)CR4_CET);
	*page_entry(shadow_stack) = entry;
	invlpg(shadow_stack);
	/* In the sled, one return address more is on it. */
	ok(ssp_seen == top - 8, "RDSSP gives 0x%lx, expected 0x%lx", ssp_seen, top - 8);
	for (const uint8_t *p = buffer; p < buffer + write_index() * 16; p = r.end) {
		uint64_t ip;

		r = decode(p);
		if (r.error)
			break;
		ip = r.group[BASIC_GROUP][0];
		if (ip < (uint64_t)user_steps || ip >= (uint64_t)user_steps + SLED * STEP_SIZE)
			continue;
		n++;
		good += r.group[GPR_GROUP][18] == ssp_seen - 8 && !r.group[GPR_GROUP][19];
	}
	ok(n == SLED / 4 && good == n, "%u records in the sled, %u with its pointer", n, good);
}

int main(void)
{
	test_enumeration();
	test_msrs();
	test_groups();
	test_position();
	test_reload();
	test_disabled();
	test_several_counters();
	test_counters_group();
	test_threshold();
	test_full();
	test_rings();
	test_addresses();
	test_shadow_stack();
	set_up(0, 0);
	return 0;
}
