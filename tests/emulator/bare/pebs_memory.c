// SPDX-License-Identifier: GPL-2.0-only
/*
 * PEBS records of loads and stores: each has the address that its instruction
 * accessed. The events, PEBS_LD_LAT and the memory group of a record are those of
 * Intel's SDM, volume 3, section on adaptive PEBS; the AUX group is that of
 * architectural PEBS in "Architecture Instruction Set Extensions".
 *
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,ds=on,dtes64=on,pebs-fmt=4
 * cpu: max,vendor=GenuineIntel,family=19,model=1,pmu=on,pdcm=on,arch-perfmon-ext=on,pebs-fmt=15
 */

#include "pebs.h"

#define MSR_PEBS_ENABLE		0x3f1
#define MSR_PEBS_DATA_CFG	0x3f2
#define MSR_PEBS_BASE		0x3f4
#define MSR_PEBS_INDEX		0x3f5
#define MSR_PEBS_LD_LAT		0x3f6
#define MSR_DS_AREA		0x600
#define MSR_GP_CFG_C0		0x1903

#define LOADS			(0x01cdull | 1 << 17 | 1 << 22)
#define STORES			(0x02cdull | 1 << 17 | 1 << 22)
#define INSTRUCTIONS		COUNT_KERNEL
#define ADAPTIVE		(1ull << 34)
#define MEMINFO			1
#define AUX			(1ull << 62)
#define EN			(1ull << 63)
#define EVERY_ONE		(-1ull & 0xffffffff)	/* a reload value */

#define PAGES_SHIFT		6
#define BUFFER_SIZE		(PAGE_SIZE << PAGES_SHIFT)

/* What the emulator's documentation gives. */
enum { SELECTED = 1009, LATENCY = 64, SOURCE = 4 };

static uint64_t ds[PAGE_SIZE / 8] __attribute__((aligned(PAGE_SIZE)));
static uint8_t buffer[BUFFER_SIZE] __attribute__((aligned(BUFFER_SIZE)));
static bool arch;

/* ---- a loop whose accesses are known ----------------------------------------- */

#define LOOPS		20000
#define INSNS		22	/* of a loop */
#define ON_STACK	1	/* in the table: where loop_rsp says */

struct access {
	const uint8_t *ip;
	uint64_t load, store;
};

extern const struct access accesses[], accesses_end[];
void memory_loop(uint64_t global_ctrl);
uint64_t loop_rsp, cells[16];
const void *loop_target;

asm("	.text\n"
    "	.globl	memory_loop, accesses, accesses_end\n"
    "	.macro	at load store\n"
    "	.section .rodata\n"
    "	.quad	661f, \\load, \\store\n"
    "	.text\n"
    "661:\n"
    "	.endm\n"
    "	.section .rodata\n"
    "	.balign 8\n"
    "accesses:\n"
    "	.text\n"
    "memory_loop:\n"
    "	pushq	%rbx\n"
    "	movq	%rsp, loop_rsp\n"
    "	subq	$8, loop_rsp\n"
    "	movq	$9f, loop_target\n"
    "	movl	%edi, %eax\n"
    "	movq	%rdi, %rdx\n"
    "	shrq	$32, %rdx\n"
    "	movl	$" STRING(LOOPS) ", %ebx\n"
    "	movl	$" STRING(MSR_GLOBAL_CTRL) ", %ecx\n"
    "	cld\n"
    "	wrmsr\n"
    "1:	at	cells, 0\n"
    "	movq	cells, %rax\n"
    "	at	0, cells + 8\n"
    "	movq	%rax, cells + 8\n"
    "	nop\n"
    "	leaq	cells, %rax\n"
    "	at	cells + 16, cells + 16\n"
    "	addq	$1, cells + 16\n"
    "	at	cells + 24, cells + 24\n"
    "	lock addq $1, cells + 24\n"
    "	at	cells + 32, 0\n"
    "	movups	cells + 32, %xmm0\n"
    "	at	0, cells + 48\n"
    "	movups	%xmm0, cells + 48\n"
    "	at	0, " STRING(ON_STACK) "\n"
    "	pushq	%rax\n"
    "	at	" STRING(ON_STACK) ", 0\n"
    "	popq	%rax\n"
    "	at	cells + 64, cells + 64\n"
    "	xchgq	%rax, cells + 64\n"
    "	movl	$cells + 72, %esi\n"
    "	movl	$cells + 80, %edi\n"
    "	at	cells + 72, cells + 80\n"
    "	movsq\n"
    "	at	cells + 88, 0\n"
    "	cmpb	$0, cells + 88\n"
    "	at	0, cells + 89\n"
    "	movb	$1, cells + 89\n"
    /* One that is alone in its block of code. */
    "	jmp	8f\n"
    "8:	at	loop_target, 0\n"
    "	jmp	*loop_target\n"
    "9:	prefetcht0 cells\n"
    "	at	cells + 96, 0\n"
    "	movq	cells + 96, %mm0\n"
    "	decl	%ebx\n"
    "	jnz	1b\n"
    "	movl	$" STRING(MSR_GLOBAL_CTRL) ", %ecx\n"
    "	xorl	%eax, %eax\n"
    "	xorl	%edx, %edx\n"
    "	wrmsr\n"
    "	emms\n"
    "	popq	%rbx\n"
    "	ret\n"
    "	.section .rodata\n"
    "accesses_end:\n"
    "	.text\n");

/* ---- records ----------------------------------------------------------------- */

static const uint8_t *end_of_records(void)
{
	return arch ? buffer + (rdmsr(MSR_PEBS_INDEX) & 0x7fffff0) : (const uint8_t *)ds[5];
}

