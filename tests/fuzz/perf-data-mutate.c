// SPDX-License-Identifier: GPL-2.0-only
/*
 * How perf.data files get damaged, for libFuzzer: mostly where it matters to what reads
 * registers. Files stay files otherwise, so that perf gets as far as their samples: a
 * record that grows moves what follows, and the header says so.
 *
 * The sections of features, which tell of the machine, stay as they are.
 */
#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "perf-data.h"

#define MAX_RECORDS	256
#define WORD		sizeof(u64)

/* A file that is being damaged. */
struct file {
	u8 *data;
	size_t size, max;
	bool is_pipe, swapped;
	/* The first attr. */
	size_t attr, attr_size;
	/* Records lie from the one to the other. */
	size_t begin, end;
	size_t records[MAX_RECORDS];
	unsigned int nr;
};

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

/* ---- numbers --------------------------------------------------------------------- */

static u64 state;

/* xorshift64* */
static u32 number_below(u32 limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return limit ? (state * 0x2545f4914f6cdd1dULL >> 32) % limit : 0;
}

static u64 get(const struct file *f, size_t at, unsigned int bytes)
{
	u16 u16_value;
	u32 u32_value;
	u64 u64_value;

	switch (bytes) {
	case 2:
		memcpy(&u16_value, f->data + at, bytes);
		return f->swapped ? bswap_16(u16_value) : u16_value;
	case 4:
		memcpy(&u32_value, f->data + at, bytes);
		return f->swapped ? bswap_32(u32_value) : u32_value;
	default:
		memcpy(&u64_value, f->data + at, sizeof(u64_value));
		return f->swapped ? bswap_64(u64_value) : u64_value;
	}
}

static void put(struct file *f, size_t at, unsigned int bytes, u64 value)
{
	if (f->swapped)
		value = bswap_64(value) >> (WORD - bytes) * 8;
	memcpy(f->data + at, &value, bytes);
}

/* Numbers at edges, of which there are many in a block of registers. */
static u64 another(u64 value)
{
	static const u64 edges[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 104, 128,
		136, 144, 168, 176, 184, 0x1ffe, 0x1fff, 0x2000, 0xfff8, 0xffff, 0x10000,
		0x1ffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32, 1ULL << 61, 1ULL << 63,
		(1ULL << 32) + 1, (1ULL << 61) - 1, (1ULL << 61) + 1, ~0ULL - 7, ~0ULL,
	};

	switch (number_below(8)) {
	case 0:
		return value + 1;
	case 1:
		return value - 1;
	case 2:
		return value ^ 1ULL << number_below(64);
	case 3:
		return bswap_64(value);
	case 4:
		return value << 1;
	default:
		return edges[number_below(ARRAY_SIZE(edges))];
	}
}

static void put_another(struct file *f, size_t at, unsigned int bytes)
{
	put(f, at, bytes, another(get(f, at, bytes)));
}

/* ---- where things are ------------------------------------------------------------ */

static size_t record_size(const struct file *f, size_t at)
{
	return get(f, at + RECORD_SIZE, 2);
}

static void find_records(struct file *f)
{
	size_t at = f->begin, size;

	f->nr = 0;
	while (f->nr < MAX_RECORDS && at + RECORD_HEADER_SIZE <= f->end) {
		size = record_size(f, at);
		if (size < RECORD_HEADER_SIZE || size > f->end - at)
			break;
		f->records[f->nr++] = at;
		at += size;
	}
}

static bool section_is_inside(const struct file *f, size_t at, size_t min_size)
{
	u64 offset = get(f, at, 8), size = get(f, at + WORD, 8);

	return offset <= f->size && size <= f->size - offset && size >= min_size;
}

