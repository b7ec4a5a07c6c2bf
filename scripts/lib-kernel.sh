# SPDX-License-Identifier: GPL-2.0-only
# How a kernel is configured and built: sourced by the verbs that build one.
#
# A build has a source tree and an O= folder. The source tree is always called
# `linux` and the O= folder lies two levels beside it (build/linux and
# build/out/NAME, build/base/linux and build/base/out/NAME, ...): seen from any
# O= folder the sources are ../../linux, so ccache serves all of them.

# What chooses among series of patches must not reach `apply` from here.
unset SERIES

JOBS=${JOBS:-$(nproc)}
# ccache takes the dependencies from the compiler, instead of preprocessing first: what
# is compiled for the first time is a fifth cheaper.
export CCACHE_DEPEND=1
SOURCE_FROM_OUT=../../linux

# By ARCH: GNU's name, as Debian's cross packages have it; Debian's; the folder in arch/.
declare -A TRIPLET=([x86_64]=x86-64-linux-gnu [i386]=i686-linux-gnu [arm64]=aarch64-linux-gnu)
declare -A DEBIAN_ARCH=([x86_64]=amd64 [i386]=i386 [arm64]=arm64)
declare -A SOURCE_DIR=([x86_64]=x86 [i386]=x86 [arm64]=arm64)
# What keeps known values in registers: of our selftests, files simd_regs_*.
declare -A VALUE_SOURCES=([x86_64]='image.c live.S' [arm64]='image_arm64.c live_arm64.S')

kernel_packages()
{
	need_packages make gcc libc6-dev flex bison bc libelf-dev ccache git perl
	[ -z "$(cross_prefix)" ] || need_packages "gcc-${TRIPLET[$ARCH]}"
}

# user_prefix: the prefix of the tools that make programs for a guest of $ARCH;
# empty where those of this machine do.
user_prefix()
{
	case $ARCH,$(uname -m) in
	x86_64,x86_64|arm64,aarch64) ;;
	x86_64,*) echo x86_64-linux-gnu- ;;
	*) echo "${TRIPLET[$ARCH]}-" ;;
	esac
}

# cross_prefix: the same for kernels: one compiler does both word sizes of x86.
cross_prefix()
{
	case $ARCH,$(uname -m) in
	i386,x86_64) ;;
	*) user_prefix ;;
	esac
}

# kmake OUT ARG...: the kernel's make for OUT, whose sources lie beside it.
kmake()
{
	local out=$1 tree=$1/$SOURCE_FROM_OUT cross

	shift
	cross=$(cross_prefix)
	mkdir -p "$out"
	# ccache makes the paths of sources relative; the prefix map then has to
	# name the relative form, so that __FILE__ is the same with and without.
	# A rustc that happens to be there would be in the configuration, and with
	# it in every object.
	CCACHE_BASEDIR=$BUILD make -C "$tree" O="$out" ARCH="$ARCH" -j"$JOBS" \
		CROSS_COMPILE="$cross" CC="$CCACHE${cross}gcc" HOSTCC="${CCACHE}gcc" \
		RUSTC=false KCPPFLAGS="-fmacro-prefix-map=$SOURCE_FROM_OUT/=" "$@"
}

# config_mismatches CONFIG FRAGMENT...: one line for each symbol whose value in
# CONFIG is not what the last fragment that names it says.
config_mismatches()
{
	awk '
	/^# CONFIG_[A-Za-z0-9_]+ is not set$/ { $0 = $2 "=n" }
	!/^CONFIG_[A-Za-z0-9_]+=/ { next }
	{
		name = value = $0
		sub(/=.*/, "", name)
		sub(/[^=]*=/, "", value)
	}
	FILENAME == ARGV[1] { have[name] = value; next }
	{ want[name] = value; place[name] = FILENAME ":" FNR }
	END {
		for (name in want) {
			got = name in have ? have[name] : "n"
			if (got != want[name])
				print place[name] ": " name "=" want[name] \
				      " did not take effect, it is " got
		}
	}' "$@" | sed "s|^$ROOT/||" | sort
}

allnoconfig_with()
{
	local out=$1 all=$1/.fragments

	shift
	mkdir -p "$out"
	cat "$@" ${WISHES:+"$WISHES"} > "$all"
	KCONFIG_ALLCONFIG=$all kmake "$out" allnoconfig
}

# kernel_configure LABEL OUT FRAGMENT...: allnoconfig plus the fragments, each
# line of which must take effect; those of the file $WISHES need not. Nothing may be
# selected that lacks what it depends on. Nothing is done, and so nothing built again, if
# none of that has changed.
kernel_configure()
{
	local label=$1 out=$2 wrong stamp

	shift 2
	stamp=$(key "$@" "${WISHES:-}" "$(kconfig_key "$out/$SOURCE_FROM_OUT")")
	if [ -f "$out/.config" ] && [ "$(cat "$out/.config.key" 2> /dev/null)" = "$stamp" ]; then
		return
	fi
	rm -f "$out/.config.key"
	logged "$label-config" allnoconfig_with "$out" "$@"
	wrong=$(grep -h -m 1 'unmet direct dependencies' "$LOG/$label-config.log" ||
		config_mismatches "$out/.config" "$@")
	[ -z "$wrong" ] ||
		die "$(head -n 1 <<< "$wrong")" "$LOG/$label-config.log" \
		    "set what it depends on, or take the line out"
	printf '%s\n' "$stamp" > "$out/.config.key"
}

