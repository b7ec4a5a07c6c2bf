/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface of the tiny feature.
 */
int tiny_count(int old);
