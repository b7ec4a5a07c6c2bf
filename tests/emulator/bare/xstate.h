/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * XSAVE state as a test sees it: components with a pattern each, areas that the
 * test lays out by itself from CPUID leaf 0xD, and the instructions.
 */
#ifndef XSTATE_H
#define XSTATE_H

#include "bare.h"

#define MSR_U_CET	0x6a0
#define MSR_PL3_SSP	0x6a7
#define MSR_XSS		0xda0

enum {
	X87 = 0, SSE = 1, AVX = 2, BNDREGS = 3, BNDCSR = 4, OPMASK = 5, ZMM_HI256 = 6,
	HI16_ZMM = 7, PKRU = 9, CET_U = 11, APX = 19, COMPONENTS = 20,
};

#define BIT(n)		(1ull << (n))
#define COMPACTED	BIT(63)

/* The legacy region and the header. */
#define FCW		0
#define FSW		2
#define FTW		4
#define MXCSR		24
#define MXCSR_MASK	28
#define ST		32
#define XMM		160
#define XSTATE_BV	512
#define XCOMP_BV	520
#define HEADER_REST	528
#define EXTENDED	576

#define MXCSR_INIT	0x1f80

#define AREA_SIZE	8192

struct area {
	uint8_t b[AREA_SIZE];
} __attribute__((aligned(PAGE_SIZE)));

/* All of the state; of a component, as many bytes as it has registers for. */
struct state {
	uint16_t fcw, fsw;
	uint8_t ftw;
	uint8_t st[8][10];
	uint32_t mxcsr;
	uint8_t xmm[16][16];
	uint8_t ext[COMPONENTS][1024];
};

/* What a component's registers take; the component may be larger. */
static const uint16_t component_bytes[COMPONENTS] = {
	[AVX] = 256, [BNDREGS] = 64, [BNDCSR] = 16, [OPMASK] = 64, [ZMM_HI256] = 512,
	[HI16_ZMM] = 1024, [PKRU] = 8, [CET_U] = 16, [APX] = 128,
};

/* What the documents say of each, apart from what CPUID tells. */
static const struct {
	const char *name;
	uint16_t size, offset;
} documented[COMPONENTS] = {
	[X87] = { "x87", 0, 0 }, [SSE] = { "SSE", 0, 0 },
	[AVX] = { "AVX", 0x100, 0x240 },
	[BNDREGS] = { "BNDREGS", 0x40, 0x3c0 }, [BNDCSR] = { "BNDCSR", 0x40, 0x400 },
	[OPMASK] = { "opmask", 0x40, 0x440 }, [ZMM_HI256] = { "ZMM_Hi256", 0x200, 0x480 },
	[HI16_ZMM] = { "Hi16_ZMM", 0x400, 0x680 }, [PKRU] = { "PKRU", 8, 0xa80 },
	[CET_U] = { "CET_U", 16, 0 }, [APX] = { "APX", 128, 0x3c0 },
};

static uint64_t xcr0_all, xss_all;	/* all that this CPU has */
static bool has_xsaveopt, has_xsavec, has_xsaves, has_xgetbv1;

static inline void find_components(void)
{
	struct cpuid c = cpuid(0xd, 0);

	xcr0_all = (uint64_t)c.edx << 32 | c.eax;
	c = cpuid(0xd, 1);
	has_xsaveopt = c.eax & 1;
	has_xsavec = c.eax & 2;
	has_xgetbv1 = c.eax & 4;
	has_xsaves = c.eax & 8;
	xss_all = has_xsaves ? (uint64_t)c.edx << 32 | c.ecx : 0;
}

/* ---- where components lie ----------------------------------------------------- */

static inline unsigned int standard_offset(int bit)
{
	return cpuid(0xd, bit).ebx;
}

/* The compacted format: each follows the last one, aligned if CPUID says so. */
static inline unsigned int compacted_offset(int bit, uint64_t xcomp_bv)
{
	unsigned int at = EXTENDED;

	for (int i = 2; i < COMPONENTS; i++) {
		struct cpuid c;

		if (!(xcomp_bv & BIT(i)))
			continue;
		c = cpuid(0xd, i);
		if (c.ecx & 2)
			at = (at + 63) / 64 * 64;
		if (i == bit)
			return at;
		at += c.eax;
	}
	return at;
}

