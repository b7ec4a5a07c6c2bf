/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simd_live_run() for x86-64, see simd_regs_live.h.
 *
 * rbx is the struct simd_live, r12 the rounds left, r13 and r14 the next system
 * call and how many are left. r8 is the marker and r9 the shadow stack pointer:
 * they survive system calls, and the kernel always saves them.
 */
#include <asm/unistd.h>
#include "simd_regs_live.h"

#define REGS16(op) \
	op(0); op(1); op(2); op(3); op(4); op(5); op(6); op(7); \
	op(8); op(9); op(10); op(11); op(12); op(13); op(14); op(15)

#define LOAD_XMM(n)	movdqu (n * 32)(%rsi), %xmm##n
#define LOAD_YMM(n)	vmovdqu (n * 32)(%rsi), %ymm##n
#define STORE_XMM(n)	movdqu %xmm##n, (n * 32)(%rdi)
#define STORE_YMM(n)	vmovdqu %ymm##n, (n * 32)(%rdi)

	.text
	.globl	simd_live_run
	.type	simd_live_run, @function
simd_live_run:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rdi, %rbx

	/* A marker left over from before says nothing about the new pattern. */
	xor	%r8d, %r8d

	mov	LIVE_IMAGE(%rbx), %rsi
	mov	LIVE_LOAD(%rbx), %rax
	cmp	$SIMD_LOAD_YMM, %rax
	jb	.Lload_xmm
	je	.Lload_ymm
	cmp	$SIMD_LOAD_XSTATE, %rax
	jne	.Lloaded
	mov	LIVE_RFBM(%rbx), %eax
	mov	(LIVE_RFBM + 4)(%rbx), %edx
	xrstor64 (%rsi)
	jmp	.Lloaded
.Lload_xmm:
	REGS16(LOAD_XMM)
	jmp	.Lloaded
.Lload_ymm:
	REGS16(LOAD_YMM)
.Lloaded:
	mov	LIVE_ROUNDS(%rbx), %r12
	xor	%r9d, %r9d
	rdsspq	%r9

	.globl	simd_live_begin
simd_live_begin:
.Lround:
	mov	LIVE_MARKER(%rbx), %r8
	mov	LIVE_SPIN(%rbx), %rcx
	jrcxz	.Lspun
.Lspin:
	dec	%rcx
	jnz	.Lspin
.Lspun:
	mov	LIVE_WRITE(%rbx), %rax
	test	%rax, %rax
	jz	.Lwritten
	movq	%xmm0, (%rax)
.Lwritten:
	.globl	simd_live_probe
simd_live_probe:
	nop
	mov	LIVE_CALLS(%rbx), %r13
	mov	LIVE_NR_CALLS(%rbx), %r14
.Lcall:
	test	%r14, %r14
	jz	.Lcalled
	mov	CALL_NR(%r13), %rax
	mov	CALL_ARG0(%r13), %rdi
	mov	CALL_ARG1(%r13), %rsi
	mov	CALL_ARG2(%r13), %rdx
	mov	CALL_ARG3(%r13), %r10
	syscall
	cmp	$-4095, %rax
	jae	.Lfailed
	test	%rax, %rax
	jnz	.Lnext
	cmpq	$__NR_fork, CALL_NR(%r13)
	je	.Lchild
.Lnext:
	add	$CALL_SIZE, %r13
	dec	%r14
	jmp	.Lcall
.Lfailed:
	incq	LIVE_FAILED(%rbx)
	mov	%rax, LIVE_ERROR(%rbx)
	jmp	.Lnext
.Lcalled:
	mov	LIVE_STOP(%rbx), %rax
	cmpq	$0, (%rax)
	jne	.Ldump
	cmpq	$0, LIVE_DEADLINE(%rbx)
	je	.Lin_time
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	cmp	LIVE_DEADLINE(%rbx), %rax
	jae	.Ldump
.Lin_time:
	dec	%r12
	jnz	.Lround

.Ldump:
	mov	LIVE_DUMP(%rbx), %rdi
	mov	LIVE_LOAD(%rbx), %rax
	cmp	$SIMD_LOAD_YMM, %rax
	jb	.Ldump_xmm
	je	.Ldump_ymm
	cmp	$SIMD_LOAD_XSTATE, %rax
	jne	.Ldumped
	mov	LIVE_RFBM(%rbx), %eax
	mov	(LIVE_RFBM + 4)(%rbx), %edx
	xsave64	(%rdi)
	jmp	.Ldumped
.Ldump_xmm:
	REGS16(STORE_XMM)
	jmp	.Ldumped
.Ldump_ymm:
	REGS16(STORE_YMM)
.Ldumped:
	xor	%eax, %eax
	jmp	.Lreturn

.Lchild:
	mov	LIVE_SPIN(%rbx), %rcx
	lea	1(%rcx, %rcx), %rcx
.Lchild_spin:
	dec	%rcx
	jnz	.Lchild_spin
	mov	$1, %eax

.Lreturn:
	xor	%r8d, %r8d
	.globl	simd_live_end
simd_live_end:
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	simd_live_run, . - simd_live_run

	.section .note.GNU-stack, "", @progbits
