// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adaptive PEBS: records in the buffer of a DS area. All offsets are those of
 * Intel's SDM, volume 3, sections on adaptive PEBS and the DS save area.
 *
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,ds=on,dtes64=on,pebs-fmt=4,avx512f=on
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,ds=on,dtes64=on,pebs-fmt=5
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,ds=on,dtes64=on,pebs-fmt=6
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,ds=on,dtes64=on,pebs-fmt=6,perf-metrics=on
 */

#include "pebs.h"

#define MSR_MISC_ENABLE		0x1a0
#define MSR_PEBS_ENABLE		0x3f1
#define MSR_PEBS_DATA_CFG	0x3f2
#define MSR_DS_AREA		0x600

#define ADAPTIVE		(1ull << 34)
#define FIXED0_KERNEL_ADAPTIVE	(1ull | 1ull << 32)
#define STATUS_BUFFER		(1ull << 62)

#define MEMINFO			1u
#define GPR			2u
#define XMM			4u
#define LBR			8u
#define COUNTERS		16u
#define METRICS			32u

#define MSR_PERF_METRICS	0x329
#define MSR_FIXED_COUNTER3	(MSR_FIXED_COUNTER + 3)
#define ENABLE_METRICS		(1ull << 48)

#define BASIC_SIZE		32
#define MEMINFO_SIZE		32
#define GPR_SIZE		144
#define XMM_SIZE		256

/* Words of the DS area. */
enum {
	BUFFER = 4, INDEX = 5, MAXIMUM = 6, THRESHOLD = 7, RESET = 8,
};

