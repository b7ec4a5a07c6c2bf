// SPDX-License-Identifier: GPL-2.0
/*
 * The lanes of vector registers as integers or floating point numbers, and the
 * lanes that a predicate makes active.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "debug.h"
#include "sample.h"
#include "simd-regs-lanes.h"
#include "simd-regs.h"

static const struct simd_lane_type lane_types[] = {
	{ "i8",		SIMD_LANE_SIGNED,	8 },
	{ "i16",	SIMD_LANE_SIGNED,	16 },
	{ "i32",	SIMD_LANE_SIGNED,	32 },
	{ "i64",	SIMD_LANE_SIGNED,	64 },
	{ "u8",		SIMD_LANE_UNSIGNED,	8 },
	{ "u16",	SIMD_LANE_UNSIGNED,	16 },
	{ "u32",	SIMD_LANE_UNSIGNED,	32 },
	{ "u64",	SIMD_LANE_UNSIGNED,	64 },
	{ "x8",		SIMD_LANE_HEX,		8 },
	{ "x16",	SIMD_LANE_HEX,		16 },
	{ "x32",	SIMD_LANE_HEX,		32 },
	{ "x64",	SIMD_LANE_HEX,		64 },
	{ "f16",	SIMD_LANE_F16,		16 },
	{ "bf16",	SIMD_LANE_BF16,		16 },
	{ "f32",	SIMD_LANE_F32,		32 },
	{ "f64",	SIMD_LANE_F64,		64 },
};

/**
 * simd_view__set - take a view from the command line
 * @view: is set
 * @str: TYPE[,low|,high]
 *
 * Returns -1 if it isn't one.
 */
int simd_view__set(struct simd_view *view, const char *str)
{
	size_t len = strcspn(str, ",");
	struct simd_view new = {};

	for (size_t i = 0; i < ARRAY_SIZE(lane_types); i++) {
		if (strlen(lane_types[i].name) == len &&
		    !strncasecmp(lane_types[i].name, str, len))
			new.type = &lane_types[i];
	}
	if (!new.type && (len != strlen("hex") || strncasecmp(str, "hex", len)))
		return -1;

	if (str[len]) {
		const char *order = str + len + 1;

		if (!strcasecmp(order, "high"))
			new.high_first = true;
		else if (strcasecmp(order, "low"))
			return -1;
		/* A word of a register has one way to be written in hex. */
		if (!new.type)
			return -1;
	}
	*view = new;
	return 0;
}

/**
 * parse_simd_type - the option --simd-type
 * @opt: its value is a struct simd_view
 * @str: its argument
 * @unset: it is --no-simd-type
 */
int parse_simd_type(const struct option *opt, const char *str, int unset)
{
	struct simd_view *view = opt->value;

	if (unset) {
		memset(view, 0, sizeof(*view));
		return 0;
	}
	if (!simd_view__set(view, str))
		return 0;

	if (strcmp(str, "?"))
		pr_err("Unknown SIMD type \"%s\"\n", str);
	pr_err("SIMD types: hex");
	for (size_t i = 0; i < ARRAY_SIZE(lane_types); i++)
		pr_err(" %s", lane_types[i].name);
	pr_err("; TYPE,high or TYPE,low: the lane that comes first\n");
	return -1;
}

/* The value of a half float: 5 bits of exponent, 10 of fraction. */
static double f16_value(u16 bits)
{
	const unsigned int max_exponent = 31;
	unsigned int exponent = bits >> 10 & max_exponent, fraction = bits & 0x3ff;
	double value;

	if (exponent == max_exponent) {
		value = fraction ? __builtin_nan("") : __builtin_inf();
	} else {
		/* A leading one, but for the smallest numbers. The rest is exact. */
		if (exponent)
			fraction |= 1U << 10;
		else
			exponent = 1;
		value = (double)fraction * (1U << exponent) / (1U << 25);
	}
	return bits >> 15 ? -value : value;
}

static float f32_value(u32 bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static double f64_value(u64 bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* As few digits as tell the value from all others of its type. */
static size_t f32_text(char *buf, size_t size, float value)
{
	size_t len;

	for (int digits = 6; ; digits++) {
		len = scnprintf(buf, size, "%.*g", digits, (double)value);
		if (digits == 9 || strtof(buf, NULL) == value)
			return len;
	}
}

static size_t f64_text(char *buf, size_t size, double value)
{
	size_t len;

	for (int digits = 15; ; digits++) {
		len = scnprintf(buf, size, "%.*g", digits, value);
		if (digits == 17 || strtod(buf, NULL) == value)
			return len;
	}
}

static size_t lane_text(char *buf, size_t size, const struct simd_lane_type *type, u64 bits)
{
	const unsigned int unused = 64 - type->bits;

	switch (type->kind) {
	case SIMD_LANE_SIGNED:
		return scnprintf(buf, size, "%" PRId64, (s64)(bits << unused) >> unused);
	case SIMD_LANE_HEX:
		return scnprintf(buf, size, "0x%0*" PRIx64, (int)type->bits / 4, bits);
	case SIMD_LANE_F16:
		return scnprintf(buf, size, "%.5g", f16_value(bits));
	case SIMD_LANE_BF16:
		/* It is the upper half of a float. */
		return scnprintf(buf, size, "%.4g", (double)f32_value(bits << 16));
	case SIMD_LANE_F32:
		return f32_text(buf, size, f32_value(bits));
	case SIMD_LANE_F64:
		return f64_text(buf, size, f64_value(bits));
	case SIMD_LANE_UNSIGNED:
	default:
		return scnprintf(buf, size, "%" PRIu64, bits);
	}
}

/* The bits of a predicate between those of two neighbouring lanes. */
static unsigned int pred_step(const struct simd_reg *reg, const struct simd_lane_type *type)
{
	return reg->class && reg->class->per_byte ? type->bits / 8 : 1;
}

/**
 * simd_reg__nr_lanes - how many lanes of a type a register has
 * @reg: the register
 * @simd: the registers of its sample: a predicate has lanes like the vectors
 * @type: of the lanes
 */
unsigned int simd_reg__nr_lanes(const struct simd_reg *reg, const struct simd_regs *simd,
				const struct simd_lane_type *type)
{
	unsigned int nr, bits;

	if (!reg->pred)
		return reg->qwords * 64 / type->bits;

	/* Not more than it has bits for, whatever the sample says. */
	bits = reg->qwords * 64 / pred_step(reg, type);
	nr = simd->vector_qwords * 64 / type->bits;
	return nr && nr < bits ? nr : bits;
}

/**
 * simd_reg__lane_text - a lane of a register as text
 * @buf: where to
 * @size: of @buf, SIMD_LANE_TEXT_MAX is enough
 * @reg: the register
 * @type: of the lane
 * @lane: its number; the lowest bits of the register are lane 0
 *
 * Returns the length of the text. That of a predicate is 1 if the lane is active.
 */
size_t simd_reg__lane_text(char *buf, size_t size, const struct simd_reg *reg,
			   const struct simd_lane_type *type, unsigned int lane)
{
	unsigned int bit = lane * (reg->pred ? pred_step(reg, type) : type->bits);
	u64 bits = reg->data[bit / 64] >> (bit % 64);

	if (reg->pred)
		return scnprintf(buf, size, "%d", (int)(bits & 1));
	if (type->bits < 64)
		bits &= (1ULL << type->bits) - 1;
	return lane_text(buf, size, type, bits);
}
