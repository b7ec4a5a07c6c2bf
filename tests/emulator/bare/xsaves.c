// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the XSAVE instructions and their registers fault, one rule after the other,
 * and that what faults leaves the state alone.
 *
 * cpu: max
 * cpu: max,avx512f=on
 * cpu: max,avx512f=on,apxf=on,shstk=on,xsavec=on,xsaves=on
 * cpu: max,vendor=AuthenticAMD,avx512f=on,xsavec=on,xsaves=on
 * cpu: max,shstk=on
 */

#include "xstate.h"

#define MSR_S_CET	0x6a2
#define MSR_PL0_SSP	0x6a4
#define MSR_INT_SSP_TAB	0x6a8

#define CR0_TS		(1ull << 3)
#define CR0_WP		(1ull << 16)
#define CR4_OSXSAVE	(1ull << 18)
#define CR4_CET		(1ull << 23)

static struct state a, b, seen;
static struct area area, pages[2];

static uint64_t rfbm_now;

#define FUNCTION(name)							\
static void do_##name(void *at)						\
{									\
	name(at, rfbm_now);						\
}
FUNCTION(xsave)
FUNCTION(xsaveopt)
FUNCTION(xsavec)
FUNCTION(xsaves)
FUNCTION(xrstor)
FUNCTION(xrstors)

typedef void function(void *);

static void expect(struct trap t, int vector, const char *what)
{
	ok(t.vector == vector && (vector < 0 || t.error == 0), "%s: vector %d, is %d error 0x%lx",
	   what, vector, t.vector, t.error);
}

/* Restore from the area: it faults, and a is still what is in the registers. */
static void refused(function *how, uint64_t rfbm, const char *what)
{
	struct trap t;

	rfbm_now = rfbm;
	load_state(&a);
	t = try(how, &area);
	read_state(&seen);
	ok(t.vector == VECTOR_GP && t.error == 0 && !state_differs(&seen, &a),
	   "%s: #GP and nothing changes, is %d error 0x%lx and 0x%lx differs", what, t.vector,
	   t.error, state_differs(&seen, &a));
}

static void accepted(function *how, uint64_t rfbm, const char *what)
{
	rfbm_now = rfbm;
	expect(try(how, &area), -1, what);
}

/* ---- #UD, #NM, alignment, privilege --------------------------------------------- */

#define BYTES(name, bytes)						\
static void name(void *at)						\
{									\
	asm volatile(".byte " bytes : : "D"(at), "a"(0), "d"(0) : "memory");	\
}
BYTES(xrstors_66, "0x66, 0x0f, 0xc7, 0x1f")
BYTES(xrstors_f2, "0xf2, 0x0f, 0xc7, 0x1f")
BYTES(xrstors_f3, "0xf3, 0x0f, 0xc7, 0x1f")
BYTES(xrstors_lock, "0xf0, 0x0f, 0xc7, 0x1f")
BYTES(xsavec_66, "0x66, 0x0f, 0xc7, 0x27")
BYTES(xsavec_f2, "0xf2, 0x0f, 0xc7, 0x27")
BYTES(xsavec_f3, "0xf3, 0x0f, 0xc7, 0x27")
BYTES(xsavec_lock, "0xf0, 0x0f, 0xc7, 0x27")
BYTES(xsaves_66, "0x66, 0x0f, 0xc7, 0x2f")
BYTES(xsaves_f2, "0xf2, 0x0f, 0xc7, 0x2f")
BYTES(xsaves_f3, "0xf3, 0x0f, 0xc7, 0x2f")
BYTES(xsaves_lock, "0xf0, 0x0f, 0xc7, 0x2f")
BYTES(register_3, "0x0f, 0xc7, 0xdf")
BYTES(register_4, "0x0f, 0xc7, 0xe7")
BYTES(register_5, "0x0f, 0xc7, 0xef")

static const struct {
	const char *name;
	function *run;
	bool *there;
	bool restores, privileged, old;
	function *odd[4];
} instructions[] = {
	{ "XSAVE", do_xsave, NULL, false, false, true, { NULL } },
	{ "XSAVEOPT", do_xsaveopt, &has_xsaveopt, false, false, true, { NULL } },
	{ "XRSTOR", do_xrstor, NULL, true, false, true, { NULL } },
	{ "XSAVEC", do_xsavec, &has_xsavec, false, false, false,
	  { xsavec_66, xsavec_f2, xsavec_f3, xsavec_lock } },
	{ "XSAVES", do_xsaves, &has_xsaves, false, true, false,
	  { xsaves_66, xsaves_f2, xsaves_f3, xsaves_lock } },
	{ "XRSTORS", do_xrstors, &has_xsaves, true, true, false,
	  { xrstors_66, xrstors_f2, xrstors_f3, xrstors_lock } },
};