static uint64_t ds[PAGE_SIZE / 8] __attribute__((aligned(PAGE_SIZE)));
static uint8_t buffer[4 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static unsigned int format;
static bool metrics;

#define CANARY	0x5a

/* Everything off, an empty buffer of that many bytes that asks for no PMI. */
static void set_up(uint64_t enable, uint64_t data_cfg, uint64_t size)
{
	stop_counters();
	on_vector(VECTOR_NMI, NULL);
	memset(ds, 0, sizeof(ds));
	memset(buffer, CANARY, sizeof(buffer));
	ds[BUFFER] = ds[INDEX] = (uint64_t)buffer;
	ds[MAXIMUM] = (uint64_t)buffer + size;
	ds[THRESHOLD] = ~0ull;
	wrmsr(MSR_DS_AREA, (uint64_t)ds);
	wrmsr(MSR_PEBS_DATA_CFG, data_cfg);
	wrmsr(MSR_PEBS_ENABLE, enable);
}

static uint64_t word(const uint8_t *record, unsigned int offset)
{
	return *(const uint64_t *)(record + offset);
}

static uint64_t record_size(const uint8_t *record)
{
	return word(record, 0) >> 48;
}

/* How many complete records there are; 1000 if they do not end where the index says. */
static unsigned int records(void)
{
	const uint8_t *p = buffer, *end = (const uint8_t *)ds[INDEX];
	unsigned int n = 0;

	while (p < end && record_size(p) >= BASIC_SIZE) {
		p += record_size(p);
		n++;
	}
	return p == end ? n : 1000;
}

static bool untouched_behind(const uint8_t *p)
{
	while (p < buffer + sizeof(buffer))
		if (*p++ != CANARY)
			return false;
	return true;
}

/* The basic group of a record behind the k-th step. */
static bool basic_is(const uint8_t *r, const uint8_t *steps, unsigned int k, uint64_t counters)
{
	uint64_t ip = (uint64_t)steps + (k - 1) * STEP_SIZE;

	if (word(r, 8) == ip && word(r, 16) == counters)
		return true;
	note("eventing IP 0x%lx, expected 0x%lx; counters 0x%lx, expected 0x%lx",
	     word(r, 8), ip, word(r, 16), counters);
	return false;
}

static void test_capabilities(void)
{
	uint64_t caps = rdmsr(MSR_PERF_CAPABILITIES), misc = rdmsr(MSR_MISC_ENABLE);
	struct cpuid c = cpuid(1, 0);

	format = caps >> 8 & 15;
	metrics = caps >> 15 & 1;
	ok(format >= 4 && format <= 6, "PEBS_FMT is %u", format);
	ok((caps & 0x40c0) == 0x40c0, "trap-like, architectural registers, baseline: 0x%lx", caps);
	ok(c.edx >> 21 & 1 && c.ecx >> 2 & 1, "CPUID says DS and DTES64");
	ok(!(misc & 1 << 12) && misc & 1 << 11, "MISC_ENABLE: PEBS, no BTS: 0x%lx", misc);
}

static void test_msrs(void)
{
	static const struct {
		uint32_t msr;
		uint64_t good, bad;
	} t[] = {
		{ MSR_DS_AREA, 0xffff800000000000, 0x0000800000000000 },
		{ MSR_DS_AREA, 0x00007ffffffff000, 0xfffe800000000000 },
		{ MSR_PEBS_ENABLE, 0xf000000ff, 1 << 8 },
		{ MSR_PEBS_ENABLE, 0xf000000ff, 1ull << 36 },
		{ MSR_PEBS_ENABLE, 0xf000000ff, 1ull << 62 },
		{ MSR_PEBS_DATA_CFG, 0x1f00000f, 1 << 6 },
		{ MSR_PEBS_DATA_CFG, 0x1f00000f, 1 << 29 },
		{ MSR_PEBS_DATA_CFG, 0x1f00000f, 1ull << 63 },
	};
	bool counters = format == 6;
	uint64_t bits = COUNTERS | 0xffull << 32 | 0xfull << 48;

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = 0;

		wrmsr(t[i].msr, t[i].good);
		ok(try_wrmsr(t[i].msr, t[i].bad).vector == VECTOR_GP,
		   "MSR 0x%x refuses 0x%lx", t[i].msr, t[i].bad);
		try_rdmsr(t[i].msr, &v);
		ok(v == t[i].good, "MSR 0x%x keeps 0x%lx", t[i].msr, v);
	}
	ok((try_wrmsr(MSR_PEBS_DATA_CFG, bits).vector == VECTOR_GP) == !counters,
	   "counters in records are%s possible", counters ? "" : " not");
	ok((try_wrmsr(MSR_PEBS_DATA_CFG, METRICS).vector == VECTOR_GP) == !metrics,
	   "metrics in records are%s possible", metrics ? "" : " not");
}

/* Record each combination of groups, behind the 10th step. */
static void test_groups(void)
{
	for (unsigned int groups = 0; groups < 16; groups++) {
		uint64_t lbrs = groups & LBR ? 7ull << 24 : 0;	/* 8 entries */
		unsigned int meminfo = BASIC_SIZE;
		unsigned int gpr = meminfo + (groups & MEMINFO ? MEMINFO_SIZE : 0);
		unsigned int xmm = gpr + (groups & GPR ? GPR_SIZE : 0);
		unsigned int lbr = xmm + (groups & XMM ? XMM_SIZE : 0);
		unsigned int size = lbr + (groups & LBR ? 8 * 24 : 0);
		uint64_t before, after;

		set_up(1, groups | lbrs, sizeof(buffer));
		load_components(VECTOR_COMPONENTS);
		count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + 10);
		before = rdtsc();
		kernel_sled(1);
		after = rdtsc();
		ok(records() == 1 && record_size(buffer) == size,
		   "groups 0x%x: %u record of %lu bytes, expected %u", groups, records(),
		   record_size(buffer), size);
		ok((uint32_t)word(buffer, 0) == (groups | lbrs) && !(word(buffer, 0) >> 32 & 0xffff),
		   "its format is 0x%lx", word(buffer, 0));
		ok(basic_is(buffer, kernel_steps, 10, 1), "its basic group");
		ok(word(buffer, 24) >= before && word(buffer, 24) <= after,
		   "its time is 0x%lx, within 0x%lx and 0x%lx", word(buffer, 24), before, after);
		if (groups & MEMINFO)
			ok(all_zero(buffer + meminfo, MEMINFO_SIZE), "its memory info is zeros");
		if (groups & GPR)
			ok(!wrong_gprs((uint64_t *)(buffer + gpr), kernel_steps, 10), "its GPRs");
		if (groups & XMM)
			ok(!wrong_words((uint64_t *)(buffer + xmm), SSE, 32), "its XMM registers");
		if (groups & LBR)
			ok(all_zero(buffer + lbr, 8 * 24), "its LBRs are zeros");
		ok(untouched_behind(buffer + size), "nothing is written behind it");
	}
	set_up(1, GPR | XMM, sizeof(buffer));
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
	kernel_sled(1);
	ok(records() == 1 && record_size(buffer) == BASIC_SIZE && !(uint32_t)word(buffer, 0),
	   "without the event's adaptive bit there is the basic group only");
}

