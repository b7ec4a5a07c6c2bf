// SPDX-License-Identifier: GPL-2.0
/*
 * Register images for arm64: the pattern in the memory format that
 * simd_live_run() loads. The size of SVE registers is what the task has when it
 * asks for a class; its children have the same.
 */
#include <asm/hwcap.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "simd_regs_image.h"
#include "simd_regs_image_arm64.h"

static struct simd_class classes[] = {
	{ .name = "v", .load = SIMD_LOAD_V, .parts = SIMD_MARK_V },
	{ .name = "z", .load = SIMD_LOAD_SVE },
	{ .name = "streaming", .load = SIMD_LOAD_STREAMING },
	{ .name = "all", .load = SIMD_LOAD_V, .parts = SIMD_MARK_V },
	{ .name = "zero", .load = SIMD_LOAD_V, .parts = SIMD_MARK_V | SIMD_MARK_ZERO },
};

static unsigned int vq_of(int option)
{
	int vl = prctl(option);

	return vl < 0 ? 1 : (vl & PR_SVE_VL_LEN_MASK) / 16;
}

static __u16 sve_parts(unsigned int load)
{
	__u16 parts = SIMD_MARK_V | SIMD_MARK_Z | SIMD_MARK_P;

	if (load == SIMD_LOAD_STREAMING) {
		parts |= SIMD_MARK_VQ(vq_of(PR_SME_GET_VL));
		return getauxval(AT_HWCAP2) & HWCAP2_SME_FA64 ? parts | SIMD_MARK_FFR : parts;
	}
	return parts | SIMD_MARK_FFR | SIMD_MARK_VQ(vq_of(PR_SVE_GET_VL));
}

const struct simd_class *simd_class_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		if (strcmp(classes[i].name, name))
			continue;
		if (classes[i].load != SIMD_LOAD_V)
			classes[i].parts = sve_parts(classes[i].load);
		else if (getauxval(AT_HWCAP) & HWCAP_SVE)
			classes[i].parts |= SIMD_MARK_MORE;	/* the C library uses it */
		return &classes[i];
	}
	return NULL;
}

bool simd_class_supported(const struct simd_class *cls)
{
	switch (cls->load) {
	case SIMD_LOAD_SVE:
		return getauxval(AT_HWCAP) & HWCAP_SVE;
	case SIMD_LOAD_STREAMING:
		return getauxval(AT_HWCAP2) & HWCAP2_SME;
	default:
		return true;
	}
}

size_t simd_image_size(const struct simd_class *cls)
{
	if (cls->load == SIMD_LOAD_V)
		return SIMD_NR_VECTORS * SIMD_V_STRIDE;
	return SIMD_SVE_SIZE(simd_marker_vq(cls->parts) * 16);
}

/* Puts each word of the class in its place. */
static void fill_words(const struct simd_class *cls, void *image, __u64 marker)
{
	unsigned int vl = simd_marker_vq(cls->parts) * 16, reg, word, bytes;
	__u64 value;
	size_t place;

	for (reg = 0; reg <= SIMD_REG_FFR; reg++) {
		if (reg >= SIMD_NR_VECTORS && reg < SIMD_REG_P)
			continue;
		for (word = 0; word < 32; word++) {
			if (!simd_expect(marker, reg, word, &value))
				continue;
			place = simd_image_place(cls->load, vl, reg, word, &bytes);
			memcpy((char *)image + place, &value, bytes);
		}
	}
}

void simd_image_fill(const struct simd_class *cls, void *image, __u64 marker)
{
	memset(image, 0, simd_image_size(cls));
	fill_words(cls, image, marker);
}

unsigned int simd_image_compare(const struct simd_class *cls, const void *dump,
				const void *image)
{
	const __u64 *a = dump, *b = image;
	unsigned int words = simd_image_size(cls) / sizeof(*a), differ = 0;

	while (words--)
		differ += *a++ != *b++;
	return differ;
}