static void check_instructions(void)
{
	static const char *const prefix[] = { "66", "F2", "F3", "LOCK" };

	random_state(&a);
	for (size_t i = 0; i < sizeof(instructions) / sizeof(*instructions); i++) {
		const char *name = instructions[i].name;
		function *run = instructions[i].run;
		bool compacted = instructions[i].restores && instructions[i].privileged;
		struct trap t;

		rfbm_now = BIT(SSE);
		make_area(&area, &a, BIT(SSE), compacted ? COMPACTED | BIT(SSE) : 0);
		if (instructions[i].there && !*instructions[i].there) {
			note("no %s", name);
			expect(try(run, &area), VECTOR_UD, "it is undefined");
			continue;
		}
		note("%s", name);
		expect(try(run, &area), -1, "it works");
		expect(try_user(run, &area), instructions[i].privileged ? VECTOR_GP : -1,
		       "in user mode");
		for (int offset = 1; offset < 64; offset <<= 1) {
			t = try(run, area.b + offset);
			if (t.vector != VECTOR_GP || t.error)
				ok(false, "at an offset of %d: vector %d", offset, t.vector);
		}
		expect(try(run, area.b + 32), VECTOR_GP, "where 64 does not divide the address");
		write_cr4(read_cr4() & ~CR4_OSXSAVE);
		t = try(run, &area);
		write_cr4(read_cr4() | CR4_OSXSAVE);
		expect(t, VECTOR_UD, "with CR4.OSXSAVE clear");
		for (int j = 0; instructions[i].odd[j]; j++) {
			t = try(instructions[i].odd[j], &area);
			ok(t.vector == VECTOR_UD, "prefix %s: #UD, is %d", prefix[j], t.vector);
			if (j == 3)
				break;
		}
		/* The older three do not know of CR0.TS in TCG. */
		if (!instructions[i].old) {
			write_cr0(read_cr0() | CR0_TS);
			t = try(run, &area);
			write_cr0(read_cr0() & ~CR0_TS);
			expect(t, VECTOR_NM, "with CR0.TS set");
		}
	}
	expect(try(register_3, &area), VECTOR_UD, "XRSTORS of a register");
	expect(try(register_4, &area), VECTOR_UD, "XSAVEC of a register");
	expect(try(register_5, &area), VECTOR_UD, "XSAVES of a register");
}

/* ---- headers ---------------------------------------------------------------------- */

static void fresh(uint64_t components, uint64_t xcomp_bv)
{
	make_area(&area, &b, components, xcomp_bv);
}

static void check_standard_headers(void)
{
	unsigned int bad = 0;

	random_state(&a);
	random_state(&b);
	load_state(&a);
	fresh(xcr0_all, 0);
	accepted(do_xrstor, 0, "a standard area");
	for (int i = XCOMP_BV; i < XSTATE_BV + 24; i++) {
		struct trap t;

		fresh(xcr0_all, 0);
		area.b[i] = 1;
		rfbm_now = xcr0_all;
		t = try(do_xrstor, &area);
		bad += t.vector != VECTOR_GP;
	}
	ok(!bad, "bytes 23:8 of the header must be zero: %u of 16 are not looked at", bad);
	fresh(xcr0_all, 0);
	area.b[XSTATE_BV + 8] = 1;
	refused(do_xrstor, xcr0_all, "one of them is not");
	bad = 0;
	for (int i = XSTATE_BV + 24; i < EXTENDED; i++) {
		fresh(xcr0_all, 0);
		area.b[i] = 1;
		bad += try(do_xrstor, &area).vector != -1;
	}
	ok(!bad, "the others may be anything: %u of 40 fault", bad);
	bad = 0;
	for (int i = 0; i < 64; i++) {
		struct trap t;

		fresh(xcr0_all, 0);
		put64(area.b + XSTATE_BV, xcr0_all | BIT(i));
		t = try(do_xrstor, &area);
		bad += t.vector != (xcr0_all & BIT(i) ? -1 : VECTOR_GP);
	}
	ok(!bad, "XSTATE_BV has bits of XCR0 only: %u of 64 wrong", bad);
	if (!has_xsavec && !has_xsaves) {
		fresh(xcr0_all, COMPACTED | xcr0_all);
		refused(do_xrstor, xcr0_all, "a compacted area without XSAVEC");
	}
}