/* Is this a file that is good enough for being damaged in a certain place? */
static bool find_parts(struct file *f)
{
	if (f->size < PIPE_HEADER_SIZE + RECORD_HEADER_SIZE)
		return false;
	*f = (struct file){ .data = f->data, .size = f->size, .max = f->max };
	f->swapped = get(f, 0, 8) != FILE_MAGIC;
	if (get(f, 0, 8) != FILE_MAGIC)
		return false;

	f->is_pipe = get(f, WORD, 8) == PIPE_HEADER_SIZE;
	if (f->is_pipe) {
		f->begin = PIPE_HEADER_SIZE;
		f->end = f->size;
		find_records(f);
		for (unsigned int i = 0; i < f->nr; i++) {
			if (get(f, f->records[i], 4) == RECORD_ATTR) {
				f->attr = f->records[i] + RECORD_HEADER_SIZE;
				f->attr_size = record_size(f, f->records[i]) - RECORD_HEADER_SIZE;
				break;
			}
		}
	} else {
		if (f->size < FILE_HEADER_SIZE || !section_is_inside(f, HEADER_ATTRS, 0) ||
		    !section_is_inside(f, HEADER_DATA, 0))
			return false;
		f->attr = get(f, HEADER_ATTRS, 8);
		f->attr_size = get(f, HEADER_ATTRS + WORD, 8);
		f->begin = get(f, HEADER_DATA, 8);
		f->end = f->begin + get(f, HEADER_DATA + WORD, 8);
		find_records(f);
	}
	return f->attr_size >= PERF_ATTR_SIZE_VER0 && f->nr;
}

static u64 attr_word(const struct file *f, size_t place)
{
	return place + WORD <= f->attr_size ? get(f, f->attr + place, 8) : 0;
}

#define ATTR(f, field)	attr_word(f, offsetof(struct perf_event_attr, field))

/*
 * Where a side's registers begin in a sample, as far as that can be told without
 * reading fields of variable size. 0 if it can't.
 */
static size_t find_block(const struct file *f, size_t record, bool intr)
{
	const u64 variable = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			     PERF_SAMPLE_BRANCH_STACK;
	const u64 words = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	const u64 between = PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |
			    PERF_SAMPLE_TRANSACTION;
	size_t at = record + RECORD_HEADER_SIZE, end = record + record_size(f, record);
	u64 type = ATTR(f, sample_type), abi;

	if (type & variable || (intr && type & PERF_SAMPLE_STACK_USER))
		return 0;
	at += __builtin_popcountll(type & words) * WORD;
	if (intr && type & PERF_SAMPLE_REGS_USER) {
		if (at + WORD > end)
			return 0;
		abi = get(f, at, 8);
		at += WORD;
		if (abi)
			at += __builtin_popcountll(ATTR(f, sample_regs_user)) * WORD;
		if (abi & PERF_SAMPLE_REGS_ABI_SIMD) {
			if (at + 4 * WORD > end)
				return 0;
			at += (4 + get(f, at, 2) * get(f, at + WORD, 2) +
			       get(f, at + 2 * WORD, 2) * get(f, at + 3 * WORD, 2)) * WORD;
		}
	}
	if (intr)
		at += __builtin_popcountll(type & between) * WORD;
	return at + WORD <= end ? at : 0;
}

/* ---- damage ---------------------------------------------------------------------- */

/* Records that have to do with registers; what else there is tells of processes. */
static const u32 our_records[] = {
	RECORD_SAMPLE, RECORD_CALLCHAIN_DEFERRED, RECORD_ATTR, RECORD_EVENT_UPDATE,
};

static size_t some_record(const struct file *f)
{
	return f->records[number_below(f->nr)];
}

static size_t some_of(const struct file *f, const u32 *types, unsigned int nr_types)
{
	size_t records[MAX_RECORDS];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < f->nr; i++) {
		for (unsigned int j = 0; j < nr_types; j++) {
			if (get(f, f->records[i], 4) == types[j])
				records[nr++] = f->records[i];
		}
	}
	return nr ? records[number_below(nr)] : some_record(f);
}

static size_t some_sample(const struct file *f)
{
	return some_of(f, our_records, 1);
}

static size_t some_record_of_ours(const struct file *f)
{
	return some_of(f, our_records, ARRAY_SIZE(our_records));
}