# worktree NAME REV [OUT]: build/NAME/linux is a work tree of build/linux at REV; what is
# built from it in build/NAME/out/OUT is found in build/out, too.
worktree()
{
	if [ $# -gt 2 ]; then
		mkdir -p "$BUILD/out"
		ln -sfn "../$1/out/$3" "$BUILD/out/$3"
	fi
	worktree_of "$BUILD/linux" "$BUILD/$1/linux" "$2" "${LINUX_UNUSED[@]}"
}

# kernel_fragments TREE VARIANT: the fragments of a variant, one a line. The
# feature has none in a tree that does not have it yet.
kernel_fragments()
{
	local c=$ROOT/configs

	printf '%s\n' "$c/base.config" "$c/$ARCH.config"
	case $2 in
	kvm|rt)
		echo "$c/$2.config"
		[ ! -e "$c/$2-$ARCH.config" ] || echo "$c/$2-$ARCH.config" ;;
	*jump-labels) echo "$c/jump-labels.config" ;;
	esac
	if [ "$2" = off ]; then
		echo "$c/off.config"
	elif grep -qs 'select HAVE_PERF_SIMD_REGS' "$1/arch/${SOURCE_DIR[$ARCH]}/Kconfig"; then
		echo "$c/simd_regs.config"
	fi
	if [ "${DEBUG:-}" ] && [[ $2 != base* ]]; then
		echo "$c/debug.config"
		[ ! -e "$c/debug-$ARCH.config" ] || echo "$c/debug-$ARCH.config"
	fi
}

# kconfig_key TREE: changes whenever a Kconfig file of TREE may have changed.
kconfig_key()
{
	git -C "$1" ls-tree -r HEAD | awk '$4 ~ /Kconfig/' | sha256sum
	git -C "$1" diff HEAD -- '*Kconfig*' | sha256sum
}

# source_key TREE: what a kernel is made from: the tree without documentation,
# perf and tests, and what is changed in it but not committed.
source_key()
{
	commit_key "$1" HEAD
	changes_key "$1" ':!Documentation' ':!tools/perf' ':!tools/testing'
}

# commit_key TREE REV [FOLDER]: the committed part of it, without FOLDER.
commit_key()
{
	{
		git -C "$1" ls-tree "$2" | grep -v -E "\s(Documentation|tools${3:+|$3})\$"
		git -C "$1" ls-tree "$2:tools" | grep -v -E '\s(perf|testing)$'
	} | sha256sum
}

compiler_key()
{
	"$(cross_prefix)gcc" --version | head -n 1
	"$(cross_prefix)ld" --version | head -n 1
}

# kernel_name VARIANT: the name of a kernel's O= folder.
kernel_name()
{
	case ${DEBUG:+debug},$1 in
	,*|*,base*) echo "$ARCH-$1" ;;
	debug,default) echo "$ARCH-debug" ;;
	debug,*) echo "$ARCH-$1-debug" ;;
	esac
}

# image_of OUT: the file that a guest boots.
image_of()
{
	case $ARCH in
	x86_64) echo "$1/vmlinux.boot" ;;
	i386) echo "$1/arch/x86/boot/bzImage" ;;
	arm64) echo "$1/arch/arm64/boot/Image" ;;
	esac
}

build_image()
{
	local out=$1

	case $ARCH in
	x86_64)
		# Started through its PVH entry: nothing to decompress at boot.
		kmake "$out" vmlinux
		"$(cross_prefix)strip" --strip-all -o "$out/vmlinux.boot.new" "$out/vmlinux"
		mv "$out/vmlinux.boot.new" "$out/vmlinux.boot" ;;
	i386) kmake "$out" bzImage ;;
	arm64) kmake "$out" Image ;;
	esac
}

# no_warnings LOG OUT: a build that warned has failed. What it made in OUT goes: it
# would not warn again.
no_warnings()
{
	local line

	line=$(grep -m1 -E '(^|[: ])[Ww]arning: ' "$1") || return 0
	sed -nE 's/^ +(CC|AS|LD)( \[M\])? +//p' "$1" | (cd "$2" && xargs -r rm -f)
	grep -E -A4 '(^|[: ])[Ww]arning: ' "$1" | head -n 20 | sed 's/^/    /' >&2
	die "the compiler or linker warned: $line" "$1" "see the lines above"
}

# kernel_key TREE FRAGMENT...: what a kernel is made from.
kernel_key()
{
	local tree=$1

	shift
	key "$ROOT/scripts/lib-kernel.sh" "$@" "$(source_key "$tree")" "$(compiler_key)"
}

# kernel_build LABEL OUT FRAGMENT...: nothing to do is found out in a moment.
kernel_build()
{
	local label=$1 out=$2 tree=$2/$SOURCE_FROM_OUT stamp

	shift 2
	mkdir -p "$out"
	stamp=$(kernel_key "$tree" "$@")
	! up_to_date "$label" "$stamp" "$(image_of "$out")" || return 0
	need_space 1 "$out"
	say "building $label"
	kernel_configure "$label" "$out" "$@"
	logged "$label" build_image "$out"
	no_warnings "$LOG/$label.log" "$out"
	finish_build "$label" "$stamp" "$(kernel_key "$tree" "$@")"
	[ -z "${LEAN:-}" ] || find "$out" -name '*.o' -delete
}