static void check_compacted_headers(function *how, uint64_t all, const char *name)
{
	unsigned int bad = 0;
	uint32_t mxcsr = 0x10000 | MXCSR_INIT;

	note("compacted areas and %s", name);
	random_state(&a);
	random_state(&b);
	load_state(&a);
	fresh(all, COMPACTED | all);
	accepted(how, 0, "an area");
	rfbm_now = all;
	for (int i = HEADER_REST; i < EXTENDED; i++) {
		fresh(all, COMPACTED | all);
		area.b[i] = 0x80;
		bad += try(how, &area).vector != VECTOR_GP;
	}
	ok(!bad, "bytes 63:16 of the header must be zero: %u of 48 are not looked at", bad);
	fresh(all, COMPACTED | all);
	area.b[EXTENDED - 1] = 1;
	refused(how, all, "the last one is not");

	bad = 0;
	for (int i = 0; i < 63; i++) {
		struct trap t;

		fresh(0, COMPACTED | all | BIT(i));
		t = try(how, &area);
		bad += t.vector != (all & BIT(i) ? -1 : VECTOR_GP);
	}
	ok(!bad, "XCOMP_BV has enabled components only: %u of 63 wrong", bad);

	bad = 0;
	for (int i = 0; i < 64; i++) {
		fresh(all & ~BIT(i), COMPACTED | (all & ~BIT(i)));
		put64(area.b + XSTATE_BV, (all & ~BIT(i)) | BIT(i));
		bad += try(how, &area).vector != VECTOR_GP;
	}
	ok(!bad, "XSTATE_BV has none that is not in XCOMP_BV: %u of 64 wrong", bad);

	fresh(all, COMPACTED | all);
	memcpy(area.b + MXCSR, &mxcsr, 4);
	refused(how, all, "a reserved bit of MXCSR");
	accepted(how, all & ~BIT(SSE), "which does not matter without SSE");
	fresh(all & ~BIT(SSE), COMPACTED | all);
	memcpy(area.b + MXCSR, &mxcsr, 4);
	accepted(how, all, "nor if SSE becomes initial");
}

static void check_supervisor(void)
{
	static const struct {
		uint64_t u_cet, ssp;
		const char *what;
	} images[] = {
		{ 1ull << 2, 0x1000, "U_CET.ENDBR_EN without branch tracking" },
		{ 1ull << 6, 0x1000, "bit 6 of U_CET" },
		{ 1ull << 63, 0x1000, "bit 63 of U_CET" },
		{ 1, 0x1001, "an odd SSP" },
		{ 1, 0x1002, "an SSP that 4 does not divide" },
		{ 1, 0x800000000000, "an SSP that is not canonical" },
	};
	uint64_t all = xcr0_all | xss_all;

	random_state(&a);
	random_state(&b);
	fresh(all, 0);
	put64(area.b + XSTATE_BV, 0);
	refused(do_xrstors, 0, "XRSTORS of a standard area");
	if (!(xss_all & BIT(CET_U)))
		return;

	fresh(all, COMPACTED | all);
	refused(do_xrstor, xcr0_all, "XRSTOR of an area with supervisor state");
	wrmsr(MSR_XSS, 0);
	refused(do_xrstors, all, "XRSTORS of it while IA32_XSS is 0");
	load_state(&a);
	memset(&area, 0, sizeof(area));
	xsaves(&area, all);
	ok(get64(area.b + XCOMP_BV) == (COMPACTED | xcr0_all) &&
	   get64(area.b + XSTATE_BV) == xcr0_all,
	   "XSAVES then leaves it out: XCOMP_BV 0x%lx", get64(area.b + XCOMP_BV));
	wrmsr(MSR_XSS, xss_all);
	memset(&area, 0, sizeof(area));
	xsavec(&area, all);
	ok(get64(area.b + XCOMP_BV) == (COMPACTED | xcr0_all), "XSAVEC always does: XCOMP_BV 0x%lx",
	   get64(area.b + XCOMP_BV));

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		fresh(all, COMPACTED | all);
		put64(area.b + component_offset(CET_U, COMPACTED | all), images[i].u_cet);
		put64(area.b + component_offset(CET_U, COMPACTED | all) + 8, images[i].ssp);
		refused(do_xrstors, all, images[i].what);
		accepted(do_xrstors, xcr0_all, "which does not matter without CET_U");
	}
}

