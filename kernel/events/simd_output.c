// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample's block of SIMD registers is made of, and how it is written into
 * the ring buffer.
 *
 * A register can be stored in pieces, as the quarters of ZMM0 are in an XSAVE
 * area, and a sample can have any subset of a class. struct perf_simd_layout
 * describes that, once, when an event is opened: it has a column for each piece of
 * registers in a row, and a sample only adds where the sources are. The columns
 * are copied straight into the ring buffer, through the function that copies raw
 * data with a callback: it calls once per page that the record touches.
 *
 *		  to  16  32	  64
 *	ZMM0	  | 0 | 1 | 2     |	source 0: XMM0-15
 *	ZMM1	  | 0 | 1 | 2     |	source 1: the upper halves of YMM0-15
 *	 :				source 2: the upper halves of ZMM0-15
 */
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/perf_simd_regs.h>
#include <linux/string.h>
#include <linux/unroll.h>

#include "internal.h"

static void add_column(struct perf_simd_layout *layout,
		       const struct perf_simd_column *column)
{
	if (!WARN_ON_ONCE(layout->nr_columns == PERF_SIMD_MAX_COLUMNS))
		layout->column[layout->nr_columns++] = *column;
}

/* Append @nr registers, which begin with register @first of the parts. */
static void add_run(struct perf_simd_layout *layout, unsigned int first,
		    unsigned int nr, const struct perf_simd_part *part,
		    unsigned int nr_parts)
{
	struct perf_simd_column column;
	unsigned int i, stride = 0;

	for (i = 0; i < nr_parts; i++)
		stride += part[i].bytes;

	column.to = layout->bytes;
	layout->bytes += nr * stride;

	for (i = 0; i < nr_parts; i++, part++) {
		column.source = part->source;
		column.from = part->offset + first * part->stride;
		column.from_stride = part->stride;
		column.to_stride = stride;
		column.bytes = part->bytes;
		column.nr = nr;
		if (nr_parts == 1 && part->stride == part->bytes) {
			column.bytes *= nr;
			column.nr = 1;
		}
		column.to_end = column.to + (column.nr - 1) * stride + column.bytes;
		add_column(layout, &column);
		column.to += part->bytes;
	}
}

/**
 * perf_simd_add_regs - append registers that are stored alike to a layout
 * @layout: a layout, zeroed up to its columns before the first registers
 * @mask: the registers
 * @part: the pieces of register 0, whether it is in @mask or not
 * @nr_parts: how many pieces a register has
 *
 * Registers that are words of sample_regs_* come before perf_simd_add_head(),
 * vector and predicate registers after it.
 *
 * Context: any.
 */
void perf_simd_add_regs(struct perf_simd_layout *layout, u32 mask,
			const struct perf_simd_part *part, unsigned int nr_parts)
{
	unsigned int first, nr;

	while (mask) {
		first = __ffs(mask);
		nr = __ffs64(~((u64)mask >> first));
		mask &= ~GENMASK_U32(first + nr - 1, first);
		add_run(layout, first, nr, part, nr_parts);
	}

	if (!layout->head[0] && !layout->head[2])
		layout->ext_bytes = layout->bytes;
}

/**
 * perf_simd_add_head - append the header of vector and predicate registers
 * @layout: the layout
 * @nr_vectors: vector registers that follow
 * @vector_qwords: their width in 64-bit words
 * @nr_pred: predicate registers that follow the vector registers
 * @pred_qwords: their width in 64-bit words
 *
 * There has to be a register of either kind.
 *
 * Context: any.
 */
void perf_simd_add_head(struct perf_simd_layout *layout,
			unsigned int nr_vectors, unsigned int vector_qwords,
			unsigned int nr_pred, unsigned int pred_qwords)
{
	const struct perf_simd_part words = {
		.source = PERF_SIMD_HEAD,
		.stride = sizeof(layout->head),
		.bytes = sizeof(layout->head),
	};

	layout->head[0] = nr_vectors;
	layout->head[1] = nr_vectors ? vector_qwords : 0;
	layout->head[2] = nr_pred;
	layout->head[3] = nr_pred ? pred_qwords : 0;

	add_run(layout, 0, 1, &words, 1);
}

/*
 * Registers are short and consist of words: copying them by moves costs less
 * than calling or setting up what copies memory.
 */
static __always_inline void copy_words(void *to, const void *from, unsigned int bytes)
{
	for (; bytes >= 128; bytes -= 128, to += 128, from += 128)
		memcpy(to, from, 128);
	for (; bytes >= 32; bytes -= 32, to += 32, from += 32)
		memcpy(to, from, 32);
	for (; bytes >= 8; bytes -= 8, to += 8, from += 8)
		memcpy(to, from, 8);
	if (unlikely(bytes))
		memcpy(to, from, bytes);
}