/* The first and the last step are as precise as the others; nothing is missed. */
static void test_position(void)
{
	for (unsigned int k = 1; k <= SLED; k += 9) {
		set_up(1, GPR, sizeof(buffer));
		count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + k);
		kernel_sled(1);
		ok(records() == 1 && basic_is(buffer, kernel_steps, k, 1) &&
		   !wrong_gprs((uint64_t *)(buffer + BASIC_SIZE), kernel_steps, k),
		   "an overflow at step %u", k);
	}
}

static void test_reload(void)
{
	unsigned int fixed_slot = RESET + (format == 4 ? 8 : 32);

	set_up(1 | 1ull << 3, 0, sizeof(buffer));
	ds[RESET] = -1000 & COUNTER_MASK;
	ds[RESET + 3] = -2000 & COUNTER_MASK;
	count_down(0, COUNT_KERNEL, LEAD_KERNEL + 10);
	count_down(3, COUNT_KERNEL, LEAD_KERNEL + 20);
	kernel_sled(1 | 1 << 3);
	ok(rdmsr(MSR_GP_COUNTER) == ((-1000 + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK),
	   "counter 0 went on from its reset value: 0x%lx", rdmsr(MSR_GP_COUNTER));
	ok(rdmsr(MSR_GP_COUNTER + 3) == ((-2000 + SLED - 20 + TAIL_KERNEL) & COUNTER_MASK),
	   "counter 3 went on from its own: 0x%lx", rdmsr(MSR_GP_COUNTER + 3));
	ok(records() == 2 && basic_is(buffer, kernel_steps, 10, 1) &&
	   basic_is(buffer + BASIC_SIZE, kernel_steps, 20, 1 << 3), "a record of each");
	ok(!(rdmsr(MSR_GLOBAL_STATUS) & 0xff), "their overflow bits are not set");

	set_up(1ull << FIXED, GPR, sizeof(buffer));
	ds[fixed_slot] = -3000 & COUNTER_MASK;
	wrmsr(MSR_FIXED_CTRL, FIXED0_KERNEL_ADAPTIVE);
	wrmsr(MSR_FIXED_COUNTER, -(uint64_t)(LEAD_KERNEL + 30) & COUNTER_MASK);
	kernel_sled(1ull << FIXED);
	ok(records() == 1 && record_size(buffer) == BASIC_SIZE + GPR_SIZE &&
	   basic_is(buffer, kernel_steps, 30, 1ull << FIXED), "a record of fixed counter 0");
	ok(rdmsr(MSR_FIXED_COUNTER) == ((-3000 + SLED - 30 + TAIL_KERNEL) & COUNTER_MASK),
	   "it has its reset value in word %u: 0x%lx", fixed_slot, rdmsr(MSR_FIXED_COUNTER));
	wrmsr(MSR_FIXED_CTRL, 0);
}

static void test_several_records(void)
{
	unsigned int good = 0;

	set_up(1, GPR, sizeof(buffer));
	ds[RESET] = -8 & COUNTER_MASK;
	count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + 5);
	kernel_sled(1);
	for (unsigned int i = 0; i < 8; i++) {
		const uint8_t *r = buffer + i * (BASIC_SIZE + GPR_SIZE);

		good += basic_is(r, kernel_steps, 5 + 8 * i, 1) &&
			!wrong_gprs((const uint64_t *)(r + BASIC_SIZE), kernel_steps, 5 + 8 * i);
	}
	ok(records() == 8 && good == 8, "%u records, %u good, of every 8th step", records(), good);
}