/* ---- an area across two pages, one of them missing -------------------------------- */

static void check_page_faults(function *store, function *load, uint64_t xcomp_bv, const char *name)
{
	/* The legacy region and the header end where the first page does. */
	uint8_t *at = pages[0].b + AREA_SIZE - EXTENDED;
	uint64_t *entry = page_entry(pages[1].b), saved = *entry;
	struct trap t;

	static struct area made;

	note("%s and a page that is missing", name);
	random_state(&a);
	random_state(&b);
	make_area(&made, &b, xcr0_all, xcomp_bv);
	memcpy(at, &made, 4096);
	load_state(&a);
	*entry = 0;
	invlpg(pages[1].b);
	rfbm_now = xcr0_all;
	t = try(load, at);
	*entry = saved;
	invlpg(pages[1].b);
	ok(t.vector == VECTOR_PF && read_cr2() == (uint64_t)pages[1].b,
	   "loading from it faults: vector %d at 0x%lx", t.vector, read_cr2());
	read_state(&seen);
	ok(!state_differs(&seen, &a), "and loads nothing: 0x%lx differs", state_differs(&seen, &a));

	memcpy(at, &made, 4096);
	*entry = 0;
	invlpg(pages[1].b);
	t = try(store, at);
	*entry = saved;
	invlpg(pages[1].b);
	ok(t.vector == VECTOR_PF && (t.error & 2), "saving there faults: vector %d error 0x%lx",
	   t.vector, t.error);
	rfbm_now = BIT(X87) | BIT(SSE);
	if (xcomp_bv)
		put_header((struct area *)(at), BIT(SSE), COMPACTED | BIT(X87) | BIT(SSE));
	else
		put_header((struct area *)(at), BIT(SSE), 0);
	*entry = 0;
	invlpg(pages[1].b);
	t = try(load, at);
	if (t.vector < 0)
		t = try(store, at);
	*entry = saved;
	invlpg(pages[1].b);
	expect(t, -1, "what is not in it does not");
}

/* ---- registers ---------------------------------------------------------------------- */

static void set_xcr0(void *value)
{
	xsetbv(0, *(uint64_t *)value);
}

static bool xcr0_valid(uint64_t v)
{
	uint64_t mpx = BIT(BNDREGS) | BIT(BNDCSR);
	uint64_t avx512 = BIT(OPMASK) | BIT(ZMM_HI256) | BIT(HI16_ZMM);

	if (v & ~xcr0_all || !(v & BIT(X87)))
		return false;
	if ((v & BIT(AVX)) && !(v & BIT(SSE)))
		return false;
	if ((v & avx512) && ((v & avx512) != avx512 || !(v & BIT(AVX))))
		return false;
	return !(v & mpx) || (v & mpx) == mpx;
}

/* All sets: which ones XCR0 takes, and the sizes of CPUID for those. */
static void check_xcr0(void)
{
	unsigned int sets = 1u << count_bits(xcr0_all), bad = 0, sizes = 0;

	for (unsigned int n = 0; n < sets; n++) {
		uint64_t v = subset(xcr0_all, n), xss;
		struct trap t = try(set_xcr0, &v);
		unsigned int end = EXTENDED;

		bad += t.vector != (xcr0_valid(v) ? -1 : VECTOR_GP);
		if (t.vector >= 0)
			continue;
		for (int i = 2; i < COMPONENTS; i++)
			if ((v & BIT(i)) && cpuid(0xd, i).eax + cpuid(0xd, i).ebx > end)
				end = cpuid(0xd, i).eax + cpuid(0xd, i).ebx;
		sizes += cpuid(0xd, 0).ebx != end;
		for (xss = 0; has_xsavec || has_xsaves; xss = xss_all) {
			if (has_xsaves)
				wrmsr(MSR_XSS, xss);
			sizes += cpuid(0xd, 1).ebx != compacted_offset(COMPONENTS, v | xss);
			if (xss == xss_all)
				break;
		}
	}
	ok(!bad, "XCR0 takes the sets that it should: %u of %u wrong", bad, sets);
	ok(!sizes, "CPUID knows the size for each of them: %u wrong", sizes);
	bad = 0;
	for (int i = 0; i < 64; i++) {
		uint64_t v = xcr0_all | BIT(i);

		if (!(xcr0_all & BIT(i)))
			bad += try(set_xcr0, &v).vector != VECTOR_GP;
	}
	ok(!bad, "and no component that CPUID lacks: %u wrong", bad);
	xsetbv(0, xcr0_all);
}

