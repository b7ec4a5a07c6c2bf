# SPDX-License-Identifier: GPL-2.0-only
# The x86 PMU emulator: where it is, its firmware, its CPUs. Sourced after lib.sh.

EMULATOR=$BUILD/emulator

# emulator_program: the path of the emulator, which must have been built.
emulator_program()
{
	local program=$EMULATOR/out/qemu-system-x86_64

	[ -x "$program" ] || die "the emulator is not built" "" "make emulator"
	printf '%s\n' "$program"
}

# A QEMU of our own finds neither BIOS nor option ROMs by itself.
firmware_packages()
{
	need_packages seabios qemu-system-data
}

firmware_options()
{
	printf '%s\n' -L /usr/share/seabios -L /usr/share/qemu
}