static unsigned int cached_offset[COMPONENTS];
static uint64_t cached_for = 1;		/* no valid XCOMP_BV */

static inline unsigned int component_offset(int bit, uint64_t xcomp_bv)
{
	if (cached_for != xcomp_bv) {
		for (int i = 2; i < COMPONENTS; i++) {
			if (!((xcr0_all | xss_all) & BIT(i)))
				continue;
			cached_offset[i] = xcomp_bv & COMPACTED ? compacted_offset(i, xcomp_bv)
								: standard_offset(i);
		}
		cached_for = xcomp_bv;
	}
	return cached_offset[bit];
}

/* ---- patterns ------------------------------------------------------------------ */

static uint64_t random_seed = 88172645463325252ull;

static inline uint64_t random64(void)
{
	random_seed ^= random_seed << 13;
	random_seed ^= random_seed >> 7;
	random_seed ^= random_seed << 17;
	return random_seed * 0x2545f4914f6cdd1dull;
}

static inline void put64(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, 8);
}

static inline uint64_t get64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return v;
}

/* Random values, as far as any will do; no component is in its initial state. */
static inline void random_state(struct state *s)
{
	for (size_t i = 0; i < sizeof(*s); i++)
		((uint8_t *)s)[i] = random64() >> 56;
	s->fcw = 0x7f | (s->fcw & 0xf00);		/* no exception unmasked */
	s->fsw &= 0x7f00;				/* and none pending */
	s->mxcsr = MXCSR_INIT | 0x8040 | (s->mxcsr & 0x603f);
	s->ext[AVX][17] |= 1;
	put64(s->ext[BNDCSR], get64(s->ext[BNDCSR]) & 0x7ffffffff000);
	put64(s->ext[BNDCSR] + 8, get64(s->ext[BNDCSR] + 8) | 1);
	put64(s->ext[PKRU], (uint32_t)(get64(s->ext[PKRU]) & ~3u) | 4);	/* key 0 stays usable */
	put64(s->ext[CET_U], (random64() & 3) | 1);
	put64(s->ext[CET_U] + 8, (random64() & 0x7ffffffffff8) | 0x1000);
}

static inline void initial_state(struct state *s, uint64_t components)
{
	if (components & BIT(X87)) {
		s->fcw = 0x37f;
		s->fsw = 0;
		s->ftw = 0;
		memset(s->st, 0, sizeof(s->st));
	}
	if (components & BIT(SSE))
		memset(s->xmm, 0, sizeof(s->xmm));
	for (int i = 2; i < COMPONENTS; i++)
		if (components & BIT(i))
			memset(s->ext[i], 0, component_bytes[i]);
}

static inline void copy_state(struct state *to, const struct state *from, uint64_t components)
{
	if (components & BIT(X87)) {
		to->fcw = from->fcw;
		to->fsw = from->fsw;
		to->ftw = from->ftw;
		memcpy(to->st, from->st, sizeof(to->st));
	}
	if (components & BIT(SSE)) {
		to->mxcsr = from->mxcsr;
		memcpy(to->xmm, from->xmm, sizeof(to->xmm));
	}
	for (int i = 2; i < COMPONENTS; i++)
		if (components & BIT(i))
			memcpy(to->ext[i], from->ext[i], component_bytes[i]);
}

/* The components, of those that this CPU has, in which the two differ. */
static inline uint64_t state_differs(const struct state *a, const struct state *b)
{
	uint64_t all = xcr0_all | xss_all, differ = 0;

	if (a->fcw != b->fcw || a->fsw != b->fsw || a->ftw != b->ftw ||
	    memcmp(a->st, b->st, sizeof(a->st)))
		differ |= BIT(X87);
	if (a->mxcsr != b->mxcsr || memcmp(a->xmm, b->xmm, sizeof(a->xmm)))
		differ |= BIT(SSE);
	for (int i = 2; i < COMPONENTS; i++)
		if ((all & BIT(i)) && memcmp(a->ext[i], b->ext[i], component_bytes[i]))
			differ |= BIT(i);
	return differ;
}

/* ---- between a state and an area ------------------------------------------------ */

static inline void put_mxcsr(struct area *a, const struct state *s)
{
	uint32_t mask = 0xffff;

	memcpy(a->b + MXCSR, &s->mxcsr, 4);
	memcpy(a->b + MXCSR_MASK, &mask, 4);
}

