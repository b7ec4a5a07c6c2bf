/* SPDX-License-Identifier: GPL-2.0-only */
/* See perf-simd.h. */

#include "sme-inst.h"

.arch_extension sve

#define FRAME	96

.macro for_each_z insn:vararg
	.irp	nz, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	\nz
	.endr
.endm

.macro load_v n
	ldr	q\n, [x0, #(16 * \n)]
.endm

.macro load_z n
	ldr	z\n, [x0, #\n, mul vl]
.endm

.globl perf_simd_hold
perf_simd_hold:
	hint	34			// BTI C
	stp	x29, x30, [sp, #-FRAME]!
	mov	x29, sp
	str	x2, [sp, #16]
	stp	d8, d9, [sp, #32]
	stp	d10, d11, [sp, #48]
	stp	d12, d13, [sp, #64]
	stp	d14, d15, [sp, #80]

	cbz	x1, 2f
	cbz	w2, 0f
	smstart_sm
0:	cbz	w3, 1f
	ldr	p0, [x1, #16, mul vl]
	wrffr	p0.b
1:	for_each_z load_z
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldr	p\n, [x1, #\n, mul vl]
	.endr
	b	perf_simd_loop
2:	for_each_z load_v

.globl perf_simd_loop
perf_simd_loop:
	subs	x4, x4, #1
	b.ne	perf_simd_loop
.globl perf_simd_loop_end
perf_simd_loop_end:

	ldr	x2, [sp, #16]
	cbz	w2, 3f
	smstop
3:	ldp	d8, d9, [sp, #32]
	ldp	d10, d11, [sp, #48]
	ldp	d12, d13, [sp, #64]
	ldp	d14, d15, [sp, #80]
	ldp	x29, x30, [sp], #FRAME
	ret