static void test_several_counters(void)
{
	set_up(7 | 1ull << FIXED, GPR, sizeof(buffer));
	for (int i = 0; i < 3; i++) {
		ds[RESET + i] = -(1000ull + i) & COUNTER_MASK;
		count_down(i, COUNT_KERNEL | (i == 1 ? ADAPTIVE : 0), LEAD_KERNEL + 10);
	}
	wrmsr(MSR_FIXED_CTRL, 1);
	wrmsr(MSR_FIXED_COUNTER, -(uint64_t)(LEAD_KERNEL + 10) & COUNTER_MASK);
	kernel_sled(7 | 1ull << FIXED);
	ok(records() == 1 && basic_is(buffer, kernel_steps, 10, 7 | 1ull << FIXED),
	   "four counters that overflow together make %u record", records());
	ok(record_size(buffer) == BASIC_SIZE + GPR_SIZE, "with the groups of the one that is adaptive");
	for (int i = 0; i < 3; i++)
		ok(rdmsr(MSR_GP_COUNTER + i) ==
		   ((-1000ull - i + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK), "counter %d reloaded", i);
}

static void drain(void)
{
	ds[INDEX] = ds[BUFFER];
}

/* Every 4th step of 64 at CPL 3; a PMI is due at the third record. */
static void test_threshold(void)
{
	unsigned int good = 0;

	set_up(1, GPR, sizeof(buffer));
	ds[THRESHOLD] = ds[BUFFER] + 3 * (BASIC_SIZE + GPR_SIZE);
	ds[RESET] = -4 & COUNTER_MASK;
	count_down(0, COUNT_USER | ADAPTIVE, LEAD_USER + 4);
	expect_pmis(NULL);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	ok(pmi.nr == 1, "%u PMI while the status bit stays set", pmi.nr);
	ok(pmi.status[0] == STATUS_BUFFER, "its cause is 0x%lx", pmi.status[0]);
	ok(pmi.rip[0] == (uint64_t)user_steps + 12 * STEP_SIZE,
	   "it came right behind step %ld", (long)(pmi.rip[0] - (uint64_t)user_steps) / STEP_SIZE);
	ok(records() == 16, "%u records, as nothing stopped them", records());
	for (unsigned int i = 0; i < 16; i++)
		good += basic_is(buffer + i * (BASIC_SIZE + GPR_SIZE), user_steps, 4 + 4 * i, 1);
	ok(good == 16, "%u of them are good", good);

	set_up(1, GPR, sizeof(buffer));
	ds[THRESHOLD] = ds[BUFFER] + 3 * (BASIC_SIZE + GPR_SIZE);
	ds[RESET] = -4 & COUNTER_MASK;
	count_down(0, COUNT_USER | ADAPTIVE, LEAD_USER + 4);
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
	set_up(1, GPR, 2 * (BASIC_SIZE + GPR_SIZE) + 8);
	ds[RESET] = -8 & COUNTER_MASK;
	count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + 5);
	kernel_sled(1);
	ok(records() == 2, "%u records fit", records());
	ok(untouched_behind(buffer + 2 * (BASIC_SIZE + GPR_SIZE)), "nothing else is written");
	ok(rdmsr(MSR_GP_COUNTER) == ((-8 + SLED - 61 + TAIL_KERNEL) & COUNTER_MASK),
	   "the counter is reloaded all the same: 0x%lx", rdmsr(MSR_GP_COUNTER));
}

