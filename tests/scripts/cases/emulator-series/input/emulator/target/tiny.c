/* SPDX-License-Identifier: GPL-2.0-or-later */
int tiny(int n)
{
    return n * 2;
}
