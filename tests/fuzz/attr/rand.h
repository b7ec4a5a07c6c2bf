/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that a seed determines. Each step of each worker has its own row of
 * them, so that what a step does not use moves nothing behind it.
 */
#ifndef ATTR_RAND_H
#define ATTR_RAND_H

#include <linux/types.h>
#include <stdbool.h>

struct rand {
	__u64 state;
};

/* splitmix64 */
static inline __u64 rand64(struct rand *r)
{
	__u64 x = r->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline struct rand rand_of_step(__u64 seed, unsigned int worker, unsigned int step)
{
	struct rand r = { seed };

	r.state = rand64(&r) + worker;
	r.state = rand64(&r) + step;
	return r;
}

/* 0 to n - 1 */
static inline unsigned int below(struct rand *r, unsigned int n)
{
	return rand64(r) % n;
}

/* True once in @n times */
static inline bool one_in(struct rand *r, unsigned int n)
{
	return !below(r, n);
}

/* From @low to @high, each power of two in between as often as any other */
static inline __u64 scaled(struct rand *r, __u64 low, __u64 high)
{
	unsigned int steps = 63 - __builtin_clzll(high / low);
	__u64 base = low << below(r, steps + 1);
	__u64 n = base + rand64(r) % base;

	return n > high ? high : n;
}

/* Those bits of @mask that one in @n draws says */
static inline __u64 some_of(struct rand *r, __u64 mask, unsigned int n)
{
	__u64 bit, some = 0;

	for (; mask; mask &= mask - 1) {
		bit = mask & -mask;
		if (one_in(r, n))
			some |= bit;
	}
	return some;
}

#define pick(r, array)	((array)[below(r, sizeof(array) / sizeof(*(array)))])

#endif /* ATTR_RAND_H */