static void test_rings(void)
{
	set_up(1, GPR, sizeof(buffer));
	count_down(0, COUNT_USER | ADAPTIVE, 10);
	kernel_sled(1);
	ok(records() == 0, "the kernel's instructions make no record of a user event");

	set_up(1, GPR, sizeof(buffer));
	ds[RESET] = -8 & COUNTER_MASK;
	count_down(0, COUNT_KERNEL | ADAPTIVE, 8);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	ok(records() > 3 && records() < 1000, "a kernel event has its %u records around user mode",
	   records());
	for (const uint8_t *r = buffer; r < (uint8_t *)ds[INDEX]; r += record_size(r))
		if (word(r, 8) >= (uint64_t)user_steps &&
		    word(r, 8) < (uint64_t)user_steps + SLED * STEP_SIZE)
			ok(false, "a record of 0x%lx", word(r, 8));

	set_up(1, GPR, sizeof(buffer));
	count_down(0, COUNT_USER | ADAPTIVE, LEAD_USER + 10);
	wrmsr(MSR_GLOBAL_CTRL, 1);
	try_user(user_sled, NULL);
	wrmsr(MSR_GLOBAL_CTRL, 0);
	ok(records() == 1 && basic_is(buffer, user_steps, 10, 1) &&
	   !wrong_gprs((uint64_t *)(buffer + BASIC_SIZE), user_steps, 10), "a record of user mode");
}

static uint64_t take_away(const volatile void *page, uint64_t bits)
{
	uint64_t old = *page_entry(page);

	*page_entry(page) = old & ~bits;
	invlpg(page);
	return old;
}

static void give_back(const volatile void *page, uint64_t entry)
{
	*page_entry(page) = entry;
	invlpg(page);
}

static void overflow_once(void)
{
	set_up(1, GPR, sizeof(buffer));
	ds[RESET] = -5000 & COUNTER_MASK;
	count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + 10);
}

static void test_mapping(void)
{
	unsigned int size = BASIC_SIZE + GPR_SIZE;
	uint8_t *across = buffer + PAGE_SIZE - 72;
	uint64_t entry, swapped;

	overflow_once();
	ds[INDEX] = (uint64_t)across;
	kernel_sled(1);
	ok(ds[INDEX] == (uint64_t)across + size && basic_is(across, kernel_steps, 10, 1) &&
	   !wrong_gprs((uint64_t *)(across + BASIC_SIZE), kernel_steps, 10),
	   "a record may lie across two pages");

	overflow_once();
	ds[INDEX] = (uint64_t)across;
	entry = take_away(buffer + PAGE_SIZE, PTE_P);
	kernel_sled(1);
	give_back(buffer + PAGE_SIZE, entry);
	ok(ds[INDEX] == (uint64_t)across && untouched_behind(buffer),
	   "with its second page not mapped it is lost, and nothing is written");
	ok(rdmsr(MSR_GP_COUNTER) == ((-5000 + SLED - 10 + TAIL_KERNEL) & COUNTER_MASK),
	   "the counter is reloaded");

	overflow_once();
	entry = take_away(buffer, PTE_RW);
	kernel_sled(1);
	give_back(buffer, entry);
	ok(!records() && untouched_behind(buffer), "a page that is not writable gets no record");

	overflow_once();
	entry = take_away(ds, PTE_P);
	kernel_sled(1);
	give_back(ds, entry);
	ok(!records() && untouched_behind(buffer), "without the DS area the record is lost");

	/* Linear, not physical: the buffer's page is the third one for a while. */
	overflow_once();
	entry = *page_entry(buffer);
	swapped = *page_entry(buffer + 2 * PAGE_SIZE);
	give_back(buffer, swapped);
	kernel_sled(1);
	give_back(buffer, entry);
	ok(buffer[0] == CANARY && basic_is(buffer + 2 * PAGE_SIZE, kernel_steps, 10, 1),
	   "page tables say where the buffer is");
	give_back(buffer, entry & ~(PTE_A | PTE_D));
	overflow_once();
	give_back(buffer, entry & ~(PTE_A | PTE_D));
	kernel_sled(1);
	ok((*page_entry(buffer) & (PTE_A | PTE_D)) == (PTE_A | PTE_D), "a record makes its page dirty");
}

