// SPDX-License-Identifier: GPL-2.0-only
/* Adds the means of a few groups of numbers. */
#include <stdio.h>

static const double sums[] = { 12, 7.5, 0, 9 };
static const double counts[] = { 4, 3, 0, 2 };

__attribute__((noinline)) double scale(double value, double factor)
{
	return value * factor;
}

int main(void)
{
	double total = 0;
	int i;

	for (i = 0; i < 4; i++)
		total += scale(sums[i], 1 / counts[i]);
	printf("%g\n", total);
	return 0;
}
