/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the vector registers of a running worker from outside, by ptrace: the
 * regsets NT_ARM_SVE and NT_ARM_SSVE, which are the mode as well. Where it runs, or
 * inside of its system calls.
 */
#ifndef SIMD_REGS_DEBUGGER_H
#define SIMD_REGS_DEBUGGER_H

#include <linux/types.h>
#include <stdbool.h>
#include <sys/types.h>

#include "simd_regs_image.h"

/* Each: 0, or a negative errno. */
int simd_debugger_attach(pid_t pid);
int simd_debugger_detach(pid_t pid);

/*
 * Stops a worker that is in simd_live_run(), gives it the pattern of @marker, in
 * the mode and with the vector length of @cls, and lets it go on with that.
 */
int simd_debugger_write(pid_t pid, const struct simd_class *cls, __u64 marker);

/* A stop of a worker where it enters or leaves the kernel */
struct simd_debugger_stop {
	bool entry;
	bool live;		/* called in simd_live_run() */
	__u64 nr, arg[2];	/* of the system call, at its entry */
};

/* Like simd_debugger_attach(), and the worker is stopped. */
int simd_debugger_trace(pid_t pid);
/* Lets it run to where a system call begins, or ends. */
int simd_debugger_next(pid_t pid, struct simd_debugger_stop *stop);
/* While it is stopped: the pattern of @marker, if there is a class, and the marker */
int simd_debugger_set(pid_t pid, const struct simd_class *cls, __u64 marker);
/* Lets it go. */
int simd_debugger_release(pid_t pid);

#endif /* SIMD_REGS_DEBUGGER_H */
