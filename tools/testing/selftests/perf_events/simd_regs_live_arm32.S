/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simd_live_run() for programs of 32 bits on arm64, see simd_regs_live.h: V registers,
 * which are Q0-Q15 to them, without fork().
 *
 * r4 is the struct simd_live, r5 the rounds left, r6 and r8 the next system call and how
 * many are left. r11 and r10 are the marker, its upper half first.
 */
#include <asm/unistd.h>
#include "simd_regs_live.h"

	.syntax	unified
	.arch	armv8-a
	.fpu	neon-fp-armv8
	.arm

/* Q registers lie 32 bytes apart; r1 is where they are, r2 the distance. */
	.macro	each_q op
	mov	r2, #32
	.irp	n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
	each_q_of \op, \n, (\n + 1)
	.endr
	.endm

	.macro	each_q_of op, low, high
	.altmacro
	each_q_at \op, %(\low), %(\high)
	.noaltmacro
	.endm

	.macro	each_q_at op, low, high
	\op\().64 {d\low, d\high}, [r1], r2
	.endm

	.text
	.globl	simd_live_run
	.type	simd_live_run, %function
simd_live_run:
	push	{r4-r11, lr}
	mov	r4, r0

	/* A marker left over from before says nothing about the new pattern. */
	mov	r10, #0
	mov	r11, #0

	ldr	r1, [r4, #LIVE_LOAD]
	cmp	r1, #SIMD_LOAD_V
	bne	.Lloaded
	ldr	r1, [r4, #LIVE_IMAGE]
	each_q	vld1
.Lloaded:
	ldr	r5, [r4, #LIVE_ROUNDS]

	.globl	simd_live_begin
simd_live_begin:
.Lround:
	/* The upper half makes it a marker. */
	ldr	r10, [r4, #LIVE_MARKER]
	ldr	r11, [r4, #(LIVE_MARKER + 4)]
	ldr	r0, [r4, #LIVE_SPIN]
	cmp	r0, #0
	beq	.Lspun
.Lspin:
	subs	r0, r0, #1
	bne	.Lspin
.Lspun:
	ldr	r6, [r4, #LIVE_CALLS]
	ldr	r8, [r4, #LIVE_NR_CALLS]
.Lcall:
	cmp	r8, #0
	beq	.Lcalled
	ldr	r7, [r6, #CALL_NR]
	ldr	r0, [r6, #CALL_ARG0]
	ldr	r1, [r6, #CALL_ARG1]
	ldr	r2, [r6, #CALL_ARG2]
	ldr	r3, [r6, #CALL_ARG3]
	svc	#0
	cmn	r0, #4096
	bls	.Lnext
	ldr	r1, [r4, #LIVE_FAILED]
	add	r1, r1, #1
	str	r1, [r4, #LIVE_FAILED]
	str	r0, [r4, #LIVE_ERROR]
.Lnext:
	add	r6, r6, #CALL_SIZE
	sub	r8, r8, #1
	b	.Lcall
.Lcalled:
	ldr	r0, [r4, #LIVE_STOP]
	ldr	r0, [r0]
	cmp	r0, #0
	bne	.Ldump
	subs	r5, r5, #1
	bne	.Lround

.Ldump:
	ldr	r1, [r4, #LIVE_LOAD]
	cmp	r1, #SIMD_LOAD_V
	bne	.Ldumped
	ldr	r1, [r4, #LIVE_DUMP]
	each_q	vst1
.Ldumped:
	mov	r10, #0
	mov	r11, #0
	mov	r0, #0
	.globl	simd_live_end
simd_live_end:
	pop	{r4-r11, pc}
	.size	simd_live_run, . - simd_live_run

	.section .note.GNU-stack, "", %progbits