/* Put new_size bytes in the place of old_size at a place among the records. */
static bool resize(struct file *f, size_t at, size_t old_size, size_t new_size)
{
	size_t after = f->end, table_end = f->end;

	if (f->size - old_size + new_size > f->max)
		return false;

	/* The sections of features: a table is after the data, what it points at too. */
	if (!f->is_pipe) {
		for (unsigned int i = 0; i < HEADER_FEATURES_SIZE; i++)
			table_end += __builtin_popcount(f->data[HEADER_FEATURES + i]) * SECTION_SIZE;
		for (; after + SECTION_SIZE <= table_end && table_end <= f->size; after += SECTION_SIZE) {
			if (get(f, after, 8) >= f->end)
				put(f, after, 8, get(f, after, 8) - old_size + new_size);
		}
	}

	memmove(f->data + at + new_size, f->data + at + old_size, f->size - at - old_size);
	f->size += new_size - old_size;
	f->end += new_size - old_size;
	if (!f->is_pipe)
		put(f, HEADER_DATA + WORD, 8, f->end - f->begin);
	return true;
}

/* A word that says what the other words are, in a block of registers. */
static void damage_block(struct file *f)
{
	const size_t masks[] = {
		offsetof(struct perf_event_attr, sample_regs_user),
		offsetof(struct perf_event_attr, sample_regs_intr),
	};
	size_t record = some_sample(f), end = record + record_size(f, record), at;
	bool intr = number_below(2);
	unsigned int word = number_below(5);

	at = find_block(f, record, intr);
	if (!at)
		return;
	if (word)
		at += (__builtin_popcountll(attr_word(f, masks[intr])) + word) * WORD;
	if (at + WORD <= end)
		put_another(f, at, 8);
}

static void damage_word(struct file *f)
{
	size_t record = number_below(4) ? some_sample(f) : some_record_of_ours(f);
	size_t nr = record_size(f, record) / WORD - 1;

	if (nr)
		put_another(f, record + (1 + number_below(min(nr, (size_t)64))) * WORD, 8);
}

/* Fewer words, or more, with the sizes right. */
static void damage_length(struct file *f)
{
	size_t record = some_sample(f), size = record_size(f, record);
	size_t words = 1 + number_below(number_below(2) ? 4 : 80), at;

	at = record + RECORD_HEADER_SIZE + number_below(size / WORD) * WORD;
	if (number_below(3))
		at = record + size;
	if (number_below(2)) {
		words = min(words, (at - record - RECORD_HEADER_SIZE) / WORD);
		if (!resize(f, at - words * WORD, words * WORD, 0))
			return;
		size -= words * WORD;
	} else {
		if (size + words * WORD > UINT16_MAX || !resize(f, at, 0, words * WORD))
			return;
		memset(f->data + at, number_below(256), words * WORD);
		size += words * WORD;
	}
	put(f, record + RECORD_SIZE, 2, size);
}

static void damage_record_header(struct file *f)
{
	static const struct {
		unsigned int at, bytes;
	} fields[] = {
		{ 0, 4 }, { RECORD_MISC, 2 }, { RECORD_SIZE, 2 },
	};
	size_t record = some_record(f);
	unsigned int i = number_below(ARRAY_SIZE(fields));

	if (!fields[i].at && number_below(8))
		put(f, record, 4, our_records[number_below(ARRAY_SIZE(our_records))]);
	/* A size in whole words gets further. */
	else if (fields[i].at == RECORD_SIZE && number_below(4))
		put(f, record + RECORD_SIZE, 2,
		    record_size(f, record) + (number_below(16) - 8) * WORD);
	else
		put_another(f, record + fields[i].at, fields[i].bytes);
}

static void damage_order(struct file *f)
{
	size_t from = some_record(f), size = record_size(f, from), to;
	u8 copy[UINT16_MAX];

	memcpy(copy, f->data + from, size);
	/* Twice, not at all, or in another place. */
	if (number_below(2) && f->nr > 1)
		resize(f, from, size, 0);
	else if (number_below(2))
		size = 0;
	find_records(f);
	if (!f->nr)
		return;
	to = some_record(f);
	if (size && resize(f, to, 0, size))
		memcpy(f->data + to, copy, size);
}

