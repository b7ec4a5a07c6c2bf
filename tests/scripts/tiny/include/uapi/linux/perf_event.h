/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#define EVENT_FLAG_A	1
#define EVENT_FLAG_B	2

#define EVENT_FLAGS	3
