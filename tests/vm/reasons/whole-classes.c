// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_event_open() as of a kernel that takes only whole classes of vector and
 * predicate registers, as mainline's first one with the SIMD fields: to be
 * preloaded into perf, which calls syscall().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

/* Offsets in struct perf_event_attr: this is built without its newer fields. */
enum { PRED_INTR = 152, PRED_USER = 156, VEC_QWORDS = 148, VEC_INTR = 160, VEC_USER = 168 };

static uint64_t field(const char *attr, int offset, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, attr + offset, size);
	return value;
}

static bool is_part(uint64_t mask, uint64_t all)
{
	return mask && (mask & all) != all;
}

static bool has_part(const char *attr)
{
	uint64_t vectors = field(attr, VEC_QWORDS, 2) == 8 ? 0xffffffff : 0xffff;

	return is_part(field(attr, VEC_INTR, 8), vectors) ||
	       is_part(field(attr, VEC_USER, 8), vectors) ||
	       is_part(field(attr, PRED_INTR, 4), 0xff) ||
	       is_part(field(attr, PRED_USER, 4), 0xff);
}

long syscall(long nr, ...)
{
	long (*next)(long nr, ...) = dlsym(RTLD_NEXT, "syscall");
	long arg[6];
	va_list args;

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);

	if (nr == SYS_perf_event_open && has_part((const char *)arg[0])) {
		errno = EINVAL;
		return -1;
	}
	return next(nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
