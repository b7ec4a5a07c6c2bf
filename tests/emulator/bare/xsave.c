// SPDX-License-Identifier: GPL-2.0-only
/*
 * XSAVE state: every component alone and every set of components, saved by each
 * instruction that can, compared byte by byte, scrambled and restored.
 *
 * cpu: max
 * cpu: max,avx512f=on
 * cpu: max,avx512f=on,apxf=on,shstk=on,xsavec=on,xsaves=on
 * cpu: max,avx512f=on,shstk=on,xsaves=on
 * cpu: max,vendor=AuthenticAMD,avx512f=on,xsavec=on,xsaves=on
 */

#include "xstate.h"

static struct state a, b, seen, want;
static struct area area, expected;

enum how { XSAVE, XSAVEOPT, XSAVEC, XSAVES };

static const char *const how_name[] = { "XSAVE", "XSAVEOPT", "XSAVEC", "XSAVES" };

static bool has(enum how how)
{
	switch (how) {
	case XSAVEOPT:
		return has_xsaveopt;
	case XSAVEC:
		return has_xsavec;
	case XSAVES:
		return has_xsaves;
	default:
		return true;
	}
}

static void save(enum how how, uint64_t rfbm)
{
	switch (how) {
	case XSAVE:
		xsave(&area, rfbm);
		break;
	case XSAVEOPT:
		xsaveopt(&area, rfbm);
		break;
	case XSAVEC:
		xsavec(&area, rfbm);
		break;
	case XSAVES:
		xsaves(&area, rfbm);
		break;
	}
}

/*
 * Bytes that are not compared: the last opcode, instruction and operand of x87,
 * and the upper 6 bytes of each of its registers' 16.
 */
static void forget_reserved(struct area *x)
{
	memset(x->b + 5, 0, MXCSR - 5);
	for (int i = 0; i < 8; i++)
		memset(x->b + ST + 16 * i + 10, 0, 6);
}

/* The first byte in which what was written differs from what should have been, or -1. */
static int first_difference(void)
{
	forget_reserved(&area);
	forget_reserved(&expected);
	for (int i = 0; i < AREA_SIZE; i++)
		if (area.b[i] != expected.b[i])
			return i;
	return -1;
}

/* Save the components of rfbm, of which those in inuse are not in their initial state. */
static int save_and_compare(enum how how, const struct state *s, uint64_t rfbm, uint64_t inuse)
{
	bool compacted = how == XSAVEC || how == XSAVES;
	uint64_t xcomp_bv = compacted ? rfbm | COMPACTED : 0;
	uint64_t written = how == XSAVE ? rfbm : rfbm & inuse;

	memset(&area, 0x5a, sizeof(area));
	if (compacted)
		/* It writes two fields; XRSTOR wants zeros in the others. */
		memset(area.b + HEADER_REST, 0, EXTENDED - HEADER_REST);
	else
		put_header(&area, 0, 0);
	expected = area;
	if (compacted ? written & BIT(SSE) : rfbm & BIT(SSE))
		put_mxcsr(&expected, s);
	put_state(&expected, s, written, xcomp_bv);
	put64(expected.b + XSTATE_BV, rfbm & inuse);
	if (compacted)
		put64(expected.b + XCOMP_BV, xcomp_bv);
	save(how, rfbm);
	/*
	 * In the standard format, MXCSR goes with AVX as much as with SSE. TCG has
	 * it with SSE only, on all its CPUs; either will do here.
	 */
	if (!compacted && (rfbm & (BIT(SSE) | BIT(AVX))) == BIT(AVX))
		memcpy(expected.b + MXCSR, area.b + MXCSR, 8);
	return first_difference();
}

static void restore(enum how how, uint64_t rfbm)
{
	if (how == XSAVES)
		xrstors(&area, rfbm);
	else
		xrstor(&area, rfbm);
}

static void check_layout(void)
{
	for (int i = 2; i < 63; i++) {
		struct cpuid c = cpuid(0xd, i);

		if (xcr0_all & BIT(i)) {
			ok(i < COMPONENTS && c.eax == documented[i].size &&
			   c.ebx == documented[i].offset && !(c.ecx & 1),
			   "component %d has size 0x%x at 0x%x", i, c.eax, c.ebx);
		} else if (xss_all & BIT(i)) {
			ok(i < COMPONENTS && c.eax == documented[i].size && c.ebx == 0 &&
			   (c.ecx & 1), "supervisor component %d has size 0x%x", i, c.eax);
		} else if (c.eax || c.ebx || c.ecx || c.edx) {
			ok(false, "component %d is not there, but CPUID speaks of it", i);
		}
	}
	ok(!(xcr0_all & BIT(APX)) || !(xcr0_all & BIT(BNDREGS)),
	   "no CPU has both APX and MPX, which lie in the same place");
}