/* Copy @nr pieces of a column, the first one from @from to @to. */
static __always_inline void copy_pieces(void *to, const void *from, unsigned int nr,
					const struct perf_simd_column *column)
{
	unsigned int from_stride = column->from_stride;
	unsigned int to_stride = column->to_stride;
	unsigned int bytes = column->bytes;

	if (bytes == 16) {
		unrolled_count(4)
		for (; nr; nr--, to += to_stride, from += from_stride)
			memcpy(to, from, 16);
	} else if (bytes == 32) {
		unrolled_count(4)
		for (; nr; nr--, to += to_stride, from += from_stride)
			memcpy(to, from, 32);
	} else {
		for (; nr; nr--, to += to_stride, from += from_stride)
			copy_words(to, from, bytes);
	}
}

/* The same for registers in their initial state, of which nothing was saved */
static __always_inline void zero_words(void *to, unsigned int bytes)
{
	for (; bytes >= 32; bytes -= 32, to += 32)
		memset(to, 0, 32);
	if (unlikely(bytes))
		memset(to, 0, bytes);
}

static noinline void zero_pieces(void *to, unsigned int nr,
				 const struct perf_simd_column *column)
{
	unsigned int stride = column->to_stride;
	unsigned int bytes = column->bytes;

	if (bytes == 16) {
		for (; nr; nr--, to += stride)
			memset(to, 0, 16);
	} else if (bytes == 32) {
		for (; nr; nr--, to += stride)
			memset(to, 0, 32);
	} else {
		for (; nr; nr--, to += stride)
			zero_words(to, bytes);
	}
}

/* A part of the block, from byte @begin to @end, which goes to @to. */
struct slice {
	void		*to;
	unsigned long	begin;
	unsigned long	end;
};

/* Copy what is in @slice of piece @i. */
static void copy_piece_slice(const struct slice *slice, const void *from, unsigned int i,
			     const struct perf_simd_column *column)
{
	unsigned long piece = column->to + i * column->to_stride;
	unsigned long begin = max(piece, slice->begin);
	unsigned long end = min(piece + column->bytes, slice->end);
	void *to = slice->to + (begin - slice->begin);

	if (begin >= end)
		return;

	if (from)
		copy_words(to, from + i * column->from_stride + (begin - piece), end - begin);
	else
		zero_words(to, end - begin);
}

/* Copy what is in @slice of a column: whole pieces, and one cut at either end. */
static void copy_column_slice(const struct slice *slice, const void *from,
			      const struct perf_simd_column *column)
{
	unsigned long begin = max_t(unsigned long, slice->begin, column->to) - column->to;
	unsigned long end = max_t(unsigned long, slice->end, column->to) - column->to;
	unsigned int first, last, stride = column->to_stride;
	void *to;

	/* The first piece that begins in the slice, and the first that ends behind it */
	first = min_t(unsigned long, DIV_ROUND_UP(begin, stride), column->nr);
	last = end < column->bytes ? 0 :
	       min_t(unsigned long, (end - column->bytes) / stride + 1, column->nr);

	if (first)
		copy_piece_slice(slice, from, first - 1, column);

	if (first < last) {
		to = slice->to + (column->to + first * stride - slice->begin);
		if (from)
			copy_pieces(to, from + first * column->from_stride,
				    last - first, column);
		else
			zero_pieces(to, last - first, column);
	}

	if (first <= last && last < column->nr)
		copy_piece_slice(slice, from, last, column);
}

static noinline void gather_slice(const struct perf_simd_regs *simd,
				  const struct slice *slice)
{
	const struct perf_simd_layout *layout = simd->layout;
	const struct perf_simd_column *column;
	const void *from;

	for (column = layout->column; column < layout->column + layout->nr_columns; column++) {
		if (column->to >= slice->end || column->to_end <= slice->begin)
			continue;

		from = simd->source[column->source];
		if (from && column->to >= slice->begin && column->to_end <= slice->end)
			copy_pieces(slice->to + (column->to - slice->begin),
				    from + column->from, column->nr, column);
		else
			copy_column_slice(slice, from ? from + column->from : NULL, column);
	}
}

/* A perf_copy_f: write @len bytes of the sample's registers, from byte @off on. */
static unsigned long gather(void *to, const void *src, unsigned long off,
			    unsigned long len)
{
	const struct perf_simd_regs *simd = src;
	const struct perf_simd_layout *layout = simd->layout;
	const struct perf_simd_column *column;
	const void *from;

	if (unlikely(len != layout->bytes)) {
		gather_slice(simd, &(struct slice) { to, off, off + len });
		return 0;
	}

	for (column = layout->column; column < layout->column + layout->nr_columns; column++) {
		from = simd->source[column->source];
		if (likely(from))
			copy_pieces(to + column->to, from + column->from,
				    column->nr, column);
		else
			zero_pieces(to + column->to, column->nr, column);
	}

	return 0;
}

/**
 * perf_simd_regs_output - write what perf_simd_regs_prepare() found
 * @handle: where to
 * @simd: one side of a sample whose ABI is not PERF_SAMPLE_REGS_ABI_NONE; NULL
 *	if there was no place for it
 *
 * Context: that of the preparation, without a break in between.
 */
void perf_simd_regs_output(struct perf_output_handle *handle,
			   const struct perf_simd_regs *simd)
{
	if (simd && simd->bytes)
		__output_custom(handle, gather, simd, simd->bytes);
}