/* Write the images of these components, MXCSR and the header aside. */
static inline void put_state(struct area *a, const struct state *s, uint64_t components,
			     uint64_t xcomp_bv)
{
	if (components & BIT(X87)) {
		memcpy(a->b + FCW, &s->fcw, 2);
		memcpy(a->b + FSW, &s->fsw, 2);
		a->b[FTW] = s->ftw;
		for (int i = 0; i < 8; i++)
			memcpy(a->b + ST + 16 * i, s->st[i], 10);
	}
	if (components & BIT(SSE))
		memcpy(a->b + XMM, s->xmm, sizeof(s->xmm));
	for (int i = 2; i < COMPONENTS; i++)
		if (components & BIT(i))
			memcpy(a->b + component_offset(i, xcomp_bv), s->ext[i],
			       component_bytes[i]);
}

static inline void put_header(struct area *a, uint64_t xstate_bv, uint64_t xcomp_bv)
{
	memset(a->b + XSTATE_BV, 0, EXTENDED - XSTATE_BV);
	put64(a->b + XSTATE_BV, xstate_bv);
	put64(a->b + XCOMP_BV, xcomp_bv);
}

/* An area that restores these components, and nothing else of use. */
static inline void make_area(struct area *a, const struct state *s, uint64_t components,
			     uint64_t xcomp_bv)
{
	memset(a, 0xa5, sizeof(*a));
	put_mxcsr(a, s);
	put_state(a, s, components, xcomp_bv);
	put_header(a, components, xcomp_bv);
}

static inline void get_state(struct state *s, const struct area *a)
{
	memcpy(&s->fcw, a->b + FCW, 2);
	memcpy(&s->fsw, a->b + FSW, 2);
	s->ftw = a->b[FTW];
	for (int i = 0; i < 8; i++)
		memcpy(s->st[i], a->b + ST + 16 * i, 10);
	memcpy(&s->mxcsr, a->b + MXCSR, 4);
	memcpy(s->xmm, a->b + XMM, sizeof(s->xmm));
	for (int i = 2; i < COMPONENTS; i++)
		if (xcr0_all & BIT(i))
			memcpy(s->ext[i], a->b + component_offset(i, 0), component_bytes[i]);
}

/* ---- instructions ---------------------------------------------------------------- */

#define XSAVE_INSTRUCTION(name)								\
static inline void name(void *area, uint64_t rfbm)					\
{											\
	asm volatile(#name "64 (%0)" : : "r"(area), "a"((uint32_t)rfbm),		\
		     "d"((uint32_t)(rfbm >> 32)) : "memory");				\
}

XSAVE_INSTRUCTION(xsave)
XSAVE_INSTRUCTION(xsaveopt)
XSAVE_INSTRUCTION(xsavec)
XSAVE_INSTRUCTION(xsaves)
XSAVE_INSTRUCTION(xrstor)
XSAVE_INSTRUCTION(xrstors)

/*
 * Set and read all registers, by the standard format alone; CET_U, which it does
 * not have, by its MSRs.
 */
static inline void load_state(const struct state *s)
{
	static struct area area;

	make_area(&area, s, xcr0_all, 0);
	xrstor(&area, xcr0_all);
	if (xss_all & BIT(CET_U)) {
		wrmsr(MSR_U_CET, get64(s->ext[CET_U]));
		wrmsr(MSR_PL3_SSP, get64(s->ext[CET_U] + 8));
	}
}

static inline void read_state(struct state *s)
{
	static struct area area;

	memset(area.b + XSTATE_BV, 0, EXTENDED - XSTATE_BV);
	xsave(&area, xcr0_all);
	get_state(s, &area);
	if (xss_all & BIT(CET_U)) {
		put64(s->ext[CET_U], rdmsr(MSR_U_CET));
		put64(s->ext[CET_U] + 8, rdmsr(MSR_PL3_SSP));
	}
}

/* The nth subset of a mask, n < 1 << the number of its bits. */
static inline uint64_t subset(uint64_t mask, unsigned int n)
{
	uint64_t chosen = 0;

	for (; mask; mask &= mask - 1, n >>= 1)
		if (n & 1)
			chosen |= mask & -mask;
	return chosen;
}

static inline unsigned int count_bits(uint64_t mask)
{
	unsigned int n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

#endif
