# SPDX-License-Identifier: GPL-2.0-only
# What is built upon. The only file that names versions and checksums.
# Lines are NAME=value without blanks: make and sh both read them.

# The Linux base: Debian's source package, and the same release at kernel.org
# for where Debian's archive cannot be reached.
KERNEL_SERIES=7.3
KERNEL_SUITE=trixie-backports
KERNEL_PACKAGE=linux-source-7.3
KERNEL_PACKAGE_VERSION=7.3.4-1~bpo13+1
KERNEL_SHA256=703e369ddd4cce971452f5a593ee55df3a5c10c83caf0fa0df039633ed181ee3
# Where its file lies in Debian's archive, also for a while after no index names it.
KERNEL_POOL=pool/main/l/linux/linux-source-7.3_7.3.4-1~bpo13+1_all.deb
KERNEL_TARBALL=https://cdn.kernel.org/pub/linux/kernel/v7.x/linux-7.3.4.tar.xz
# Empty: the sum that kernel.org publishes beside the tarball is used.
KERNEL_TARBALL_SHA256=

# The emulator's base: the upstream tarball of Debian's source package of QEMU.
QEMU_SERIES=10.0
QEMU_SUITE=trixie
QEMU_PACKAGE=qemu
QEMU_PACKAGE_VERSION=1:10.0.13+ds-0+deb13u1
QEMU_SHA256=6a0888e806c2ffc0c5f0733e974f9aea55491950d3c47c98669c8b236dde59ae
QEMU_POOL=pool/main/q/qemu/qemu_10.0.13+ds.orig.tar.xz

# Debian's archive as it was on a day that has these: it stays, but not every network
# reaches it.
SNAPSHOT=https://snapshot.debian.org/archive/debian/20261123T000000Z