/* A record's event and memory information, wherever it has them. */
struct record {
	const uint8_t *ip;
	uint64_t address, source, latency;
};

static const uint8_t *read_record(const uint8_t *p, struct record *r)
{
	const uint64_t *w = (const uint64_t *)p;

	if (arch) {	/* header, basic, AUX */
		*r = (struct record){ (const uint8_t *)w[2], w[8], w[13], w[14] };
		return p + (w[0] & 0xffff);
	}
	*r = (struct record){ (const uint8_t *)w[1], w[4], w[5], w[6] };
	return p + (w[0] >> 48);
}

/* Run the loop; every event becomes a record. */
static void record(uint64_t event, uint64_t latency)
{
	stop_counters();
	memset(ds, 0, sizeof(ds));
	memset(buffer, 0, sizeof(buffer));
	if (arch) {
		wrmsr(MSR_PEBS_BASE, (uint64_t)buffer | PAGES_SHIFT);
		wrmsr(MSR_PEBS_INDEX, 1ull << 32 | 0x7fffffull << 36);
		wrmsr(MSR_GP_CFG_C0, EN | AUX | EVERY_ONE);
	} else {
		ds[4] = ds[5] = (uint64_t)buffer;
		ds[6] = (uint64_t)buffer + sizeof(buffer);
		ds[7] = ~0ull;
		ds[8] = COUNTER_MASK;
		wrmsr(MSR_DS_AREA, (uint64_t)ds);
		wrmsr(MSR_PEBS_DATA_CFG, MEMINFO);
		wrmsr(MSR_PEBS_ENABLE, 1);
		event |= ADAPTIVE;
	}
	wrmsr(MSR_PEBS_LD_LAT, latency);
	count_down(0, event, 1);
	memory_loop(1);
}

static uint64_t count(uint64_t event)
{
	stop_counters();
	if (arch)
		wrmsr(MSR_GP_CFG_C0, 0);
	else
		wrmsr(MSR_PEBS_ENABLE, 0);
	wrmsr(MSR_PEBS_LD_LAT, 3);
	count_down(0, event, 0);
	memory_loop(1);
	return rdmsr(MSR_GP_COUNTER);
}

static uint64_t address_of(const struct access *a, bool stores)
{
	uint64_t v = stores ? a->store : a->load;

	return v == ON_STACK ? loop_rsp : v;
}

static void test_records(const char *what, uint64_t event, bool stores)
{
	unsigned int nr = 0, unknown = 0, wrong = 0, made_up = 0, seen[32] = { 0 }, kinds = 0, missed = 0;
	struct record r;

	record(event, 3);
	for (const uint8_t *p = buffer, *end = end_of_records(); p < end && nr < 100000; nr++) {
		const struct access *a = accesses;

		p = read_record(p, &r);
		while (a < accesses_end && a->ip != r.ip)
			a++;
		if (a == accesses_end || !address_of(a, stores)) {
			unknown++;
			note("a record of 0x%lx", (uint64_t)r.ip);
			continue;
		}
		if (r.address != address_of(a, stores)) {
			wrong++;
			note("instruction %ld: 0x%lx, expected 0x%lx", (long)(a - accesses), r.address,
			     address_of(a, stores));
		}
		made_up += r.source != SOURCE || r.latency != (LATENCY | (uint64_t)LATENCY << 32);
		seen[a - accesses]++;
	}
	for (const struct access *a = accesses; a < accesses_end; a++) {
		kinds += !!address_of(a, stores);
		missed += address_of(a, stores) && seen[a - accesses] < LOOPS / SELECTED / 2;
	}
	ok(nr > kinds * (LOOPS / SELECTED) * 9 / 10 && nr < kinds * (LOOPS / SELECTED + 1) * 11 / 10,
	   "%s: %u records, of %u instructions in %u", what, nr, kinds, INSNS);
	ok(!unknown, "%s: all are of those: %u are not", what, unknown);
	ok(!wrong, "%s: they have the address: %u have another", what, wrong);
	ok(!made_up, "%s: latency and source are as documented, but for %u", what, made_up);
	ok(!missed, "%s: all instructions have their part, but %u", what, missed);
	ok(count(event) + 2 >= nr && count(event) <= nr + 2, "%s: counted %ld without records", what,
	   count(event));
}

static void test_latency(void)
{
	record(LOADS, LATENCY);
	ok(end_of_records() > buffer, "loads that take so long are recorded");
	record(LOADS, LATENCY + 1);
	ok(end_of_records() == buffer, "none takes longer");
	record(STORES, LATENCY + 1);
	ok(end_of_records() > buffer, "stores are not asked");
	ok(rdmsr(MSR_PEBS_LD_LAT) == LATENCY + 1, "PEBS_LD_LAT keeps its value");
	ok(try_wrmsr(MSR_PEBS_LD_LAT, 0x10000).vector == VECTOR_GP, "#GP: its bit 16");
}

/* Other events have no address, whatever was accessed. */
static void test_others(void)
{
	struct record r;

	record(INSTRUCTIONS, 3);
	read_record(buffer, &r);
	ok(end_of_records() > buffer && !r.address && !r.source && !r.latency,
	   "a record of instructions has no address: 0x%lx", r.address);
}

int main(void)
{
	arch = (rdmsr(MSR_PERF_CAPABILITIES) >> 8 & 15) == 15;
	test_records("loads", LOADS, false);
	test_records("stores", STORES, true);
	test_latency();
	test_others();
	stop_counters();
	return 0;
}
