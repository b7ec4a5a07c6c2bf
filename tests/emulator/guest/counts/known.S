/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program whose instructions are known: 4 * ITERATIONS + 4 * CALLS + 7. A
 * quarter of them are branches; those that enter the kernel count as such, too.
 */
#include <asm/unistd.h>

	.text
	.globl	_start
_start:
	mov	$ITERATIONS, %ebx
1:	add	$1, %r12
	nop
	dec	%ebx
	jnz	1b

	mov	$CALLS, %ebx
	test	%ebx, %ebx
	jz	3f
2:	mov	$__NR_getppid, %eax
	syscall
	.globl	after_syscall
after_syscall:
	dec	%ebx
	jnz	2b

3:	xor	%edi, %edi
	mov	$__NR_exit_group, %eax
	syscall

	.section .note.GNU-stack, "", @progbits
