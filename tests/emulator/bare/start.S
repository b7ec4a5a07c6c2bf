/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way into 64-bit mode, the entries of all 256 vectors, and the two calls
 * that an exception may abandon. Everything that C can do is in lib.c.
 *
 * QEMU enters by PVH: the ELF note names a 32-bit entry point, which is called
 * in flat protected mode without paging. Layout of the page tables:
 *
 *	0 .. 64 MiB		4 KiB pages, user, writable: page_entry() gives them
 *	64 MiB .. 1 GiB		2 MiB pages, user, writable
 *	0xfee00000		one 2 MiB page, uncached, supervisor: the local APIC
 */

#include "layout.h"

#define MSR_EFER	0xc0000080
#define EFER_LME	(1 << 8)
#define CR0_PE		(1 << 0)
#define CR0_MP		(1 << 1)
#define CR0_EM		(1 << 2)
#define CR0_TS		(1 << 3)
#define CR0_NE		(1 << 5)
#define CR0_WP		(1 << 16)
#define CR0_PG		(1 << 31)
#define CR4_PAE		(1 << 5)
#define CR4_OSFXSR	(1 << 9)
#define CR4_OSXMMEXCPT	(1 << 10)

#define PTE_P		(1 << 0)
#define PTE_RW		(1 << 1)
#define PTE_US		(1 << 2)
#define PTE_PWT		(1 << 3)
#define PTE_PCD		(1 << 4)
#define PTE_PS		(1 << 7)
#define PTE_USER	(PTE_P | PTE_RW | PTE_US)

#define XEN_ELFNOTE_PHYS32_ENTRY 18

	.section .note.Xen, "a", @note
	.align	4
	.long	4
	.long	8
	.long	XEN_ELFNOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.quad	start32

	.code32
	.section .text.start, "ax"
	.globl	start32
start32:
	cld
	movl	$boot_stack_end, %esp

	/* The tables are in .bss, which QEMU has cleared. */
	movl	$(pdpt + PTE_USER), pml4
	movl	$(pd_low + PTE_USER), pdpt
	movl	$(pd_apic + PTE_USER), pdpt + 3 * 8

	/* 1 GiB in 2 MiB pages, then 4 KiB pages over its start. */
	movl	$pd_low, %edi
	movl	$(PTE_USER | PTE_PS), %eax
	movl	$512, %ecx
1:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	1b

	movl	$page_tables, %edi
	movl	$PTE_USER, %eax
	movl	$(SMALL_PAGES), %ecx
1:	movl	%eax, (%edi)
	addl	$0x1000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	1b

	movl	$pd_low, %edi
	movl	$(page_tables + PTE_USER), %eax
	movl	$(SMALL_PAGES / 512), %ecx
1:	movl	%eax, (%edi)
	addl	$0x1000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	1b

	/* 0xfee00000 is in the 2 MiB page number 503 of the fourth GiB. */
	movl	$(0xfee00000 + PTE_P + PTE_RW + PTE_PWT + PTE_PCD + PTE_PS), pd_apic + 503 * 8

	movl	$(CR4_PAE | CR4_OSFXSR | CR4_OSXMMEXCPT), %eax
	movl	%eax, %cr4
	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	$(CR0_PE | CR0_MP | CR0_NE | CR0_WP | CR0_PG), %eax
	movl	%eax, %cr0
	lgdt	gdt_pointer
	ljmp	$KERNEL_CS, $start64

	.code64
start64:
	movl	$KERNEL_DS, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	leaq	boot_stack_end, %rsp
	xorl	%ebp, %ebp
	call	harness_main
	/* It does not return. */
	ud2

	.text

/*
 * bool run_catching(void (*fn)(void *), void *arg, uint64_t *catch_rsp): true if
 * fn returned. An exception that abandons it continues at run_caught with the
 * stack of *catch_rsp.
 */
	.globl	run_catching, run_caught
run_catching:
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushfq
	movq	%rsp, (%rdx)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	movl	$1, %eax
	jmp	1f
run_caught:
	xorl	%eax, %eax
1:	popfq
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret

/*
 * The same at CPL 3. fn is entered by a CALL of user mode and ends there with
 * the interrupt LEAVE_USER, so that calls and returns of user mode pair up.
 */
	.globl	run_catching_user
run_catching_user:
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushfq
	movq	%rsp, (%rdx)
	movq	%rsp, tss + TSS_RSP0
	movq	(%rsp), %rcx
	movq	%rdi, %rax
	movq	%rsi, %rdi
	pushq	$USER_DS
	leaq	user_stack_end, %rdx
	pushq	%rdx
	pushq	%rcx
	pushq	$USER_CS
	leaq	user_entry, %rdx
	pushq	%rdx
	iretq
user_entry:
	call	*%rax
	int	$LEAVE_USER

/* Every vector: an error code or a zero, the number, then the registers. */
	.altmacro
	.macro	vector number
	.align	16
	.set	has_error, 0
	.if	\number < 32
	.set	has_error, (ERROR_VECTORS >> \number) & 1
	.endif
	.if	!has_error
	pushq	$0
	.endif
	pushq	$\number
	jmp	trap_common
	.endm

	.globl	vectors
	.align	16
vectors:
	.set	number, 0
	.rept	256
	vector	%number
	.set	number, number + 1
	.endr

trap_common:
	cld
	pushq	%rax
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%rbp
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, %rdi
	/* The processor aligned the stack; 22 words have been pushed since. */
	call	trap
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rbp
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rax
	addq	$16, %rsp
	iretq

	.data
	.align	16
	.globl	gdt
gdt:
	.quad	0
	.quad	0x00af9b000000ffff	/* KERNEL_CS */
	.quad	0x00cf93000000ffff	/* KERNEL_DS */
	.quad	0x00cff3000000ffff	/* USER_DS */
	.quad	0x00affb000000ffff	/* USER_CS */
	.quad	0, 0			/* TSS_SELECTOR: lib.c fills it in */
gdt_end:
	.globl	gdt_pointer
gdt_pointer:
	.word	gdt_end - gdt - 1
	.quad	gdt

	.bss
	.align	4096
	.globl	page_tables
pml4:		.skip	4096
pdpt:		.skip	4096
pd_low:		.skip	4096
pd_apic:	.skip	4096
page_tables:	.skip	SMALL_PAGES * 8
	.globl	tss, nmi_stack_end, user_stack_end
boot_stack:	.skip	65536
boot_stack_end:
user_stack:	.skip	65536
user_stack_end:
nmi_stack:	.skip	16384
nmi_stack_end:
tss:		.skip	4096

	.section .note.GNU-stack, "", @progbits