static void check_every_set(enum how how)
{
	uint64_t all = how == XSAVES ? xcr0_all | xss_all : xcr0_all;
	unsigned int sets = 1u << count_bits(all), bad_image = 0, bad_state = 0;

	for (unsigned int n = 0; n < sets; n++) {
		uint64_t rfbm = subset(all, n), differ;
		int at;

		random_state(&a);
		random_state(&b);
		load_state(&a);
		at = save_and_compare(how, &a, rfbm, ~0ull);
		if (at >= 0 && !bad_image++)
			note("%s of 0x%lx: byte %d is 0x%x, not 0x%x", how_name[how], rfbm, at,
			     area.b[at], expected.b[at]);
		load_state(&b);
		/* The standard format would load an MXCSR of random bytes. */
		if (how <= XSAVEOPT && !(rfbm & BIT(SSE)))
			put_mxcsr(&area, &b);
		restore(how, rfbm);
		read_state(&seen);
		want = b;
		copy_state(&want, &a, rfbm);
		differ = state_differs(&seen, &want);
		if (differ && !bad_state++)
			note("%s of 0x%lx and back: 0x%lx differs", how_name[how], rfbm, differ);
	}
	ok(!bad_image, "%s writes what it should for %u of %u sets", how_name[how],
	   sets - bad_image, sets);
	ok(!bad_state, "and the state is back, all else untouched, for %u of %u",
	   sets - bad_state, sets);
}

/* A component that was restored with its bit clear. */
static void check_initial(int bit)
{
	uint64_t all = xcr0_all | xss_all, only = BIT(bit), xcomp_bv = 0, inuse = ~0ull;
	const char *name = documented[bit].name;

	random_state(&a);
	load_state(&a);
	if (xss_all & only)
		xcomp_bv = COMPACTED | only;
	make_area(&area, &a, 0, xcomp_bv);
	if (xcomp_bv) {
		wrmsr(MSR_XSS, xss_all);
		xrstors(&area, only);
	} else {
		xrstor(&area, only);
	}
	want = a;
	initial_state(&want, only);
	read_state(&seen);
	ok(!state_differs(&seen, &want), "%s becomes initial and nothing else changes: 0x%lx",
	   name, state_differs(&seen, &want));

	/*
	 * PKRU is never said to be unused, and without the compacted format some
	 * others are not. MXCSR keeps SSE in use in a compacted area.
	 */
	if (bit != PKRU && (has_xsavec || has_xsaves ||
			    !(only & (BIT(X87) | BIT(SSE) | BIT(AVX) | BIT(BNDCSR)))))
		inuse &= ~only;
	if (has_xgetbv1 && (xcr0_all & only))
		ok(xgetbv(1) == (xcr0_all & inuse), "XINUSE then is 0x%lx: 0x%lx",
		   xcr0_all & inuse, xgetbv(1));
	for (enum how how = XSAVE; how <= XSAVES; how++) {
		uint64_t rfbm = how == XSAVES ? all : xcr0_all, now = inuse;
		int at;

		if (!has(how) || (xss_all & only && how != XSAVES))
			continue;
		/* Without XSAVEC, XSAVEOPT leaves nothing out. */
		if (how == XSAVEOPT && !has_xsavec && !has_xsaves)
			continue;
		if (how >= XSAVEC && bit == SSE)
			now |= only;
		at = save_and_compare(how, &want, rfbm, now);
		ok(at < 0, "%s of it: byte %d is 0x%x, not 0x%x", how_name[how], at,
		   at < 0 ? 0 : area.b[at], at < 0 ? 0 : expected.b[at]);
	}
}

/* MXCSR alone is different from its initial value, and then it is not. */
static void check_mxcsr(void)
{
	int at;

	random_state(&a);
	initial_state(&a, BIT(SSE));
	load_state(&a);
	at = save_and_compare(XSAVEC, &a, xcr0_all, ~0ull);
	ok(at < 0, "MXCSR puts SSE into use in a compacted area: byte %d", at);
	at = save_and_compare(XSAVEC, &a, xcr0_all & ~BIT(SSE), ~0ull);
	ok(at < 0, "only if SSE is asked for; AVX does not count: byte %d", at);
	a.mxcsr = MXCSR_INIT;
	load_state(&a);
	at = save_and_compare(XSAVEC, &a, xcr0_all, ~BIT(SSE));
	ok(at < 0, "the initial MXCSR and XMM registers are left out: byte %d", at);

	random_state(&a);
	load_state(&a);
	make_area(&area, &a, 0, COMPACTED | BIT(SSE));
	xrstor(&area, BIT(SSE));
	read_state(&seen);
	ok(seen.mxcsr == MXCSR_INIT, "the compacted form resets MXCSR with SSE: 0x%x", seen.mxcsr);
	load_state(&a);
	make_area(&area, &a, 0, 0);
	xrstor(&area, BIT(SSE));
	read_state(&seen);
	ok(seen.mxcsr == a.mxcsr, "the standard form loads it: 0x%x", seen.mxcsr);
}