static void damage_byte_order(struct file *f)
{
	size_t record = some_sample(f), nr = record_size(f, record) / WORD - 1, first, at;

	if (!nr)
		return;
	first = number_below(nr);
	nr = 1 + number_below(nr - first);
	for (size_t i = 0; i < nr; i++) {
		at = record + (1 + first + i) * WORD;
		put(f, at, 8, bswap_64(get(f, at, 8)));
	}
}

static void damage_attr(struct file *f)
{
#define FIELD(name) { \
	offsetof(struct perf_event_attr, name), sizeof(((struct perf_event_attr *)0)->name) }
	static const struct {
		unsigned int at, bytes;
	} fields[] = {
		FIELD(size), FIELD(sample_type), FIELD(sample_type), FIELD(read_format),
		FIELD(branch_sample_type), FIELD(sample_regs_user), FIELD(sample_regs_intr),
		FIELD(sample_stack_user), FIELD(sample_simd_regs_enabled),
		FIELD(sample_simd_pred_reg_qwords), FIELD(sample_simd_vec_reg_qwords),
		FIELD(__reserved_4), FIELD(sample_simd_pred_reg_intr),
		FIELD(sample_simd_pred_reg_user), FIELD(sample_simd_vec_reg_intr),
		FIELD(sample_simd_vec_reg_user), FIELD(type),
	};
#undef FIELD
	static const u64 types[] = {
		PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_IDENTIFIER,
		PERF_SAMPLE_STACK_USER, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CALLCHAIN,
		PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_READ, PERF_SAMPLE_RAW, PERF_SAMPLE_AUX,
		PERF_SAMPLE_TIME, PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_CPU,
	};
	unsigned int i = number_below(ARRAY_SIZE(fields));
	size_t at = f->attr + fields[i].at;

	if (fields[i].at + fields[i].bytes > f->attr_size)
		return;
	if (fields[i].at == offsetof(struct perf_event_attr, sample_type))
		put(f, at, 8, get(f, at, 8) ^ types[number_below(ARRAY_SIZE(types))]);
	else
		put_another(f, at, fields[i].bytes);
}

static void damage_file_header(struct file *f)
{
	/* Of the header: where attrs and data are, and how large. */
	if (!f->is_pipe)
		put_another(f, (2 + number_below(5)) * WORD, 8);
}

static void damage_end(struct file *f)
{
	size_t at = f->begin + number_below(f->end - f->begin);

	if (number_below(2))
		at &= ~(WORD - 1);
	f->size = at;
}

/* Anything, anywhere in a record or the attr. */
static void damage_bytes(struct file *f)
{
	size_t at = some_record_of_ours(f), size = record_size(f, at);

	if (!number_below(4)) {
		at = f->attr;
		size = f->attr_size;
	}
	LLVMFuzzerMutate(f->data + at, size, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static void (*const ways[])(struct file *f) = {
		damage_block, damage_block, damage_block, damage_block, damage_block,
		damage_attr, damage_attr, damage_attr,
		damage_word, damage_word, damage_length, damage_length, damage_order,
		damage_byte_order, damage_record_header, damage_bytes, damage_bytes,
	};
	static void (*const rare_ways[])(struct file *f) = {
		damage_file_header, damage_end,
	};
	struct file f = { .data = data, .size = size, .max = max };
	unsigned int times;

	state = seed * 2ULL + 1;
	times = 1 + number_below(3);
	for (unsigned int i = 0; i < times; i++) {
		/* The end of what is no file any more. */
		if (!find_parts(&f))
			return i ? f.size : LLVMFuzzerMutate(data, size, max);
		if (number_below(16))
			ways[number_below(ARRAY_SIZE(ways))](&f);
		else
			rare_ways[number_below(ARRAY_SIZE(rare_ways))](&f);
	}
	return f.size;
}
