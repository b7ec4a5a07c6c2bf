// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many thousand times a second the TSC of this machine counts. QEMU's CPUs without
 * KVM have the same; vm-run tells the guest's kernel.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct point {
	uint64_t tsc, ns;
};

/* Both clocks at one time: where the least lies between two readings of the TSC */
static struct point read_both(void)
{
	uint64_t least = ~0ULL, before, gap;
	struct point point = { 0 };
	struct timespec t;

	for (int i = 0; i < 100; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		gap = __rdtsc() - before;
		if (gap < least) {
			least = gap;
			point.tsc = before + gap / 2;
			point.ns = t.tv_sec * 1000000000ULL + t.tv_nsec;
		}
	}

	return point;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = 20000000 };
	struct point a, b;

	a = read_both();
	nanosleep(&wait, NULL);
	b = read_both();
	printf("%llu\n", (b.tsc - a.tsc) * 1000000ULL / (b.ns - a.ns));

	return 0;
}
