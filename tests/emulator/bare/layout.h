/* SPDX-License-Identifier: GPL-2.0-only */
/* What start.S and lib.c must agree on: selectors, vectors, page tables. */
#ifndef BARE_LAYOUT_H
#define BARE_LAYOUT_H

/* User data below user code, as SYSRET wants them. */
#define KERNEL_CS	0x08
#define KERNEL_DS	0x10
#define USER_DS		0x1b
#define USER_CS		0x23
#define TSS_SELECTOR	0x28

/* The software interrupt by which a function at CPL 3 ends. */
#define LEAVE_USER	0x80

/* Bit n: vector n pushes an error code (#DF #TS #NP #SS #GP #PF #AC #CP #VC #SX). */
#define ERROR_VECTORS	0x60227d00

#define TSS_RSP0	4
#define TSS_IST1	36
#define TSS_IO_MAP	102
#define TSS_SIZE	104

/* 4 KiB pages at the start of memory: 64 MiB. */
#define SMALL_PAGES	16384

#endif
