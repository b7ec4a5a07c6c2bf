/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/kernel-only.h>

#define FIRST	0
#define SECOND	1
#define THIRD	2
#define LAST	3
