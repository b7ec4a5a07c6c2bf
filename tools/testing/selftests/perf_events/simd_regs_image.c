// SPDX-License-Identifier: GPL-2.0
/*
 * Register images: the pattern in the memory format that simd_live_run() loads.
 */
#include <cpuid.h>
#include <string.h>

#include "simd_regs_image.h"
#include "simd_regs_live.h"
#include "simd_regs_pattern.h"

/* The fixed places of the standard XSAVE format */
#define XSAVE_MXCSR		24
#define XSAVE_XMM		160
#define XSAVE_HEADER		512
#define MXCSR_DEFAULT		0x1f80
#define NR_COMPONENTS		20

static struct simd_class classes[] = {
	{
		.name = "xmm", .load = SIMD_LOAD_XMM,
		.parts = SIMD_MARK_XMM,
		.xfeatures = SIMD_XF_SSE,
	}, {
		.name = "ymm", .load = SIMD_LOAD_YMM,
		.parts = SIMD_MARK_XMM | SIMD_MARK_YMM,
		.xfeatures = SIMD_XF_SSE | SIMD_XF_YMMH,
	}, {
		.name = "zmm", .load = SIMD_LOAD_XSTATE,
		.parts = SIMD_MARK_XMM | SIMD_MARK_YMM | SIMD_MARK_ZMM,
		.xfeatures = SIMD_XF_SSE | SIMD_XF_YMMH | SIMD_XF_ZMMH |
			     SIMD_XF_HI16_ZMM,
	}, {
		.name = "opmask", .load = SIMD_LOAD_XSTATE,
		.parts = SIMD_MARK_OPMASK,
		.xfeatures = SIMD_XF_OPMASK,
	}, {
		.name = "egpr", .load = SIMD_LOAD_XSTATE,
		.parts = SIMD_MARK_XMM | SIMD_MARK_EGPR,
		.xfeatures = SIMD_XF_SSE | SIMD_XF_APX,
	}, {
		.name = "zero", .load = SIMD_LOAD_XSTATE,
		.parts = SIMD_MARK_ZERO,
		.every = true,
	}, {
		.name = "all", .load = SIMD_LOAD_XSTATE,
		.every = true,
	},
};

#define NR_CLASSES (sizeof(classes) / sizeof(*classes))

/* Puts together what this CPU has. Without XSAVE that is XMM. */
static void add_every_part(struct simd_class *cls)
{
	unsigned int i;

	for (i = 0; i < NR_CLASSES; i++) {
		if (!classes[i].every && simd_class_supported(&classes[i])) {
			cls->parts |= classes[i].parts;
			cls->xfeatures |= classes[i].xfeatures;
		}
	}
	if (!cls->xfeatures) {
		cls->parts |= SIMD_MARK_XMM;
		cls->xfeatures = SIMD_XF_SSE;
		cls->load = SIMD_LOAD_XMM;
	}
}

const struct simd_class *simd_class_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_CLASSES; i++) {
		if (strcmp(classes[i].name, name))
			continue;
		if (classes[i].every && !classes[i].xfeatures)
			add_every_part(&classes[i]);
		return &classes[i];
	}
	return NULL;
}

__u64 simd_xcr0(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return 0;
	asm volatile("xgetbv" : "=a" (a), "=d" (d) : "c" (0));
	return (__u64)d << 32 | a;
}

bool simd_class_supported(const struct simd_class *cls)
{
	return !(cls->xfeatures & ~simd_xcr0());
}

/* Where an XSAVE component is in the standard format */
static const struct place {
	unsigned int offset, size;
} *xsave_place(unsigned int component)
{
	static struct place places[NR_COMPONENTS] = {
		[1] = { XSAVE_XMM, 16 * 16 },
	};
	struct place *p = &places[component];
	unsigned int c, d;

	if (!p->size)
		__cpuid_count(0xd, component, p->size, p->offset, c, d);
	return p;
}

static unsigned int xsave_offset(unsigned int component)
{
	return xsave_place(component)->offset;
}

size_t simd_image_size(const struct simd_class *cls)
{
	unsigned int a, b, c, d;

	if (cls->load != SIMD_LOAD_XSTATE)
		return 16 * 32;
	__cpuid_count(0xd, 0, a, b, c, d);
	return (b + 63) & ~63UL;
}

