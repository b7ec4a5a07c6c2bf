// SPDX-License-Identifier: GPL-2.0-only
/*
 * What XRSTOR and XRSTORS have loaded when the second page of an area is missing:
 * nothing, or, with x-xrstor-late-fault, what lies before it. A stepping of 15 says
 * that the property is on.
 *
 * cpu: max,avx512f=on,apxf=on,shstk=on,mpx=off,xsavec=on,xsaves=on
 * cpu: max,avx512f=on,apxf=on,shstk=on,mpx=off,xsavec=on,xsaves=on,x-xrstor-late-fault=on,family=15,model=107,stepping=15
 * cpu: max,avx512f=on,x-xrstor-late-fault=on,family=15,model=107,stepping=15
 */

#include "xstate.h"

static struct state a, b, seen;
static struct area pages[2], made;
static uint64_t rfbm_now;
static bool late;

static void do_xrstor(void *at)
{
	xrstor(at, rfbm_now);
}

static void do_xrstors(void *at)
{
	xrstors(at, rfbm_now);
}

/* The components that end in the first @head bytes, up to the first that does not. */
static uint64_t before(uint64_t components, uint64_t xcomp_bv, unsigned int head)
{
	for (int i = 2; i < COMPONENTS; i++)
		if ((components & BIT(i)) &&
		    component_offset(i, xcomp_bv) + cpuid(0xd, i).eax > head)
			return components & (BIT(i) - 1);
	return components;
}

/* The area of b begins @head bytes before the missing page; a is in the registers. */
static void load(void (*how)(void *), uint64_t components, uint64_t xcomp_bv, unsigned int head,
		 uint64_t present)
{
	uint8_t *at = pages[1].b - head;
	uint64_t *entry = page_entry(pages[1].b), saved = *entry;
	uint64_t loaded = before(present, xcomp_bv, head), differ;
	static struct state want;
	struct trap t;

	make_area(&made, &b, present, xcomp_bv);
	memcpy(at, &made, 4096);
	load_state(&a);
	*entry = 0;
	invlpg(pages[1].b);
	rfbm_now = components;
	t = try(how, at);
	*entry = saved;
	invlpg(pages[1].b);
	read_state(&seen);

	copy_state(&want, &a, ~0ull);
	if (loaded == present) {
		ok(t.vector == -1, "all of 0x%lx in %u bytes: no fault, is %d", present, head,
		   t.vector);
		return;
	}
	ok(t.vector == VECTOR_PF && read_cr2() == (uint64_t)pages[1].b,
	   "of 0x%lx, 0x%lx in %u bytes: #PF, is %d at 0x%lx", present, loaded, head, t.vector,
	   read_cr2());
	if (late) {
		/* Those without an image become initial in the order of all. */
		uint64_t stop = present & ~loaded, first = stop & -stop;

		initial_state(&want, components & ~present & (first - 1));
		copy_state(&want, &b, loaded);
	}
	differ = state_differs(&seen, &want);
	ok(!differ, "%s is loaded, 0x%lx differs", late ? "that" : "nothing", differ);
}

static void check(void (*how)(void *), uint64_t all, uint64_t xcomp_bv, const char *name)
{
	note("%s", name);
	for (unsigned int head = EXTENDED; head < 3072; head += 64)
		load(how, all, xcomp_bv, head, all);
	/* One of them is initial. */
	for (int i = 2; i < COMPONENTS; i++)
		if (all & BIT(i) & ~BIT(PKRU))
			load(how, all, xcomp_bv, EXTENDED + 256, all & ~BIT(i));
}

int main(void)
{
	find_components();
	late = (cpuid(1, 0).eax & 15) == 15;
	if (xss_all)
		wrmsr(MSR_XSS, xss_all);
	note("XCR0 0x%lx, IA32_XSS 0x%lx, %s", xcr0_all, xss_all, late ? "late" : "not late");
	random_state(&a);
	random_state(&b);
	check(do_xrstor, xcr0_all, 0, "XRSTOR, standard format");
	if (has_xsavec)
		check(do_xrstor, xcr0_all, COMPACTED | xcr0_all, "XRSTOR, compacted format");
	if (has_xsaves)
		check(do_xrstors, xcr0_all | xss_all, COMPACTED | xcr0_all | xss_all, "XRSTORS");
	return 0;
}
