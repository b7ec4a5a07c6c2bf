# SPDX-License-Identifier: GPL-2.0-only
# How the perf tool is built: sourced by the verbs that build one, after
# lib-sysroot.sh.
#
# What perf links is fixed here, whatever else the machine has installed: two
# machines build the same tool, and a guest needs few libraries.

PERF_FLAGS=(NO_RUST=1 NO_LIBPYTHON=1 NO_LIBPERL=1 NO_SLANG=1 NO_GTK2=1
	NO_LIBNUMA=1 BUILD_BPF_SKEL=0 NO_LIBLLVM=1 NO_CAPSTONE=1
	NO_JVMTI=1 NO_LIBUNWIND=1 NO_SDT=1 NO_LIBDEBUGINFOD=1 NO_LIBPFM4=1
	NO_BABELTRACE2=1 NO_LIBCAP=1 NO_LZMA=1 NO_LIBCRYPTO=1
	NO_SHELLCHECK=1)
# The tables of events of all CPUs are a third of perf's build, and no test asks for an
# event that is only there.
PERF_FLAGS+=(NO_JEVENTS=1)

# A guest's tool has assertions and is optimized less (-O1, without debugging information),
# which is a third less to build. each-step and `make deb` leave that to perf's Makefile.
GUEST_FLAGS=(DEBUG=1 EXTRA_CFLAGS="-O1 -gtoggle -Wno-maybe-uninitialized")

# What the checked tool has otherwise: it ends with the first access outside of an
# object, or the first thing that C leaves undefined; a fuzzer that it is linked with sees
# which code an input leads to; scripts in Python see what it reads. That raw data of
# samples is not aligned is left out: perf relies on CPUs that do not mind.
# Optimized (-O1), it would take two thirds longer to build.
CHECKED_FLAGS=(CC=clang CXX=clang++ DEBUG=1 WERROR=0 NO_LIBPYTHON= PYTHON=/usr/bin/python3
	PYTHON_CONFIG=/usr/bin/python3-config
	EXTRA_CFLAGS="-O0 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=alignment -fno-sanitize-recover=undefined")
CHECKED_PACKAGES=(clang libclang-rt-dev python3-dev python3-setuptools)

# Flags of the tool that is built, after those that all have.
VARIANT_FLAGS=()

# Whose Makefile is called.
PERF_DIR=tools/perf

perf_packages()
{
	need_packages make gcc g++ libc6-dev flex bison ccache git pkg-config python3
	if is_native; then
		need_packages "${PERF_LIBRARIES[@]}"
	else
		need_packages "g++-${TRIPLET[$ARCH]}" "libc6-dev-${DEBIAN_ARCH[$ARCH]}-cross"
		need_sysroot
	fi
}

# perf_make OUT ARG...: perf's make for OUT, whose sources lie beside it.
perf_make()
{
	local out=$1 tree=$1/$SOURCE_FROM_OUT prefix root='' libraries=()

	shift
	prefix=$(user_prefix)
	if ! is_native; then
		root=$(sysroot)
		libraries=(PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH=
			PKG_CONFIG_LIBDIR="$root/usr/lib/$(multiarch)/pkgconfig")
	fi
	mkdir -p "$out"
	# DEBUG means something else to perf's Makefile than to ours.
	env -u DEBUG CCACHE_BASEDIR="$BUILD" "${libraries[@]}" \
		make -C "$tree/$PERF_DIR" O="$out" -j"$JOBS" \
		ARCH="$ARCH" CROSS_COMPILE="$prefix" \
		CC="$CCACHE${prefix}gcc${root:+ --sysroot=$root}" \
		CXX="$CCACHE${prefix}g++${root:+ --sysroot=$root}" HOSTCC="${CCACHE}gcc" prefix=/usr \
		"${PERF_FLAGS[@]}" ${VARIANT_FLAGS[@]+"${VARIANT_FLAGS[@]}"} "$@"
}

# perf_compiler: clang for a variant that says so.
perf_compiler()
{
	local compiler

	compiler=$(printf '%s\n' "${VARIANT_FLAGS[@]}" | sed -n 's/^CC=//p')
	"${compiler:-$(user_prefix)gcc}" --version | head -n 1
}

# perf_key TREE: what a perf is made from, committed or not.
perf_key()
{
	key "$ROOT/scripts/lib-perf.sh" "$(sysroot_contents)" "$(perf_commit_key "$1" HEAD)" \
		"$(changes_key "$1" tools scripts arch include ':!tools/testing')" \
		"$(perf_compiler)"
}

perf_commit_key()
{
	git -C "$1" ls-tree "$2:tools" | grep -v -E '\stesting$' | sha256sum
}

# perf_all OUT: the tool and its tests, in OUT/root as they will lie in a guest.
perf_all()
{
	local root=$1/root

	rm -rf "$root.new"
	perf_make "$1" DESTDIR="$root.new" install-bin
	rm -rf "$root"
	mv "$root.new" "$root"
}

# libperf_tests OUT: libperf's own tests, as they lie in a guest. Its Makefile looks
# for their objects beside the sources, wherever the output is to be.
libperf_tests()
{
	local PERF_DIR=tools/lib/perf

	perf_make "$1" TESTS_IN="$1/tests-in.o" "$1/tests-static"
	install -D "$1/tests-static" "$1/$LIBPERF_TESTS"
}

LIBPERF_TESTS=root/root/libperf-tests

# perf_build LABEL OUT [HOW PRODUCT]: nothing to do is found out in a moment.
perf_build()
{
	local label=$1 out=$2 how=${3:-perf_all} product=${4:-root/usr/bin/perf} stamp
	local flags="${PERF_FLAGS[*]} ${VARIANT_FLAGS[*]:-}"

	mkdir -p "$out"
	stamp=$(perf_key "$out/$SOURCE_FROM_OUT")
	! up_to_date "$label" "$stamp" "$out/$product" || return 0
	need_space 1 "$out"
	say "building $label"
	# perf's Makefile does not see that it is called with other flags.
	if [ "$(cat "$out/.flags" 2> /dev/null)" != "$flags" ]; then
		rm -rf "$out"
		mkdir -p "$out"
		echo "$flags" > "$out/.flags"
	fi
	logged "$label" "$how" "$out"
	finish_build "$label" "$stamp" "$(perf_key "$out/$SOURCE_FROM_OUT")"
}
