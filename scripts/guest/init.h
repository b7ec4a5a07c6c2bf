/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the guest's process 1 share.
 */
#ifndef INIT_H
#define INIT_H

/* A failure of the rig itself: on the console, where the host's scan finds it. */
void __attribute__((noreturn, format(printf, 1, 2))) broken(const char *fmt, ...);

/* Once, at the beginning, from process 1; see perf-hooks.c. */
void keep_perf_hooks(void);

#endif
