/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a bare-metal test program has: one C file with a main(), run on the boot
 * processor in 64-bit mode without any operating system.
 *
 * All of the first GiB is mapped at its own address, for user mode too; the
 * first 64 MiB in 4 KiB pages. SSE is on, so is AVX with OSXSAVE where CPUID
 * has XSAVE, and XCR0 has every bit that CPUID offers. CR0.WP is set. Interrupts
 * are off (IF = 0) and the 8259s are masked; the local APIC is enabled.
 *
 * The programs are compiled for the general registers only: a vector register
 * changes by the program's own asm statements alone, whatever it calls.
 */
#ifndef BARE_H
#define BARE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program: 0, or something else to say that it failed as a whole. */
int main(void);

/* ---- results --------------------------------------------------------------- */

/* One check. Formats: %d %u %x %ld %lu %lx %s %c %p %%, with 0 and a width. */
void ok(bool cond, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line of explanation. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Give up: the program cannot go on. */
void __attribute__((noreturn, format(printf, 1, 2))) bail_out(const char *fmt, ...);

/* ---- exceptions and interrupts ---------------------------------------------- */

enum {
	VECTOR_DE = 0, VECTOR_DB = 1, VECTOR_NMI = 2, VECTOR_BP = 3, VECTOR_UD = 6,
	VECTOR_NM = 7, VECTOR_DF = 8, VECTOR_SS = 12, VECTOR_GP = 13, VECTOR_PF = 14,
	VECTOR_CP = 21,
};

struct trap {
	int vector;		/* -1: the function returned */
	uint64_t error, rip;
};

/*
 * Run fn(arg), at CPL 0 or at CPL 3, until it returns or takes an exception, which
 * ends it. Whatever else it did stays done. Calls may be nested.
 */
struct trap try(void (*fn)(void *), void *arg);
struct trap try_user(void (*fn)(void *), void *arg);

/* The same for one MSR access; *value stays as it is if RDMSR fails. */
struct trap try_rdmsr(uint32_t msr, uint64_t *value);
struct trap try_wrmsr(uint32_t msr, uint64_t value);

struct regs {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

/*
 * Call handler for this vector, before any try(); NULL takes it away. What it
 * changes in *regs is in effect when it returns. It runs with interrupts off, an
 * NMI on a stack of its own. It writes apic[APIC_EOI] itself where that is due.
 */
void on_vector(int vector, void (*handler)(struct regs *));

/* ---- memory ----------------------------------------------------------------- */

#define PAGE_SIZE	4096
#define PTE_P		(1ull << 0)
#define PTE_RW		(1ull << 1)
#define PTE_US		(1ull << 2)
#define PTE_A		(1ull << 5)
#define PTE_D		(1ull << 6)
#define PTE_NX		(1ull << 63)

/* The entry of a 4 KiB page below 64 MiB, NULL elsewhere. invlpg() afterwards. */
uint64_t *page_entry(const volatile void *va);

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *p, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* ---- the local APIC: an index is a register's offset / 4 --------------------- */

extern volatile uint32_t *apic;

enum {
	APIC_ID = 0x20 / 4, APIC_EOI = 0xb0 / 4, APIC_SVR = 0xf0 / 4,
	APIC_ICR_LOW = 0x300 / 4, APIC_ICR_HIGH = 0x310 / 4,
	APIC_LVTPC = 0x340 / 4,
	APIC_LVT_MASKED = 1 << 16, APIC_LVT_NMI = 4 << 8,
};

/* ---- instructions ------------------------------------------------------------ */

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t lo, hi;

	asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid r;

	asm volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
		     : "a"(leaf), "c"(subleaf));
	return r;
}

static inline uint64_t xgetbv(uint32_t index)
{
	uint32_t lo, hi;

	asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(index));
	return (uint64_t)hi << 32 | lo;
}

static inline void xsetbv(uint32_t index, uint64_t value)
{
	asm volatile("xsetbv" : : "c"(index), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

#define BARE_CONTROL_REGISTER(n)					\
static inline uint64_t read_cr##n(void)					\
{									\
	uint64_t v;							\
									\
	asm volatile("mov %%cr" #n ", %0" : "=r"(v) : : "memory");	\
	return v;							\
}									\
									\
static inline void write_cr##n(uint64_t v)				\
{									\
	asm volatile("mov %0, %%cr" #n : : "r"(v) : "memory");		\
}

BARE_CONTROL_REGISTER(0)
BARE_CONTROL_REGISTER(2)
BARE_CONTROL_REGISTER(3)
BARE_CONTROL_REGISTER(4)

static inline void invlpg(const volatile void *va)
{
	asm volatile("invlpg (%0)" : : "r"(va) : "memory");
}

#endif