/* RFBM has components of which XCOMP_BV knows nothing. */
static void check_absent(void)
{
	for (int bit = 0; bit < COMPONENTS; bit++) {
		uint64_t others = xcr0_all & ~BIT(bit);

		if (!(xcr0_all & BIT(bit)))
			continue;
		random_state(&a);
		random_state(&b);
		load_state(&a);
		make_area(&area, &b, others, COMPACTED | others);
		xrstor(&area, xcr0_all);
		want = b;
		copy_state(&want, &a, xss_all);
		initial_state(&want, BIT(bit));
		if (bit == SSE)
			want.mxcsr = MXCSR_INIT;
		read_state(&seen);
		ok(!state_differs(&seen, &want), "an area without %s makes it initial: 0x%lx",
		   documented[bit].name, state_differs(&seen, &want));
	}
}

/* The registers that instructions can read and write: not by XSAVE alone. */
static uint8_t ymm[16][32];

#define EACH_YMM(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD_YMM(n) asm volatile("vmovdqu %0, %%ymm" #n : : "m"(ymm[n]));
#define STORE_YMM(n) asm volatile("vmovdqu %%ymm" #n ", %0" : "=m"(ymm[n]));

static void check_registers(void)
{
	uint32_t pkru, fcw = 0;
	int bad = 0;

	random_state(&a);
	load_state(&a);
	EACH_YMM(STORE_YMM)
	for (int i = 0; i < 16; i++)
		bad += memcmp(ymm[i], a.xmm[i], 16) || memcmp(ymm[i] + 16, a.ext[AVX] + 16 * i, 16);
	ok(!bad, "VMOVDQU finds what was restored: %d of 16 wrong", bad);
	random_state(&b);
	for (int i = 0; i < 16; i++) {
		memcpy(ymm[i], b.xmm[i], 16);
		memcpy(ymm[i] + 16, b.ext[AVX] + 16 * i, 16);
	}
	EACH_YMM(LOAD_YMM)
	read_state(&seen);
	want = a;
	b.mxcsr = a.mxcsr;
	copy_state(&want, &b, BIT(SSE) | BIT(AVX));
	/* VEX loads clear what is above. */
	initial_state(&want, BIT(ZMM_HI256));
	ok(!state_differs(&seen, &want), "and what it loads is saved: 0x%lx", state_differs(&seen, &want));

	asm volatile("fnstcw %0" : "=m"(fcw));
	ok((fcw & 0xffff) == a.fcw, "FNSTCW finds 0x%x", a.fcw);
	if (xcr0_all & BIT(PKRU)) {
		write_cr4(read_cr4() | 1 << 22);
		asm volatile("rdpkru" : "=a"(pkru) : "c"(0) : "edx");
		ok(pkru == (uint32_t)get64(a.ext[PKRU]), "RDPKRU finds 0x%x: 0x%x",
		   (uint32_t)get64(a.ext[PKRU]), pkru);
		asm volatile("wrpkru" : : "a"(0x5554), "c"(0), "d"(0));
		read_state(&seen);
		ok(get64(seen.ext[PKRU]) == 0x5554, "what WRPKRU sets is saved");
		asm volatile("wrpkru" : : "a"(0), "c"(0), "d"(0));
		write_cr4(read_cr4() & ~(1ull << 22));
	}
}

int main(void)
{
	find_components();
	if (xss_all)
		wrmsr(MSR_XSS, xss_all);
	note("XCR0 0x%lx, IA32_XSS 0x%lx", xcr0_all, xss_all);
	check_layout();
	check_registers();
	for (enum how how = XSAVE; how <= XSAVES; how++)
		if (has(how))
			check_every_set(how);
	for (int i = 0; i < COMPONENTS; i++)
		if ((xcr0_all | xss_all) & BIT(i))
			check_initial(i);
	if (has_xsavec) {
		check_mxcsr();
		check_absent();
	}
	return 0;
}
