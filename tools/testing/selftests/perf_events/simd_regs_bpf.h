/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF programs for the simd_regs tests, written by hand: nothing but bpf(2) is
 * needed to have them. Each function returns a file, or a negative errno.
 */
#ifndef SIMD_REGS_BPF_H
#define SIMD_REGS_BPF_H

/* An array of one event */
int simd_bpf_event_map(int event_fd);

/* Programs for overflows of an event: read the event in the map ... */
int simd_bpf_read_prog(int map_fd);
/* ... or write 8 bytes to it */
int simd_bpf_output_prog(int map_fd);
/* A program that drops all samples of the event */
int simd_bpf_drop_prog(void);

#endif /* SIMD_REGS_BPF_H */
