/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SIMD registers of arm64: what there is of them on this system.
 */
#ifndef SIMD_REGS_ARM64_H
#define SIMD_REGS_ARM64_H

#include <linux/prctl.h>
#include <sys/prctl.h>

#include "simd_regs_image.h"
#include "simd_regs_pattern.h"

#define VL_LONGEST	256	/* the kernel gives what it has up to that */

#define ALL_VECTORS	0xffffffffULL
#define ALL_P		0x0ffffU
#define FFR		0x10000U

/* Sets the vector length and says what it has become, 0 if there is none. */
static inline unsigned int set_vl(int option, unsigned int vl)
{
	int got = prctl(option, vl);

	return got < 0 ? 0 : got & PR_SVE_VL_LEN_MASK;
}

/* The longest vectors in bytes; that of V if there is no SVE */
static inline unsigned int longest_vl(void)
{
	unsigned int sve = set_vl(PR_SVE_SET_VL, VL_LONGEST);
	unsigned int sme = set_vl(PR_SME_SET_VL, VL_LONGEST);
	unsigned int vl = sve > sme ? sve : sme;

	return vl ?: 16;
}

static inline bool have_class(const char *name)
{
	return simd_class_supported(simd_class_find(name));
}

static inline bool have_sve(void)
{
	return have_class("z") || have_class("streaming");
}

static inline bool have_ffr(void)
{
	return have_class("z") || simd_class_find("streaming")->parts & SIMD_MARK_FFR;
}

#endif /* SIMD_REGS_ARM64_H */
