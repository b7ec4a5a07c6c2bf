/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simd_live_run() for programs of 32 bits, see simd_regs_live.h: without XSAVE
 * images and without fork().
 *
 * ebp is the struct simd_live; on the stack are the rounds left, the next system
 * call and how many are left. edi and esi are the marker, its upper half first.
 */
#include <asm/unistd.h>
#include "simd_regs_live.h"

#define REGS8(op) \
	op(0); op(1); op(2); op(3); op(4); op(5); op(6); op(7)

#define LOAD_XMM(n)	movdqu (n * 32)(%ecx), %xmm##n
#define LOAD_YMM(n)	vmovdqu (n * 32)(%ecx), %ymm##n
#define STORE_XMM(n)	movdqu %xmm##n, (n * 32)(%ecx)
#define STORE_YMM(n)	vmovdqu %ymm##n, (n * 32)(%ecx)

/* The stack while live, and how much was pushed below the argument */
#define ROUNDS		0
#define NEXT_CALL	4
#define CALLS_LEFT	8
#define LOCALS		12
#define ARGUMENT	(LOCALS + 5 * 4)

	.text
	.globl	simd_live_run
	.type	simd_live_run, @function
simd_live_run:
	push	%ebp
	push	%ebx
	push	%esi
	push	%edi
	sub	$LOCALS, %esp
	mov	ARGUMENT(%esp), %ebp

	/* A marker left over from before says nothing about the new pattern. */
	xor	%edi, %edi

	mov	LIVE_IMAGE(%ebp), %ecx
	cmpl	$SIMD_LOAD_YMM, LIVE_LOAD(%ebp)
	jb	.Lload_xmm
	jne	.Lloaded
	REGS8(LOAD_YMM)
	jmp	.Lloaded
.Lload_xmm:
	REGS8(LOAD_XMM)
.Lloaded:
	mov	LIVE_ROUNDS(%ebp), %eax
	mov	%eax, ROUNDS(%esp)

	.globl	simd_live_begin
simd_live_begin:
.Lround:
	/* The upper half makes it a marker. */
	mov	LIVE_MARKER(%ebp), %esi
	mov	(LIVE_MARKER + 4)(%ebp), %edi
	mov	LIVE_SPIN(%ebp), %ecx
	jecxz	.Lspun
.Lspin:
	dec	%ecx
	jnz	.Lspin
.Lspun:
	mov	LIVE_CALLS(%ebp), %eax
	mov	%eax, NEXT_CALL(%esp)
	mov	LIVE_NR_CALLS(%ebp), %eax
	mov	%eax, CALLS_LEFT(%esp)
.Lcall:
	cmpl	$0, CALLS_LEFT(%esp)
	je	.Lcalled
	mov	NEXT_CALL(%esp), %eax
	mov	CALL_ARG0(%eax), %ebx
	mov	CALL_ARG1(%eax), %ecx
	mov	CALL_ARG2(%eax), %edx
	mov	CALL_NR(%eax), %eax
	int	$0x80
	cmp	$-4095, %eax
	jb	.Lnext
	incl	LIVE_FAILED(%ebp)
	mov	%eax, LIVE_ERROR(%ebp)
.Lnext:
	addl	$CALL_SIZE, NEXT_CALL(%esp)
	decl	CALLS_LEFT(%esp)
	jmp	.Lcall
.Lcalled:
	mov	LIVE_STOP(%ebp), %eax
	cmpl	$0, (%eax)
	jne	.Ldump
	decl	ROUNDS(%esp)
	jnz	.Lround

.Ldump:
	mov	LIVE_DUMP(%ebp), %ecx
	cmpl	$SIMD_LOAD_YMM, LIVE_LOAD(%ebp)
	jb	.Ldump_xmm
	jne	.Ldumped
	REGS8(STORE_YMM)
	jmp	.Ldumped
.Ldump_xmm:
	REGS8(STORE_XMM)
.Ldumped:
	xor	%eax, %eax
	xor	%edi, %edi
	.globl	simd_live_end
simd_live_end:
	add	$LOCALS, %esp
	pop	%edi
	pop	%esi
	pop	%ebx
	pop	%ebp
	ret
	.size	simd_live_run, . - simd_live_run

	.section .note.GNU-stack, "", @progbits
