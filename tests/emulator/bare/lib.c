// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C part of the bare-metal harness: results as TAP on QEMU's debug console,
 * the verdict through isa-debug-exit, exceptions, the processor's set-up.
 */

#include "bare.h"
#include "layout.h"

#define DEBUGCON_PORT	0xe9
#define EXIT_PORT	0xf4
/* isa-debug-exit makes an exit status of 2 * value + 1; the runner knows these. */
#define EXIT_PASS	0x10
#define EXIT_FAIL	0x11

#define MSR_EFER	0xc0000080
#define EFER_NXE	(1 << 11)
#define CR4_OSXSAVE	(1 << 18)
#define CPUID_1_ECX_XSAVE (1 << 26)
#define CPUID_EXT1_EDX_NX (1 << 20)

#define APIC_BASE	0xfee00000
#define APIC_SVR_ENABLED 0x100
#define SPURIOUS_VECTOR	0xff

#define GATE_INTERRUPT	0x8e
#define GATE_DPL3	0x60
#define NMI_IST		1

volatile uint32_t *apic = (void *)APIC_BASE;

/* ---- output ------------------------------------------------------------------ */

static void outb(uint16_t port, uint8_t v)
{
	asm volatile("outb %0, %1" : : "a"(v), "Nd"(port));
}

static void outl(uint16_t port, uint32_t v)
{
	asm volatile("outl %0, %1" : : "a"(v), "Nd"(port));
}

static void put(char c)
{
	outb(DEBUGCON_PORT, c);
}

static void put_string(const char *s)
{
	while (*s)
		put(*s++);
}

static void put_number(uint64_t v, unsigned int base, bool negative, int width, char pad)
{
	char digits[24];
	int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	if (negative && pad == '0')
		put('-');
	for (int i = n + negative; i < width; i++)
		put(pad);
	if (negative && pad != '0')
		put('-');
	while (n)
		put(digits[--n]);
}

static void put_format(const char *fmt, va_list args)
{
	for (; *fmt; fmt++) {
		int width = 0, longs = 0;
		char pad = ' ';
		int64_t d;

		if (*fmt != '%') {
			put(*fmt);
			continue;
		}
		fmt++;
		if (*fmt == '0')
			pad = *fmt++;
		for (; *fmt >= '0' && *fmt <= '9'; fmt++)
			width = width * 10 + *fmt - '0';
		for (; *fmt == 'l' || *fmt == 'z'; fmt++)
			longs++;
		switch (*fmt) {
		case 'd':
			d = longs ? va_arg(args, int64_t) : va_arg(args, int);
			put_number(d < 0 ? -(uint64_t)d : (uint64_t)d, 10, d < 0, width, pad);
			break;
		case 'u':
		case 'x':
			put_number(longs ? va_arg(args, uint64_t) : va_arg(args, uint32_t),
				   *fmt == 'x' ? 16 : 10, false, width, pad);
			break;
		case 'p':
			put_string("0x");
			put_number((uintptr_t)va_arg(args, void *), 16, false, width, pad);
			break;
		case 's':
			put_string(va_arg(args, const char *));
			break;
		case 'c':
			put(va_arg(args, int));
			break;
		case '%':
			put('%');
			break;
		default:
			/* The compiler checks formats, so this one it knows and we do not. */
			put_string("<format?>");
			return;
		}
	}
}

/* ---- results ----------------------------------------------------------------- */

static unsigned int checks, failures;

static void result(bool good)
{
	checks++;
	failures += !good;
	put_string(good ? "ok " : "not ok ");
	put_number(checks, 10, false, 0, ' ');
	put_string(" - ");
}

void ok(bool cond, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	result(cond);
	put_format(fmt, args);
	put('\n');
	va_end(args);
}

void note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_string("# ");
	put_format(fmt, args);
	put('\n');
	va_end(args);
}

static void __attribute__((noreturn)) finish(bool good)
{
	outl(EXIT_PORT, good ? EXIT_PASS : EXIT_FAIL);
	for (;;)
		asm volatile("cli; hlt");
}

void bail_out(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_string("Bail out! ");
	put_format(fmt, args);
	put('\n');
	va_end(args);
	finish(false);
}

static void __attribute__((noreturn)) conclude(int status)
{
	if (status)
		ok(false, "main() returned %d", status);
	if (!checks)
		ok(false, "the program checked nothing");
	put_string("1..");
	put_number(checks, 10, false, 0, ' ');
	put('\n');
	finish(!failures);
}

/* ---- exceptions -------------------------------------------------------------- */

struct idt_gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_middle;
	uint32_t offset_high, reserved;
};

struct __attribute__((packed)) table_pointer {
	uint16_t limit;
	uint64_t base;
};

/* A try() in progress: where it goes on when what it runs is abandoned. */
struct catch {
	uint64_t rsp;
	struct catch *outer;
	struct trap trap;
};

extern char vectors[], run_caught[], nmi_stack_end[];
extern uint8_t tss[];
extern uint64_t gdt[], page_tables[];
bool run_catching(void (*fn)(void *), void *arg, uint64_t *catch_rsp);
bool run_catching_user(void (*fn)(void *), void *arg, uint64_t *catch_rsp);
void trap(struct regs *regs);
void harness_main(void);

static struct idt_gate idt[256];
static void (*handlers[256])(struct regs *);
static struct catch *catching;

void on_vector(int vector, void (*handler)(struct regs *))
{
	handlers[vector] = handler;
}

