// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the SIMD registers of a sample into the ring buffer.
 *
 * A register can be stored in pieces, as the quarters of ZMM0 are in an XSAVE
 * area, and a sample can have any subset of a class. struct perf_simd_regs
 * describes that as banks. They are gathered straight into the ring buffer, in
 * runs as long as the banks allow, through the function that copies raw data
 * with a callback: it calls once per page that the record touches.
 */
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/string.h>

#include "internal.h"

/**
 * perf_simd_add_bank - append a bank of registers to what a side shows
 * @simd: the side
 * @mask: the registers wanted, bit 0 the first of the bank; not 0
 *
 * Context: any.
 * Return: the bank, which wants its parts added, in ascending order.
 */
struct perf_simd_bank *perf_simd_add_bank(struct perf_simd_regs *simd, u32 mask)
{
	struct perf_simd_bank *bank = &simd->bank[simd->nr_banks++];

	bank->mask = mask;
	bank->nr_parts = 0;
	bank->bytes = 0;

	return bank;
}

/**
 * perf_simd_add_part - append a part to the registers of a bank
 * @simd: the side
 * @bank: the last bank of the side
 * @base: the first register's part, or NULL for zeros, see struct perf_simd_part
 * @bytes: size of the part of one register
 *
 * Context: any.
 */
void perf_simd_add_part(struct perf_simd_regs *simd, struct perf_simd_bank *bank,
			const void *base, unsigned int bytes)
{
	bank->part[bank->nr_parts].base = base;
	bank->part[bank->nr_parts].bytes = bytes;
	bank->nr_parts++;
	bank->bytes += bytes;
	simd->bytes += hweight32(bank->mask) * bytes;
}

/**
 * perf_simd_add_head - append the header of vector and predicate registers
 * @simd: the side
 * @nr_vectors: vector registers that follow
 * @vector_qwords: their width in 64-bit words
 * @nr_pred: predicate registers that follow the vector registers
 * @pred_qwords: their width in 64-bit words
 *
 * Context: any.
 */
void perf_simd_add_head(struct perf_simd_regs *simd,
			unsigned int nr_vectors, unsigned int vector_qwords,
			unsigned int nr_pred, unsigned int pred_qwords)
{
	simd->head[0] = nr_vectors;
	simd->head[1] = nr_vectors ? vector_qwords : 0;
	simd->head[2] = nr_pred;
	simd->head[3] = nr_pred ? pred_qwords : 0;

	perf_simd_add_part(simd, perf_simd_add_bank(simd, 1),
			   simd->head, sizeof(simd->head));
}

static __always_inline void copy_run(void *dst, const void *src, unsigned long n)
{
	if (unlikely(!src))
		memset(dst, 0, n);
	else if (n == 16)	/* the usual piece: two moves, no call */
		memcpy(dst, src, 16);
	else
		memcpy(dst, src, n);
}

/*
 * Copy @len bytes of register @reg of @bank, beginning with byte @off. All but
 * the registers at a page boundary are copied whole.
 */
static void *copy_reg(void *dst, const struct perf_simd_bank *bank,
		      unsigned int reg, unsigned long off, unsigned long len)
{
	const struct perf_simd_part *part = bank->part;
	const void *src;
	unsigned long n;

	for (; len; part++) {
		if (off >= part->bytes) {
			off -= part->bytes;
			continue;
		}

		n = min(part->bytes - off, len);
		src = part->base ? part->base + reg * part->bytes + off : NULL;
		copy_run(dst, src, n);
		dst += n;
		len -= n;
		off = 0;
	}

	return dst;
}

/* Copy @len bytes of @bank, beginning with byte @off. */
static void *copy_bank(void *dst, const struct perf_simd_bank *bank,
		       unsigned long off, unsigned long len)
{
	u32 mask = bank->mask;
	unsigned int reg, nr;
	unsigned long n;

	while (len) {
		reg = __ffs(mask);
		/* Registers in one piece that follow each other are one run. */
		nr = bank->nr_parts == 1 ? __ffs64(~((u64)mask >> reg)) : 1;
		mask &= ~GENMASK_U32(reg + nr - 1, reg);

		if (off >= nr * bank->bytes) {
			off -= nr * bank->bytes;
			continue;
		}

		n = min(nr * bank->bytes - off, len);
		if (bank->nr_parts == 1) {
			const void *base = bank->part[0].base;

			copy_run(dst, base ? base + reg * bank->bytes + off : NULL, n);
			dst += n;
		} else {
			dst = copy_reg(dst, bank, reg, off, n);
		}
		len -= n;
		off = 0;
	}

	return dst;
}

/* A perf_copy_f: write @len bytes of the sample's registers, from byte @off on. */
static unsigned long gather(void *dst, const void *src, unsigned long off,
			    unsigned long len)
{
	const struct perf_simd_regs *simd = src;
	const struct perf_simd_bank *bank = simd->bank;
	unsigned long n, bytes;

	for (; len; bank++) {
		bytes = hweight32(bank->mask) * bank->bytes;
		if (off >= bytes) {
			off -= bytes;
			continue;
		}

		n = min(bytes - off, len);
		dst = copy_bank(dst, bank, off, n);
		len -= n;
		off = 0;
	}

	return 0;
}

/**
 * perf_simd_regs_output - write what perf_simd_regs_prepare() found
 * @handle: where to
 * @simd: one side of a sample whose ABI is not PERF_SAMPLE_REGS_ABI_NONE
 *
 * Context: that of the preparation, without a break in between.
 */
void perf_simd_regs_output(struct perf_output_handle *handle,
			   const struct perf_simd_regs *simd)
{
	if (simd->bytes)
		__output_custom(handle, gather, simd, simd->bytes);
}
