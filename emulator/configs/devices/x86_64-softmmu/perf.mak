# SPDX-License-Identifier: GPL-2.0-or-later
#
# A small x86_64 machine for tests of performance monitoring: the "pc" machine
# with what a kernel and its tests talk through. Use it with
# --without-default-devices --with-devices-x86_64=perf.

CONFIG_I440FX=y

# Consoles and files: one virtio-serial port each.
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_BLK=y

# isa-debugcon and isa-debug-exit: the output and the verdict of programs that
# run without an operating system.
CONFIG_ISA_DEBUG=y