/* Called for every vector by start.S, which returns to what *regs says. */
void trap(struct regs *regs)
{
	bool left_user = regs->vector == LEAVE_USER && (regs->cs & 3) == 3;

	if (handlers[regs->vector]) {
		handlers[regs->vector](regs);
		return;
	}
	if (!catching)
		bail_out("vector %lu with error code 0x%lx at 0x%lx, CR2 0x%lx",
			 regs->vector, regs->error, regs->rip, read_cr2());
	catching->trap.vector = left_user ? -1 : (int)regs->vector;
	catching->trap.error = regs->error;
	catching->trap.rip = regs->rip;
	regs->rip = (uint64_t)run_caught;
	regs->rsp = catching->rsp;
	regs->cs = KERNEL_CS;
	regs->ss = KERNEL_DS;
	regs->rflags = 2;
}

static struct trap
try_by(bool (*run)(void (*)(void *), void *, uint64_t *), void (*fn)(void *), void *arg)
{
	struct catch here = { .outer = catching, .trap.vector = -1 };

	catching = &here;
	run(fn, arg, &here.rsp);
	catching = here.outer;
	return here.trap;
}

struct trap try(void (*fn)(void *), void *arg)
{
	return try_by(run_catching, fn, arg);
}

struct trap try_user(void (*fn)(void *), void *arg)
{
	uint64_t rsp0;
	struct trap trap;

	/* A handler may itself run something in user mode. */
	memcpy(&rsp0, tss + TSS_RSP0, sizeof(rsp0));
	trap = try_by(run_catching_user, fn, arg);
	memcpy(tss + TSS_RSP0, &rsp0, sizeof(rsp0));
	return trap;
}

struct msr_access {
	uint32_t msr;
	uint64_t value;
};

static void do_rdmsr(void *p)
{
	struct msr_access *a = p;

	a->value = rdmsr(a->msr);
}

static void do_wrmsr(void *p)
{
	struct msr_access *a = p;

	wrmsr(a->msr, a->value);
}

struct trap try_rdmsr(uint32_t msr, uint64_t *value)
{
	struct msr_access a = { .msr = msr };
	struct trap trap = try(do_rdmsr, &a);

	if (trap.vector < 0)
		*value = a.value;
	return trap;
}

struct trap try_wrmsr(uint32_t msr, uint64_t value)
{
	struct msr_access a = { .msr = msr, .value = value };

	return try(do_wrmsr, &a);
}

/* ---- memory ------------------------------------------------------------------ */

uint64_t *page_entry(const volatile void *va)
{
	uint64_t page = (uintptr_t)va / PAGE_SIZE;

	return page < SMALL_PAGES ? &page_tables[page] : NULL;
}

/* The compiler may call these; volatile keeps memcmp() from being made to call itself. */
void *memcpy(void *to, const void *from, size_t n)
{
	void *d = to;

	asm volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
	return to;
}

void *memset(void *p, int byte, size_t n)
{
	void *d = p;

	asm volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(byte) : "memory");
	return p;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const volatile uint8_t *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

/* ---- set-up ------------------------------------------------------------------ */

static void set_up_tables(void)
{
	const struct table_pointer idtr = { sizeof(idt) - 1, (uint64_t)idt };
	uint64_t base = (uint64_t)tss, ist = (uint64_t)nmi_stack_end;
	uint64_t *descriptor = &gdt[TSS_SELECTOR / 8];

	/* Each entry in start.S is 16 bytes long. */
	for (int v = 0; v < 256; v++) {
		uint64_t entry = (uint64_t)vectors + 16 * v;

		idt[v] = (struct idt_gate){
			.offset_low = entry,
			.offset_middle = entry >> 16,
			.offset_high = entry >> 32,
			.selector = KERNEL_CS,
			.type = GATE_INTERRUPT,
		};
	}
	idt[VECTOR_NMI].ist = NMI_IST;
	idt[VECTOR_BP].type |= GATE_DPL3;
	idt[LEAVE_USER].type |= GATE_DPL3;
	asm volatile("lidt %0" : : "m"(idtr));

	memcpy(tss + TSS_IST1, &ist, sizeof(ist));
	/* The I/O permission bitmap lies behind the limit: there is none. */
	memcpy(tss + TSS_IO_MAP, &(uint16_t){ TSS_SIZE }, sizeof(uint16_t));
	descriptor[0] = (TSS_SIZE - 1) | (base & 0xffffff) << 16 | 0x89ull << 40 |
			(base >> 24 & 0xff) << 56;
	descriptor[1] = base >> 32;
	asm volatile("ltr %w0" : : "r"(TSS_SELECTOR));
}

static void set_up_processor(void)
{
	struct cpuid c;

	if (cpuid(0x80000001, 0).edx & CPUID_EXT1_EDX_NX)
		wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NXE);
	if (cpuid(1, 0).ecx & CPUID_1_ECX_XSAVE) {
		write_cr4(read_cr4() | CR4_OSXSAVE);
		c = cpuid(0xd, 0);
		xsetbv(0, (uint64_t)c.edx << 32 | c.eax);
	}
	asm volatile("fninit");
}

static void set_up_interrupts(void)
{
	outb(0x21, 0xff);
	outb(0xa1, 0xff);
	apic[APIC_SVR] = APIC_SVR_ENABLED | SPURIOUS_VECTOR;
}

void harness_main(void)
{
	set_up_tables();
	set_up_processor();
	set_up_interrupts();
	conclude(main());
}
