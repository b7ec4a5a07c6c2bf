/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Register images for simd_live_run(): which register classes there are, what
 * the CPU has of them, and the pattern in the memory format that loads them.
 */
#ifndef SIMD_REGS_IMAGE_H
#define SIMD_REGS_IMAGE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* XSAVE components of x86, as in XCR0 */
#define SIMD_XF_SSE		0x00002ULL
#define SIMD_XF_YMMH		0x00004ULL
#define SIMD_XF_OPMASK		0x00020ULL
#define SIMD_XF_ZMMH		0x00040ULL
#define SIMD_XF_HI16_ZMM	0x00080ULL
#define SIMD_XF_APX		0x80000ULL

struct simd_class {
	const char *name;
	__u16 parts;		/* SIMD_MARK_* */
	unsigned int load;	/* SIMD_LOAD_* */
	__u64 xfeatures;
	bool every;		/* of whatever the CPU has */
};

/*
 * On x86 xmm, ymm, zmm, opmask, egpr; all of them that this CPU has; zero is the
 * same in its initial state. On arm64 v; z, with predicates; streaming, the same in
 * that mode; all is what system calls keep, v; zero is that when it is zero.
 */
const struct simd_class *simd_class_find(const char *name);
bool simd_class_supported(const struct simd_class *cls);

/* x86: the components that the OS has enabled, 0 without XSAVE */
__u64 simd_xcr0(void);

size_t simd_image_size(const struct simd_class *cls);

/* x86: the place of a register's word in an image; NULL if the class does not have it */
__u64 *simd_image_word(const struct simd_class *cls, void *image, unsigned int reg,
		       unsigned int word);

void simd_image_fill(const struct simd_class *cls, void *image, __u64 marker);

/* How much of @dump, components or words, is not as in @image */
unsigned int simd_image_compare(const struct simd_class *cls, const void *dump,
				const void *image);

#endif /* SIMD_REGS_IMAGE_H */