static void test_counters_group(void)
{
	const uint8_t *group = buffer + BASIC_SIZE;

	if (format < 6)
		return;
	set_up(1, COUNTERS | 5ull << 32 | 1ull << 48, sizeof(buffer));
	ds[RESET] = -5000 & COUNTER_MASK;
	count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + 10);
	count_down(2, COUNT_KERNEL, 1000);
	wrmsr(MSR_FIXED_CTRL, 1);
	wrmsr(MSR_FIXED_COUNTER, 7);
	kernel_sled(5 | 1ull << FIXED);
	ok(records() == 1 && record_size(buffer) == BASIC_SIZE + 16 + 3 * 8 &&
	   (uint32_t)word(buffer, 0) == COUNTERS, "a record of %lu bytes with counters",
	   record_size(buffer));
	ok(word(group, 0) == (5 | 1ull << 32) && !word(group, 8), "which are 0x%lx", word(group, 0));
	ok(word(group, 16) == 0, "counter 0 had overflowed: 0x%lx", word(group, 16));
	ok(word(group, 24) == ((-1000 + LEAD_KERNEL + 10) & COUNTER_MASK), "counter 2: 0x%lx",
	   word(group, 24));
	ok(word(group, 32) == 7 + LEAD_KERNEL + 10, "fixed counter 0: 0x%lx", word(group, 32));
}

static void test_metrics_group(void)
{
	const uint8_t *group = buffer + BASIC_SIZE;
	uint64_t slots = 12 * (LEAD_KERNEL + 10);

	if (!metrics)
		return;
	for (unsigned int groups = METRICS; groups <= (METRICS | COUNTERS); groups += COUNTERS) {
		unsigned int words = groups & COUNTERS ? 1 : 0;

		set_up(1, groups | 1ull << 32, sizeof(buffer));
		count_down(0, COUNT_KERNEL | ADAPTIVE, LEAD_KERNEL + 10);
		wrmsr(MSR_FIXED_CTRL, 0x1000);
		wrmsr(MSR_FIXED_COUNTER3, 0);
		wrmsr(MSR_PERF_METRICS, 0);
		kernel_sled(1 | 8ull << FIXED | ENABLE_METRICS);
		ok(records() == 1 && record_size(buffer) == BASIC_SIZE + 16 + (words + 2) * 8,
		   "groups 0x%x: a record of %lu bytes", groups, record_size(buffer));
		ok(word(group, 0) == words && word(group, 8) == 3,
		   "with counters 0x%lx and metrics 0x%lx", word(group, 0), word(group, 8));
		group += words * 8;
		ok(word(group, 16) == slots, "%ld slots", word(group, 16));
		ok(word(group, 24) == rdmsr(MSR_PERF_METRICS) && (uint8_t)word(group, 24) == 21,
		   "PERF_METRICS is 0x%lx", word(group, 24));
	}
}

int main(void)
{
	test_capabilities();
	test_msrs();
	test_groups();
	test_position();
	test_reload();
	test_several_records();
	test_several_counters();
	test_threshold();
	test_full();
	test_rings();
	test_mapping();
	test_counters_group();
	test_metrics_group();
	set_up(0, 0, 0);
	return 0;
}
