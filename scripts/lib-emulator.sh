# SPDX-License-Identifier: GPL-2.0-only
# The x86 PMU emulator: how it is built, where it is, what it needs to run.
# Sourced after lib.sh.
#
# As with kernels, the source tree is called `qemu` and lies beside the folder
# `out` that it is built in (build/emulator/{qemu,out} and, for the base without
# our patches, build/emulator/base/{qemu,out}), so ccache serves both.

EMULATOR=$BUILD/emulator
declare -A EMULATOR_OUT=([default]=$EMULATOR/out [base]=$EMULATOR/base/out)
JOBS=${JOBS:-$(nproc)}

EMULATOR_FLAGS=(--target-list=x86_64-softmmu --enable-tcg --disable-kvm
	--without-default-features --without-default-devices
	--with-devices-x86_64=perf --disable-docs --disable-tools
	--disable-guest-agent --disable-user --disable-download
	--disable-install-blobs --disable-debug-info)

# emulator_program [VARIANT]: its path; it must have been built.
emulator_program()
{
	local program

	program=${EMULATOR_OUT[${1:-default}]}/qemu-system-x86_64
	[ -x "$program" ] || die "the emulator is not built" "" "make emulator"
	printf '%s\n' "$program"
}

# A QEMU of our own finds neither BIOS nor option ROMs by itself.
firmware_packages()
{
	need_packages seabios qemu-system-data
}

# The options that name where they are, one word a line.
firmware_options()
{
	printf '%s\n' -L /usr/share/seabios -L /usr/share/qemu
}

# ---- the tools it is built with ------------------------------------------------

# qemu_tools: QEMU 10 wants meson 1.5. Where the system's is older, that of the
# suite's backports is unpacked below build/tools, and the system left alone.
qemu_tools()
{
	local suite dir=$BUILD/tools/meson p deb have

	need_packages gcc libc6-dev binutils ninja-build pkg-config python3 python3-venv \
		libglib2.0-dev zlib1g-dev ccache
	have=$(apt-cache policy meson | sed -n 's/^  Candidate: \([0-9]\)/\1/p')
	if dpkg --compare-versions "$have" ge 1.5; then
		need_packages meson python3-pycotap
		return
	fi
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")-backports
	if [ ! -x "$dir/usr/bin/meson" ]; then
		rm -rf "$dir.new"
		mkdir -p "$dir.new"
		for p in meson python3-pycotap; do
			deb=$("$ROOT/scripts/apt-private" download "$suite" "$p")
			dpkg-deb -x "$deb" "$dir.new"
		done
		rm -rf "$dir"
		mv "$dir.new" "$dir"
	fi
	export PYTHONPATH=$dir/usr/lib/python3/dist-packages PATH=$dir/usr/bin:$PATH
}

# ---- the build -----------------------------------------------------------------

# emulator_key TREE: what the program is made from, committed or not.
emulator_key()
{
	key "$ROOT/scripts/lib-emulator.sh" "$(git -C "$1" rev-parse 'HEAD^{tree}')" "$(changes_key "$1")" \
		"$(gcc --version | head -n 1)" "$(ld --version | head -n 1)" "$(meson --version)"
}

# emulator_build LABEL OUT: nothing to do is found out in a moment.
emulator_build()
{
	local label=$1 out=$2 stamp configured

	mkdir -p "$out"
	stamp=$(emulator_key "$out/../qemu")
	! up_to_date "$label" "$stamp" "$out/qemu-system-x86_64" || return 0
	need_space 1 "$BUILD"
	configured=$(key "${EMULATOR_FLAGS[*]}" "$(meson --version)")
	if ! stamp_ok "$label-configured" "$configured" "$out/build.ninja"; then
		say "configuring $label"
		rm -rf "$out"
		mkdir -p "$out"
		logged "$label-configure" env -C "$out" CC="${CCACHE}gcc" \
			../qemu/configure --python=/usr/bin/python3 "${EMULATOR_FLAGS[@]}"
		stamp_set "$label-configured" "$configured"
	fi
	say "building $label"
	CCACHE_BASEDIR=$out/.. CCACHE_NOHASHDIR=1 \
		logged "$label" ninja -j "$JOBS" -C "$out" qemu-system-x86_64
	finish_build "$label" "$stamp" "$(emulator_key "$out/../qemu")"
}

# ---- the CPUs that it is for -----------------------------------------------------

# emulated_cpu NAME[,MORE]: what QEMU's -cpu is to be for a CPU of ours; fails
# for others, which any QEMU has. All that the emulator adds is named here: what
# is not named behaves as in an unpatched QEMU.
emulated_cpu()
{
	local cpu more=${1#"${1%%,*}"}
	# The bound tables of MPX lie where APX has its registers, and no CPU of
	# these has MPX.
	local state=-mpx,avx512f=on,xsavec=on,xsaves=on

	case ${1%%,*} in
	spr)	# Sapphire Rapids: 8 counters, adaptive PEBS into the DS area
		cpu=max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,ds=on,dtes64=on,pebs-fmt=4
		cpu+=,perf-metrics=on,tsc-frequency=2000000000
		state+=,shstk=on ;;
	nvl)	# Panther Cove: counters by CPUID 0x23, architectural PEBS, APX
		cpu=max,vendor=GenuineIntel,family=19,model=1,pmu=on,pdcm=on,arch-perfmon-ext=on,pebs-fmt=15
		cpu+=,perf-metrics=on,tsc-frequency=2000000000
		state+=,shstk=on,apxf=on ;;
	zen)	# Zen 4: six core counters with PerfMonV2, IBS, no PEBS
		cpu=max,vendor=AuthenticAMD,family=25,model=17,pmu=on,ibs=on ;;
	*)
		return 1 ;;
	esac
	printf '%s\n' "$cpu,$state$more"
}

# emulated_cpu_environment NAME: what programs need in their environment there,
# one setting a line. No AVX-512 instruction can be run, but on an AMD CPU glibc
# would choose those; on an Intel CPU without AVX512VL it does not.
emulated_cpu_environment()
{
	case ${1%%,*} in
	zen) echo GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F ;;
	esac
}
