// SPDX-License-Identifier: GPL-2.0-only
/*
 * The harness itself: what it promises in bare.h, on any QEMU.
 *
 * cpu: max
 * cpu: qemu64
 * any-qemu
 */

#include "bare.h"

/* TCG answers most unknown MSRs with 0; these two it knows. */
#define MSR_EFER	0xc0000080
#define MSR_PKRS	0x6e1

static volatile int ran;

static void return_at_once(void *arg)
{
	ran = *(int *)arg;
}

static void undefined(void *arg)
{
	asm volatile("ud2");
}

static void divide(void *arg)
{
	asm volatile("xorl %%edx, %%edx; divl %0" : : "r"(0), "a"(1) : "edx");
}

static void read_efer(void *arg)
{
	rdmsr(MSR_EFER);
}

static void load_selector(void *arg)
{
	asm volatile("mov %0, %%fs" : : "r"(0x1230));
}

static void write_byte(void *arg)
{
	*(volatile char *)arg = 1;
}

static void read_level(void *arg)
{
	uint16_t cs;

	asm volatile("mov %%cs, %0" : "=r"(cs));
	*(int *)arg = cs & 3;
}

static void spoil_registers(void *arg)
{
	asm volatile("mov $1, %%rbx; mov $2, %%r12; mov $3, %%r13; mov $4, %%r14; mov $5, %%r15\n\t"
		     "std; ud2" : : : "rbx", "r12", "r13", "r14", "r15");
}

static char page[PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

static void expect(struct trap trap, int vector, uint64_t error, const char *what)
{
	ok(trap.vector == vector && (vector < 0 || trap.error == error),
	   "%s: vector %d error 0x%lx, is %d 0x%lx", what, vector, error, trap.vector, trap.error);
}

static void check_try(void)
{
	uint64_t flags, value = 0;
	int arg = 42, level = -1;
	struct trap t;

	expect(try(return_at_once, &arg), -1, 0, "a function that returns");
	ok(ran == 42, "it ran with its argument");
	t = try(undefined, NULL);
	expect(t, VECTOR_UD, 0, "UD2");
	ok(t.rip == (uint64_t)undefined, "the address is that of UD2: 0x%lx, is 0x%lx",
	   (uint64_t)undefined, t.rip);
	expect(try(divide, NULL), VECTOR_DE, 0, "DIV by 0");
	expect(try_rdmsr(MSR_EFER, &value), -1, 0, "try_rdmsr() of EFER");
	ok(value & 1 << 10, "EFER.LMA is set: 0x%lx", value);
	expect(try_wrmsr(MSR_EFER, value), -1, 0, "try_wrmsr() of EFER");
	expect(try_wrmsr(MSR_PKRS, 1ull << 32), VECTOR_GP, 0, "a reserved bit of PKRS");
	expect(try(load_selector, NULL), VECTOR_GP, 0x1230, "a selector beyond the GDT");

	try(spoil_registers, NULL);
	asm volatile("pushfq; popq %0" : "=r"(flags));
	ok(!(flags & 1 << 10), "the direction flag is as before");
	ok(arg == 42 && level == -1, "so are the registers");

	expect(try_user(read_level, &level), -1, 0, "a function in user mode");
	ok(level == 3, "that ran at CPL 3, is %d", level);
	expect(try(read_level, &level), -1, 0, "a function in kernel mode");
	ok(level == 0, "that ran at CPL 0, is %d", level);
	expect(try_user(read_efer, NULL), VECTOR_GP, 0, "RDMSR in user mode");
	expect(try_user(undefined, NULL), VECTOR_UD, 0, "UD2 in user mode");
}

static void check_pages(void)
{
	uint64_t *entry = page_entry(page), saved = *entry;

	ok((saved & 0x7fffffffff000) == (uint64_t)page, "a page's entry maps it");
	ok(page_entry((void *)0x4000000) == NULL, "above 64 MiB there are no entries");
	expect(try_user(write_byte, page), -1, 0, "a user page");
	*entry = saved & ~PTE_P;
	invlpg(page);
	expect(try(write_byte, page), VECTOR_PF, 2, "a write where nothing is");
	ok(read_cr2() == (uint64_t)page, "CR2 is its address");
	expect(try_user(write_byte, page), VECTOR_PF, 6, "the same from user mode");
	*entry = saved & ~PTE_US;
	invlpg(page);
	expect(try_user(write_byte, page), VECTOR_PF, 7, "a page of the kernel from user mode");
	expect(try(write_byte, page), -1, 0, "and from the kernel");
	*entry = saved & ~PTE_RW;
	invlpg(page);
	expect(try(write_byte, page), VECTOR_PF, 3, "a read-only page, CR0.WP");
	*entry = saved;
	invlpg(page);
	expect(try(write_byte, (void *)0x10000000), -1, 0, "the second 2 MiB-mapped part");
	expect(try(write_byte, (void *)0x40000000), VECTOR_PF, 2, "beyond the first GiB");
}

static struct regs seen;
static volatile int times;

static void skip_ud2(struct regs *regs)
{
	seen = *regs;
	times++;
	regs->rip += 2;
	regs->rax = 77;
}

static void count_nmi(struct regs *regs)
{
	seen = *regs;
	times++;
}

static void count_interrupt(struct regs *regs)
{
	times++;
	apic[APIC_EOI] = 0;
}

static void check_handlers(void)
{
	uint64_t rax = 5, r15;

	on_vector(VECTOR_UD, skip_ud2);
	asm volatile("mov $0x1515, %%r15; ud2; mov %%r15, %1" : "+a"(rax), "=r"(r15) : : "r15");
	on_vector(VECTOR_UD, NULL);
	ok(times == 1 && seen.vector == VECTOR_UD && seen.rax == 5 && seen.r15 == 0x1515,
	   "a handler sees the registers");
	ok(rax == 77 && r15 == 0x1515, "and what it changes is in effect");

	times = 0;
	on_vector(VECTOR_NMI, count_nmi);
	apic[APIC_ICR_HIGH] = apic[APIC_ID];
	apic[APIC_ICR_LOW] = APIC_LVT_NMI;
	for (int i = 0; i < 1000000 && !times; i++)
		asm volatile("pause");
	ok(times == 1 && seen.vector == VECTOR_NMI, "an NMI from the APIC arrives once: %d", times);
	apic[APIC_ICR_LOW] = APIC_LVT_NMI;
	for (int i = 0; i < 1000000 && times < 2; i++)
		asm volatile("pause");
	ok(times == 2, "and again, as IRET has unblocked it");
	on_vector(VECTOR_NMI, NULL);

	times = 0;
	on_vector(0x50, count_interrupt);
	apic[APIC_ICR_LOW] = 0x50;
	for (int i = 0; i < 1000; i++)
		asm volatile("pause");
	ok(times == 0, "interrupts are off");
	asm volatile("sti");
	for (int i = 0; i < 1000000 && !times; i++)
		asm volatile("pause");
	asm volatile("cli");
	ok(times == 1, "until they are let in");
	on_vector(0x50, NULL);
}

int main(void)
{
	struct cpuid c = cpuid(1, 0);

	check_try();
	check_pages();
	check_handlers();
	ok(!!(c.ecx & 1 << 27) == !!(c.ecx & 1 << 26), "OSXSAVE is set where XSAVE is");
	if (c.ecx & 1 << 26) {
		struct cpuid d = cpuid(0xd, 0);

		ok(xgetbv(0) == ((uint64_t)d.edx << 32 | d.eax), "XCR0 has all components: 0x%lx",
		   xgetbv(0));
	}
	return 0;
}
