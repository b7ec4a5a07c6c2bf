// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUID: what it says, all leaves, for tests/emulator/cpu-models to compare; and
 * that features which are only emulated in part are there when they were named and
 * not before.
 *
 * cpu: max
 * cpu: qemu64
 * cpu: SapphireRapids
 * cpu: EPYC-Genoa
 * cpu: max,avx512f=on,apxf=on,shstk=on,xsavec=on,xsaves=on
 * cpu: SapphireRapids,avx512f=on,apxf=on,shstk=on,xsavec=on,xsaves=on
 */

#include "bare.h"

#define AVX512F		(1u << 16)	/* CPUID[7,0].EBX */
#define MPX		(1u << 14)
#define SHSTK		(1u << 7)	/* CPUID[7,0].ECX */
#define APXF		(1u << 21)	/* CPUID[7,1].EDX */
#define XSAVEC		(1u << 1)	/* CPUID[0xd,1].EAX */
#define XSAVES		(1u << 3)
#define AVX512_STATE	(7u << 5)	/* CPUID[0xd,0].EAX */
#define APX_STATE	(1u << 19)
#define CET_U_STATE	(1u << 11)	/* CPUID[0xd,1].ECX */

static void show(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid c = cpuid(leaf, subleaf);

	/* The local APIC of the processor that runs this is no feature. */
	if (leaf == 1)
		c.ebx &= 0x00ffffff;
	if (c.eax || c.ebx || c.ecx || c.edx)
		note("CPUID[0x%x,%u] 0x%x 0x%x 0x%x 0x%x", leaf, subleaf, c.eax, c.ebx, c.ecx,
		     c.edx);
}

int main(void)
{
	static const uint32_t first[] = { 0, 0x40000000, 0x80000000 };
	struct cpuid c7, c71, cd, cd1;
	int named;

	for (int i = 0; i < 3; i++) {
		uint32_t last = cpuid(first[i], 0).eax;

		for (uint32_t leaf = first[i]; leaf <= last && leaf < first[i] + 0x100; leaf++)
			for (uint32_t subleaf = 0; subleaf < 32; subleaf++)
				show(leaf, subleaf);
	}

	c7 = cpuid(7, 0);
	c71 = c7.eax >= 1 ? cpuid(7, 1) : (struct cpuid){ 0 };
	if (cpuid(0, 0).eax < 0xd) {
		ok(!(cpuid(1, 0).ecx & 1 << 26), "no XSAVE without its leaf");
		return 0;
	}
	cd = cpuid(0xd, 0);
	cd1 = cpuid(0xd, 1);
	named = !!(c7.ebx & AVX512F) + !!(c7.ecx & SHSTK) + !!(c71.edx & APXF) +
		!!(cd1.eax & XSAVEC) + !!(cd1.eax & XSAVES);
	ok(named == 0 || named == 5, "all five features, which were named together, or none: %d",
	   named);
	ok(!!(cd.eax & AVX512_STATE) == !!(c7.ebx & AVX512F), "AVX-512 state goes with AVX512F");
	ok(!!(cd.eax & APX_STATE) == !!(c71.edx & APXF), "APX state goes with APX_F");
	ok(!!(cd1.ecx & CET_U_STATE) == !!(c7.ecx & SHSTK), "CET_U state goes with shadow stacks");
	ok(!(c71.edx & APXF) || !(c7.ebx & MPX), "APX takes MPX away");
	return 0;
}