static void check_xss(void)
{
	unsigned int bad = 0;

	for (int i = 0; i < 64; i++)
		bad += try_wrmsr(MSR_XSS, BIT(i)).vector != (xss_all & BIT(i) ? -1 : VECTOR_GP);
	ok(!bad, "IA32_XSS takes what CPUID has: %u of 64 bits wrong", bad);
	wrmsr(MSR_XSS, xss_all);
	ok(rdmsr(MSR_XSS) == xss_all, "and keeps it: 0x%lx", rdmsr(MSR_XSS));
}

static void set_cr4(void *value)
{
	write_cr4(*(uint64_t *)value);
}

static void set_cr0(void *value)
{
	write_cr0(*(uint64_t *)value);
}

static void check_cet_registers(void)
{
	static const uint32_t control[] = { MSR_U_CET, MSR_S_CET };
	uint64_t with = read_cr4() | CR4_CET, without = read_cr4(), wp = read_cr0();
	uint64_t no_wp = wp & ~CR0_WP;
	unsigned int bad = 0;

	for (int m = 0; m < 2; m++) {
		for (int i = 0; i < 64; i++)
			bad += try_wrmsr(control[m], BIT(i)).vector != (i < 2 ? -1 : VECTOR_GP);
		wrmsr(control[m], m + 1);
	}
	ok(!bad, "U_CET and S_CET take bits 0 and 1: %u of 128 wrong", bad);
	ok(rdmsr(MSR_U_CET) == 1 && rdmsr(MSR_S_CET) == 2, "and keep them");
	bad = 0;
	for (uint32_t msr = MSR_PL0_SSP; msr <= MSR_INT_SSP_TAB; msr++) {
		bool table = msr == MSR_INT_SSP_TAB;

		for (int i = 0; i < 64; i++)
			bad += try_wrmsr(msr, BIT(i)).vector !=
				((i < 2 && !table) || i >= 47 ? VECTOR_GP : -1);
		bad += try_wrmsr(msr, -0x1000ull * msr).vector != -1;
	}
	for (uint32_t msr = MSR_PL0_SSP; msr <= MSR_INT_SSP_TAB; msr++)
		bad += rdmsr(msr) != -0x1000ull * msr;
	ok(!bad, "SSPs are canonical, and those of a level multiples of 4: %u wrong", bad);
	for (uint32_t msr = MSR_U_CET; msr <= MSR_INT_SSP_TAB; msr++)
		if (msr != 0x6a1 && msr != 0x6a3)
			wrmsr(msr, 0);

	expect(try(set_cr0, &no_wp), -1, "clear CR0.WP");
	expect(try(set_cr4, &with), VECTOR_GP, "CR4.CET without it");
	write_cr0(wp);
	expect(try(set_cr4, &with), -1, "CR4.CET with it");
	ok(read_cr4() & CR4_CET, "it is set");
	expect(try(set_cr0, &no_wp), VECTOR_GP, "then CR0.WP stays");
	expect(try(set_cr4, &without), -1, "clear CR4.CET");
}

int main(void)
{
	find_components();
	if (xss_all)
		wrmsr(MSR_XSS, xss_all);
	note("XCR0 0x%lx, IA32_XSS 0x%lx", xcr0_all, xss_all);
	check_instructions();
	check_standard_headers();
	check_page_faults(do_xsave, do_xrstor, 0, "XSAVE");
	if (has_xsavec) {
		check_compacted_headers(do_xrstor, xcr0_all, "XRSTOR");
		check_page_faults(do_xsavec, do_xrstor, COMPACTED | xcr0_all, "XSAVEC");
	}
	if (has_xsaves) {
		check_compacted_headers(do_xrstors, xcr0_all | xss_all, "XRSTORS");
		check_page_faults(do_xsaves, do_xrstors, COMPACTED | xcr0_all, "XSAVES");
		check_supervisor();
		check_xss();
	}
	check_xcr0();
	if (cpuid(7, 0).ecx & 1 << 7)
		check_cet_registers();
	return 0;
}
