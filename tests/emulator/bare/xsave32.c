// SPDX-License-Identifier: GPL-2.0-only
/*
 * XSAVE state outside 64-bit mode: vector registers 8 to 31 are neither saved nor
 * restored there, and do not count as in use; all else is as in 64-bit mode.
 *
 * cpu: max
 * cpu: max,avx512f=on
 * cpu: max,avx512f=on,apxf=on,shstk=on,xsavec=on,xsaves=on
 */

#include "xstate.h"

#define CODE32	0x00cf9b000000ffffull	/* present, flat, level 0, 32-bit code */

static struct state a, b, seen, want;
static struct area area, expected;
static uint64_t table[64];
static struct {
	uint32_t offset;
	uint16_t selector;
} __attribute__((packed)) far_pointer;

/* Called by a far call from 64-bit code; the area is at EDI, RFBM in EDX:EAX. */
#define CODE_32(name)						\
extern char name##_32[];					\
asm(".text\n" #name "_32:\n\t.code32\n\t" #name " (%edi)\n\t"	\
    "lretl\n\t.code64\n")

CODE_32(xsave);
CODE_32(xsavec);
CODE_32(xsaves);
CODE_32(xrstor);
CODE_32(xrstors);

static void add_segment(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) gdt;

	asm volatile("sgdt %0" : "=m"(gdt));
	if (gdt.limit + 1u + 8 > sizeof(table))
		bail_out("the GDT has %u bytes", gdt.limit + 1);
	memcpy(table, (void *)gdt.base, gdt.limit + 1);
	far_pointer.selector = gdt.limit + 1;
	table[far_pointer.selector / 8] = CODE32;
	gdt.limit += 8;
	gdt.base = (uint64_t)table;
	asm volatile("lgdt %0" : : "m"(gdt));
}

static void run32(const char *code, uint64_t rfbm)
{
	far_pointer.offset = (uint64_t)code;
	asm volatile("lcall *%0" : : "m"(far_pointer), "D"(&area), "a"((uint32_t)rfbm),
		     "d"((uint32_t)(rfbm >> 32)) : "memory");
}

/* Copy what 32-bit code reaches of these components. */
static void copy_low(struct state *to, const struct state *from, uint64_t components)
{
	uint64_t vector = BIT(SSE) | BIT(AVX) | BIT(ZMM_HI256) | BIT(HI16_ZMM);

	copy_state(to, from, components & ~vector);
	if (components & BIT(SSE)) {
		to->mxcsr = from->mxcsr;
		memcpy(to->xmm, from->xmm, 8 * 16);
	}
	if (components & BIT(AVX))
		memcpy(to->ext[AVX], from->ext[AVX], 8 * 16);
	if (components & BIT(ZMM_HI256))
		memcpy(to->ext[ZMM_HI256], from->ext[ZMM_HI256], 8 * 32);
}

/* The area after saving s: junk, but where something is written. */
static void check_save(const char *name, const char *code, uint64_t rfbm, uint64_t xcomp_bv)
{
	struct state *image = &want;
	int bad = -1;

	random_state(&a);
	random_state(image);
	load_state(&a);
	make_area(&area, image, rfbm, xcomp_bv);
	if (!xcomp_bv)
		put_header(&area, 0, 0);
	expected = area;
	/* What it does not write is what the image had before. */
	copy_low(image, &a, rfbm);
	if (xcomp_bv && !(rfbm & BIT(SSE)))
		image->mxcsr = b.mxcsr;
	put_mxcsr(&expected, image);
	put_state(&expected, image, rfbm, xcomp_bv);
	put64(expected.b + XSTATE_BV, rfbm & ~BIT(HI16_ZMM));
	run32(code, rfbm);
	for (int i = 0; i < AREA_SIZE && bad < 0; i++) {
		bool reserved = (i > 4 && i < MXCSR) || (i >= ST && i < XMM && i % 16 >= 10);

		if (!reserved && area.b[i] != expected.b[i])
			bad = i;
	}
	ok(bad < 0, "%s: byte %d", name, bad);
}

static void check_restore(const char *name, const char *code, uint64_t rfbm, uint64_t xcomp_bv,
			  bool initial)
{
	struct state none = b;

	random_state(&a);
	random_state(&b);
	load_state(&a);
	make_area(&area, &b, initial ? 0 : rfbm, xcomp_bv);
	run32(code, rfbm);
	want = a;
	if (initial) {
		none = b;
		initial_state(&none, rfbm);
		if (xcomp_bv)
			none.mxcsr = MXCSR_INIT;
		copy_low(&want, &none, rfbm);
	} else {
		copy_low(&want, &b, rfbm);
	}
	read_state(&seen);
	ok(!state_differs(&seen, &want), "%s%s: 0x%lx differs", name,
	   initial ? " of nothing" : "", state_differs(&seen, &want));
}

int main(void)
{
	uint64_t all;

	find_components();
	if (xss_all)
		wrmsr(MSR_XSS, xss_all);
	all = xcr0_all | xss_all;
	add_segment();
	check_save("XSAVE", xsave_32, xcr0_all, 0);
	check_restore("XRSTOR", xrstor_32, xcr0_all, 0, false);
	check_restore("XRSTOR", xrstor_32, xcr0_all, 0, true);
	if (has_xsavec) {
		check_save("XSAVEC", xsavec_32, xcr0_all, COMPACTED | xcr0_all);
		check_restore("compacted XRSTOR", xrstor_32, xcr0_all, COMPACTED | xcr0_all, false);
		check_restore("compacted XRSTOR", xrstor_32, xcr0_all, COMPACTED | xcr0_all, true);
	}
	if (has_xsaves) {
		check_save("XSAVES", xsaves_32, all, COMPACTED | all);
		check_restore("XRSTORS", xrstors_32, all, COMPACTED | all, false);
		check_restore("XRSTORS", xrstors_32, all, COMPACTED | all, true);
	}
	return 0;
}
