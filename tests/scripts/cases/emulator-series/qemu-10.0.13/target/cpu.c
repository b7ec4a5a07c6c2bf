/* SPDX-License-Identifier: GPL-2.0-or-later */
int cpu_count(int n)
{
    return n;
}
