/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the vector registers of a running worker from outside, by ptrace: the
 * regsets NT_ARM_SVE and NT_ARM_SSVE, which are the mode as well.
 */
#ifndef SIMD_REGS_DEBUGGER_H
#define SIMD_REGS_DEBUGGER_H

#include <linux/types.h>
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

#endif /* SIMD_REGS_DEBUGGER_H */
