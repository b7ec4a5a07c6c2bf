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
#include <linux/pgtable.h>
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

/*
 * Registers are short and consist of words: copying them by moves costs less
 * than calling or setting up what copies memory.
 */
static __always_inline void copy_run(void *dst, const void *src, unsigned long n)
{
	const u64 *from = src;
	u64 *to = dst;

	if (!from) {
		if (unlikely(n > sizeof(empty_zero_page))) {
			memset(dst, 0, n);
			return;
		}
		from = (const u64 *)empty_zero_page;
	}

	for (; n >= 4 * sizeof(u64); n -= 4 * sizeof(u64)) {
		u64 a = from[0], b = from[1], c = from[2], d = from[3];

		to[0] = a;
		to[1] = b;
		to[2] = c;
		to[3] = d;
		from += 4;
		to += 4;
	}

	if (n == 2 * sizeof(u64))
		memcpy(to, from, 2 * sizeof(u64));
	else if (n)
		memcpy(to, from, n);
}

/* Copy @len bytes of register @reg of @bank, beginning with byte @off. */
static void *copy_reg(void *dst, const struct perf_simd_bank *bank,
		      unsigned int reg, unsigned long off, unsigned long len)
{
	const struct perf_simd_part *part = bank->part;
	unsigned long n;

	for (; len; part++) {
		if (off >= part->bytes) {
			off -= part->bytes;
			continue;
		}

		n = min(part->bytes - off, len);
		copy_run(dst, part->base ? part->base + reg * part->bytes + off : NULL, n);
		dst += n;
		len -= n;
		off = 0;
	}

	return dst;
}

/* Copy one part of the @nr lowest registers in @mask. */
static __always_inline void copy_column(void *dst, unsigned int stride,
					const void *base, unsigned int step,
					unsigned int bytes, u32 mask, unsigned int nr)
{
	for (; nr; nr--, mask &= mask - 1, dst += stride)
		memcpy(dst, base + __ffs(mask) * step, bytes);
}

static void copy_part(void *dst, const struct perf_simd_bank *bank,
		      const struct perf_simd_part *part, u32 mask, unsigned int nr)
{
	const void *base = part->base ?: empty_zero_page;
	unsigned int step = part->base ? part->bytes : 0;

	/* The usual sizes are a few moves. */
	if (part->bytes == 16)
		copy_column(dst, bank->bytes, base, step, 16, mask, nr);
	else if (part->bytes == 32)
		copy_column(dst, bank->bytes, base, step, 32, mask, nr);
	else
		copy_column(dst, bank->bytes, base, step, part->bytes, mask, nr);
}

/* Registers in several parts: all but those at a page boundary are whole. */
static void *copy_parts(void *dst, const struct perf_simd_bank *bank,
			unsigned long off, unsigned long len)
{
	const struct perf_simd_part *part;
	u32 mask = bank->mask;
	unsigned long n, column;
	unsigned int nr;

	for (; off >= bank->bytes; off -= bank->bytes)
		mask &= mask - 1;

	if (off) {
		n = min(bank->bytes - off, len);
		dst = copy_reg(dst, bank, __ffs(mask), off, n);
		mask &= mask - 1;
		len -= n;
	}

	nr = len / bank->bytes;
	column = 0;
	for (part = bank->part; nr && part < bank->part + bank->nr_parts; part++) {
		copy_part(dst + column, bank, part, mask, nr);
		column += part->bytes;
	}

	dst += nr * bank->bytes;
	len -= nr * bank->bytes;
	if (!len)
		return dst;

	for (; nr; nr--)
		mask &= mask - 1;

	return copy_reg(dst, bank, __ffs(mask), 0, len);
}

/* Registers in one part: those that follow each other are one run. */
static void *copy_runs(void *dst, const struct perf_simd_bank *bank,
		       unsigned long off, unsigned long len)
{
	const void *base = bank->part[0].base;
	u32 mask = bank->mask;
	unsigned int reg, nr;
	unsigned long n;

	for (; len; len -= n) {
		reg = __ffs(mask);
		nr = __ffs64(~((u64)mask >> reg));
		mask &= ~GENMASK_U32(reg + nr - 1, reg);

		if (off >= nr * bank->bytes) {
			off -= nr * bank->bytes;
			n = 0;
			continue;
		}

		n = min(nr * bank->bytes - off, len);
		copy_run(dst, base ? base + reg * bank->bytes + off : NULL, n);
		dst += n;
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
		dst = bank->nr_parts == 1 ? copy_runs(dst, bank, off, n) :
					    copy_parts(dst, bank, off, n);
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
