# SPDX-License-Identifier: GPL-2.0-only
# The machines: which QEMU, with what, for the settings that vm-run has read.
# Sourced after lib-emulator.sh.

# Sampling must not be slowed down because an emulated interrupt takes long;
# the rate is set first, as it cannot be once the other limit is off.
COMMON_WORDS="rdinit=/init panic=-1 panic_on_warn=1 loglevel=7 \
sysctl.kernel.perf_event_max_sample_rate=100000 sysctl.kernel.perf_cpu_time_max_percent=0"

# choose_qemu: PROGRAM, with the options that only one of them needs in FIRMWARE,
# and QEMU_CPU, for $ARCH and $CPU.
choose_qemu()
{
	FIRMWARE=() QEMU_CPU=$CPU
	case $ARCH,$PROGRAM_GIVEN in
	arm64,)
		PROGRAM=qemu-system-aarch64
		need_packages qemu-system-arm ;;
	*,)
		if QEMU_CPU=$(emulated_cpu "$CPU"); then
			PROGRAM=$(emulator_program)
		else
			QEMU_CPU=$CPU PROGRAM=qemu-system-x86_64
			need_packages qemu-system-x86 seabios
		fi ;;
	*)
		QEMU_CPU=$(emulated_cpu "$CPU") || QEMU_CPU=$CPU
		PROGRAM=$PROGRAM_GIVEN ;;
	esac
	# Here, as what the functions below print are options.
	[ -z "${IDLE_STATES:-}" ] || need_packages device-tree-compiler
	# What lies in a folder of its own was not installed with its firmware.
	if [ "$ARCH" != arm64 ] && [[ $PROGRAM == */* ]]; then
		firmware_packages
		mapfile -t FIRMWARE < <(firmware_options)
	fi
}

is_before_qemu_8_1()
{
	local help

	help=$("$PROGRAM" -help)
	[[ $help != *one-insn-per-tb* ]]
}

# Options of the machine itself, one a line.
machine_options()
{
	local accel=tcg machine=pc gic=3

	if [ -n "$SINGLE_STEP" ]; then
		if is_before_qemu_8_1; then
			printf '%s\n' -singlestep
		else
			accel+=,one-insn-per-tb=on
		fi
	fi
	# Before 8.1 a CPU could translate code while another wrote it, and keep the old: it
	# hit breakpoints that text_poke() had removed.
	if [ -n "$PATCHED_CODE" ] && is_before_qemu_8_1; then
		accel+=,thread=single
	fi
	case $ARCH in
	x86_64|i386)
		if [ "$CPU" = host ]; then
			[ -w /dev/kvm ] || die "CPU=host needs /dev/kvm, which cannot be used here"
			[ -z "$SINGLE_STEP" ] || die "vm-run: --single-step is for emulated CPUs"
			accel=kvm
		fi
		# The system's QEMU may be one whose "pc" says by a loop in ACPI's language how its
		# interrupts are routed: a kernel with DEBUG=1 goes round for half a minute, and gives
		# up where the host has other work. The emulator has no other machine.
		[ "$PROGRAM" != qemu-system-x86_64 ] || machine=q35
		printf '%s\n' -machine $machine -accel "$accel" ;;
	arm64)
		# For a CPU that loses its registers GICv3's driver switches interrupts off, in QEMU
		# with what wakes it. GICv2's driver does not; there are no pseudo-NMIs with it.
		[ -z "$IDLE_STATES" ] || gic=2
		printf '%s\n' -machine "virt,gic-version=$gic${EL2:+,virtualization=on}" -accel "$accel" ;;
	esac
	printf '%s\n' -cpu "$QEMU_CPU" -smp "$SMP,sockets=$SMP" -m "$MEM"
	[ -z "$ICOUNT" ] || printf '%s\n' -icount "shift=$ICOUNT,sleep=off"
}

# add_idle_states WORK: the machine's device tree, with an idle state in it that PSCI
# enters. QEMU waits for an interrupt then, and keeps the registers; the kernel has to
# save them all the same.
add_idle_states()
{
	local tree=$1/machine.dtb state=/cpus/idle-states/sleep phandle=0x7000 options i

	mapfile -t options < <(machine_options | sed 's/^virt,.*/&,dumpdtb='"${tree//\//\\/}"'/')
	"$PROGRAM" -nodefaults -no-user-config -display none \
		-device virtio-serial-pci,max_ports=31 "${options[@]}" > "$1/dumpdtb" 2>&1 ||
		die "vm-run: QEMU gives no device tree" "$1/dumpdtb"
	fdtput -c "$tree" /cpus/idle-states "$state"
	fdtput -t s "$tree" /cpus/idle-states entry-method psci
	fdtput -t s "$tree" "$state" compatible arm,idle-state
	for i in arm,psci-suspend-param:0 entry-latency-us:1 exit-latency-us:1 \
		min-residency-us:2 phandle:$phandle; do
		fdtput -t i "$tree" "$state" "${i%:*}" $((${i#*:}))
	done
	for ((i = 0; i < SMP; i++)); do
		fdtput -t i "$tree" "/cpus/cpu@$i" cpu-idle-states $((phandle))
	done
	printf '%s\n' -dtb "$tree"
}

# tsc_words: how fast the TSC is, where neither the CPU says so nor time is that of
# instructions. A kernel that counts it itself, and is kept waiting, gets a tenth of it: a
# second of such a guest is over in a tenth of one.
tsc_words()
{
	local program=$BUILD/tools/tsc-khz

	[ "$PROGRAM,$(uname -m),$ICOUNT" = qemu-system-x86_64,x86_64, ] && [ "$CPU" != host ] || return 0
	if [ ! "$program" -nt "$ROOT/scripts/tsc-khz.c" ]; then
		mkdir -p "${program%/*}"
		gcc -O2 -Wall -o "$program.$$" "$ROOT/scripts/tsc-khz.c"
		mv "$program.$$" "$program"
	fi
	echo " tsc_early_khz=$("$program")"
}

machine_words()
{
	case $ARCH in
	x86_64|i386) echo "console=ttyS0 earlyprintk=ttyS0 tsc=reliable no_timer_check$(tsc_words)" ;;
	arm64) echo "console=ttyAMA0 irqchip.gicv3_pseudo_nmi=1" ;;
	esac
}

# port NAME FILE: a channel by that name whose data the host finds in FILE.
port()
{
	printf '%s\n' -chardev "file,id=$1,path=$2" -device "virtserialport,chardev=$1,name=$1"
}

# qemu_command WORK: the whole command, each word followed by a NUL.
qemu_command()
{
	local work=$1 i environment

	# What the kernel does not know of its command line is process 1's environment.
	environment=$(emulated_cpu_environment "$CPU" | sed 's/^/ /' | tr -d '\n')
	{
		printf '%s\n' "$PROGRAM" ${FIRMWARE[@]+"${FIRMWARE[@]}"} -nodefaults -no-user-config -display none -no-reboot
		machine_options
		[ -z "$IDLE_STATES" ] || add_idle_states "$work"
		printf '%s\n' -kernel "$KERNEL" -initrd "$work/initrd" \
			-append "$(machine_words) $COMMON_WORDS$environment$APPEND"
		printf '%s\n' -chardev "file,id=log,path=$GUEST_LOG" -serial chardev:log
		printf '%s\n' -device virtio-serial-pci,max_ports=31
		if [ -n "$TTY" ]; then
			printf '%s\n' -chardev stdio,id=tty,mux=on,signal=off \
				-device virtconsole,chardev=tty,name=tty
		fi
		port out "$work/out"
		port err "$work/err"
		port verdict "$work/verdict"
		for ((i = 0; i < ${#GET[@]}; i++)); do
			port "get.$i" "$work/get.$i"
		done
	} | tr '\n' '\0'
}
