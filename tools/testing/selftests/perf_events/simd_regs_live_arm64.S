/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simd_live_run() for arm64, see simd_regs_live.h.
 *
 * x19 is the struct simd_live, x20 the rounds left, x21 and x22 the next system
 * call and how many are left. x28 is the marker: the kernel keeps it over system
 * calls, and it is 0 wherever the registers are changed.
 */
#include <asm/unistd.h>
#include "simd_regs_live.h"

	.arch	armv8-a+sve

#define FOR_EACH_V .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define FOR_EACH_P .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15

/* Of the architecture's SME, by number: an assembler may not know it yet. */
#define SMSTART_SM	.inst 0xd503437f
#define SMSTOP_SM	.inst 0xd503427f
#define SVCR		s3_3_c4_c2_2

#define FRAME		(96 + 64)

	.text

/* Where the predicates are in the image at x9: behind 32 vectors */
	.macro	find_predicates
	addvl	x10, x9, #31
	addvl	x10, x10, #1
	.endm

	.type	load_regs, @function
load_regs:
	ldr	x9, [x19, #LIVE_IMAGE]
	ldr	x11, [x19, #LIVE_LOAD]
	ldr	x12, [x19, #LIVE_RFBM]
	cmp	x11, #SIMD_LOAD_V
	b.eq	.Lload_v
	b.lo	.Lloaded
	cmp	x11, #SIMD_LOAD_STREAMING
	b.ne	.Lload_sve
	SMSTART_SM
.Lload_sve:
	find_predicates
	tbz	x12, #SIMD_LIVE_FFR_BIT, .Lno_ffr
	ldr	p0, [x10, #16, mul vl]
	wrffr	p0.b
.Lno_ffr:
	FOR_EACH_V
	ldr	z\n, [x9, #\n, mul vl]
	.endr
	FOR_EACH_P
	ldr	p\n, [x10, #\n, mul vl]
	.endr
	ret
.Lload_v:
	FOR_EACH_V
	ldr	q\n, [x9, #(\n * 32)]
	.endr
.Lloaded:
	ret
	.size	load_regs, . - load_regs

	.type	dump_regs, @function
dump_regs:
	ldr	x9, [x19, #LIVE_DUMP]
	ldr	x11, [x19, #LIVE_LOAD]
	ldr	x12, [x19, #LIVE_RFBM]
	cmp	x11, #SIMD_LOAD_V
	b.eq	.Ldump_v
	b.lo	.Ldumped
	find_predicates
	FOR_EACH_V
	str	z\n, [x9, #\n, mul vl]
	.endr
	FOR_EACH_P
	str	p\n, [x10, #\n, mul vl]
	.endr
	tbz	x12, #SIMD_LIVE_FFR_BIT, .Ldumped
	rdffr	p0.b
	str	p0, [x10, #16, mul vl]
	ldr	p0, [x10]
	ret
.Ldump_v:
	FOR_EACH_V
	str	q\n, [x9, #(\n * 32)]
	.endr
.Ldumped:
	ret
	.size	dump_regs, . - dump_regs

	.globl	simd_live_run
	.type	simd_live_run, @function
simd_live_run:
	stp	x29, x30, [sp, #-FRAME]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x27, x28, [sp, #48]
	stp	d8, d9, [sp, #64]
	stp	d10, d11, [sp, #80]
	stp	d12, d13, [sp, #96]
	stp	d14, d15, [sp, #112]
	mov	x19, x0

	/* A marker left over from before says nothing about the new pattern. */
	mov	x28, #0
	bl	load_regs
	ldr	x20, [x19, #LIVE_ROUNDS]
	ldr	x27, [x19, #LIVE_RFBM]

	.globl	simd_live_begin
simd_live_begin:
.Lround:
	tbz	x27, #SIMD_LIVE_RELOAD_BIT, .Lkept
	mov	x28, #0
	bl	load_regs
.Lkept:
	ldr	x28, [x19, #LIVE_MARKER]
	ldr	x9, [x19, #LIVE_SPIN]
	cbz	x9, .Lspun
.Lspin:
	subs	x9, x9, #1
	b.ne	.Lspin
.Lspun:
	ldr	x9, [x19, #LIVE_WRITE]
	cbz	x9, .Lwritten
	str	d0, [x9]
.Lwritten:
	.globl	simd_live_probe
simd_live_probe:
	nop
	tbz	x27, #SIMD_LIVE_RELOAD_BIT, .Lcalls
	mov	x28, #0
	bl	dump_regs
.Lcalls:
	ldr	x28, [x19, #LIVE_CALL_MARKER]
	ldr	x21, [x19, #LIVE_CALLS]
	ldr	x22, [x19, #LIVE_NR_CALLS]
.Lcall:
	cbz	x22, .Lcalled
	ldr	x8, [x21, #CALL_NR]
	cmn	x8, #1
	b.eq	.Ltrap
	cmn	x8, #2
	b.eq	.Lmode
	ldr	x0, [x21, #CALL_ARG0]
	ldr	x1, [x21, #CALL_ARG1]
	ldr	x2, [x21, #CALL_ARG2]
	ldr	x3, [x21, #CALL_ARG3]
	mov	x4, #0
	svc	#0
	cmn	x0, #4095
	b.hs	.Lfailed
	cbnz	x0, .Lnext
	ldr	x8, [x21, #CALL_NR]
	cmp	x8, #__NR_clone
	b.eq	.Lchild
.Lnext:
	add	x21, x21, #CALL_SIZE
	sub	x22, x22, #1
	b	.Lcall
.Ltrap:
	mrs	x9, midr_el1		/* which the kernel emulates */
	b	.Lnext
.Lmode:
	ldr	x9, [x21, #CALL_ARG0]
	mov	x28, #0
	msr	SVCR, x9
	ldr	x28, [x21, #CALL_ARG1]
	ldr	x9, [x21, #CALL_ARG2]
.Lmode_spin:
	subs	x9, x9, #1
	b.hi	.Lmode_spin
	b	.Lnext
.Lfailed:
	ldr	x9, [x19, #LIVE_FAILED]
	add	x9, x9, #1
	str	x9, [x19, #LIVE_FAILED]
	str	x0, [x19, #LIVE_ERROR]
	b	.Lnext
.Lcalled:
	ldr	x9, [x19, #LIVE_STOP]
	ldr	x9, [x9]
	cbnz	x9, .Lend
	ldr	x9, [x19, #LIVE_DEADLINE]
	cbz	x9, .Lin_time
	mrs	x10, cntvct_el0
	cmp	x10, x9
	b.hs	.Lend
.Lin_time:
	subs	x20, x20, #1
	b.ne	.Lround
.Lend:
	mov	x28, #0
	tbnz	x27, #SIMD_LIVE_RELOAD_BIT, .Lhave_dump
	bl	dump_regs
.Lhave_dump:
	mov	x0, #0
	b	.Lreturn

.Lchild:
	ldr	x9, [x19, #LIVE_SPIN]
	add	x9, x9, x9
	add	x9, x9, #1
.Lchild_spin:
	subs	x9, x9, #1
	b.ne	.Lchild_spin
	mov	x0, #1

.Lreturn:
	mov	x28, #0
	.globl	simd_live_end
simd_live_end:
	ldr	x9, [x19, #LIVE_LOAD]
	cmp	x9, #SIMD_LOAD_STREAMING
	b.ne	.Lstopped
	SMSTOP_SM
.Lstopped:
	ldp	d8, d9, [sp, #64]
	ldp	d10, d11, [sp, #80]
	ldp	d12, d13, [sp, #96]
	ldp	d14, d15, [sp, #112]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x27, x28, [sp, #48]
	ldp	x29, x30, [sp], #FRAME
	ret
	.size	simd_live_run, . - simd_live_run

	.section .note.GNU-stack, "", @progbits
