// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program of the tutorial: a sound that fades out, and one that plays on.
 *
 * usage: fade SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAMES	1024

static float echo[FRAMES], voice[FRAMES], left[FRAMES], right[FRAMES];

__attribute__((noipa)) static void fade_out(float gain)
{
	for (int i = 0; i < FRAMES; i++)
		echo[i] *= gain;
}

__attribute__((noipa)) static void mix(float *restrict to, float gain)
{
	for (int i = 0; i < FRAMES; i++)
		to[i] = echo[i] + gain * voice[i];
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	for (int i = 0; i < FRAMES; i++) {
		echo[i] = 0.5f - (i % 100) * 0.01f;
		voice[i] = 0.1f + (i % 10) * 0.1f;
	}
	while (time(NULL) < end) {
		for (int i = 0; i < 100; i++) {
			fade_out(0.9f);
			mix(left, 0.5f);
			mix(right, 0.3f);
		}
	}
	printf("%g\n", (double)left[1] + right[1]);
	return 0;
}