static unsigned int xstate_place(unsigned int reg, unsigned int word)
{
	if (reg >= SIMD_REG_EGPR)
		return xsave_offset(19) + (reg - SIMD_REG_EGPR) * 8;
	if (reg >= SIMD_REG_OPMASK)
		return xsave_offset(5) + (reg - SIMD_REG_OPMASK) * 8;
	if (reg >= 16)
		return xsave_offset(7) + (reg - 16) * 64 + word * 8;
	if (word >= 4)
		return xsave_offset(6) + reg * 32 + (word - 4) * 8;
	if (word >= 2)
		return xsave_offset(2) + reg * 16 + (word - 2) * 8;
	return XSAVE_XMM + reg * 16 + word * 8;
}

__u64 *simd_image_word(const struct simd_class *cls, void *image, unsigned int reg,
		       unsigned int word)
{
	char *base = image;

	if (!(cls->parts & simd_part(reg, word)))
		return NULL;
	if (cls->load == SIMD_LOAD_XSTATE)
		return (__u64 *)(base + xstate_place(reg, word));
	return (__u64 *)(base + reg * 32 + word * 8);
}

/* Puts each word of the class in its place. */
static void fill_words(const struct simd_class *cls, void *image, __u64 marker)
{
	unsigned int reg, word;
	__u64 *place, value;

	for (reg = 0; reg < SIMD_REG_EGPR + 16; reg++) {
		for (word = 0; word < (reg < 32 ? 8 : 1); word++) {
			if (reg >= 32 && reg < SIMD_REG_OPMASK)
				continue;
			if (reg >= SIMD_REG_OPMASK + 8 && reg < SIMD_REG_EGPR)
				continue;
			place = simd_image_word(cls, image, reg, word);
			if (place && simd_expect(marker, reg, word, &value))
				*place = value;
		}
	}
}

/* The components that are to be in their initial state */
static __u64 initial_state(__u64 marker)
{
	static const struct {
		__u16 part;
		__u64 xfeatures;
	} parts[] = {
		{ SIMD_MARK_XMM, SIMD_XF_SSE },
		{ SIMD_MARK_YMM, SIMD_XF_YMMH },
		{ SIMD_MARK_ZMM, SIMD_XF_ZMMH | SIMD_XF_HI16_ZMM },
		{ SIMD_MARK_OPMASK, SIMD_XF_OPMASK },
		{ SIMD_MARK_EGPR, SIMD_XF_APX },
	};
	__u64 xfeatures = 0;
	unsigned int i;

	if (marker & SIMD_MARK_ZERO)
		return ~0ULL;
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (marker & SIMD_MARK_REST_ZERO && !(marker & parts[i].part))
			xfeatures |= parts[i].xfeatures;
	}
	return xfeatures;
}

void simd_image_fill(const struct simd_class *cls, void *image, __u64 marker)
{
	memset(image, 0, simd_image_size(cls));
	if (cls->load == SIMD_LOAD_XSTATE) {
		__u32 mxcsr = MXCSR_DEFAULT;
		/* What is not present is how XRSTOR is told to load initial state. */
		__u64 xstate_bv = cls->xfeatures & ~initial_state(marker);

		memcpy((char *)image + XSAVE_MXCSR, &mxcsr, sizeof(mxcsr));
		memcpy((char *)image + XSAVE_HEADER, &xstate_bv, sizeof(xstate_bv));
	}
	fill_words(cls, image, marker);
}

/* memcmp() may be made of vector instructions; the registers are to stay. */
static bool differs(const void *a, const void *b, size_t bytes)
{
	const __u64 *x = a, *y = b;

	for (; bytes; bytes -= sizeof(*x)) {
		if (*x++ != *y++)
			return true;
	}
	return false;
}

unsigned int simd_image_compare(const struct simd_class *cls, const void *dump,
				const void *image)
{
	const char *a = dump, *b = image;
	unsigned int i, differ = 0;

	if (cls->load != SIMD_LOAD_XSTATE)
		return differs(a, b, simd_image_size(cls));
	for (i = 0; i < NR_COMPONENTS; i++) {
		const struct place *p;

		if (!(cls->xfeatures >> i & 1))
			continue;
		p = xsave_place(i);
		differ += differs(a + p->offset, b + p->offset, p->size);
	}
	return differ;
}
