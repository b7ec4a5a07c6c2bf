# SPDX-License-Identifier: GPL-2.0-only
# The base of the kernel's series: where Linux comes from. Sourced by fetch and
# check-patches; base-emulator.sh is the same for the other series.
#
# Debian's linux-source package (base.mk pins it): by the suite's index, by its path in
# the archive's pool, at the archive of snapshots, a newer one of the series; else
# kernel.org's tarball. Or the user's tree that KSRC= names: a git tree (its HEAD) or a
# plain folder.

BASE_TITLE=Linux
BASE_SERIES=$KERNEL_SERIES
BASE_PIN=$KERNEL_SHA256
BASE_FILE=${KERNEL_PACKAGE}_${KERNEL_PACKAGE_VERSION}_	# how the name of the pinned file begins
BASE_SPACE=4
BASE_UNUSED=("${LINUX_UNUSED[@]}")

# base_version TREE: as its Makefile has it.
base_version()
{
	awk -F ' *= *' '/^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *=/ { v[$1] = $2 }
		END { printf "%s.%s%s%s\n", v["VERSION"], v["PATCHLEVEL"],
		      v["SUBLEVEL"] == "" ? "" : "." v["SUBLEVEL"], v["EXTRAVERSION"] }' "$1/Makefile"
}

# ---- ways to fill the empty folder $NEW ----------------------------------------

# With LEAN=1, without what is not used: it takes as long as the rest.
unpack_deb()
{
	local pattern unused=()

	for pattern in ${LEAN:+"${BASE_UNUSED[@]}"}; do
		unused+=("--exclude=$KERNEL_PACKAGE${pattern/'/**/'/'/'}")
	done
	dpkg-deb --fsys-tarfile "$PACKAGE_FILE" | tar -xOf - --wildcards "*/$KERNEL_PACKAGE.tar.xz" |
		tar -xJf - --strip-components=1 --anchored ${unused[@]+"${unused[@]}"} -C "$NEW"
}

unpack_tarball()
{
	tar -xf "$PACKAGE_FILE" --strip-components=1 -C "$NEW"
}

copy_git()
{
	git -c safe.directory="$1" -C "$1" archive HEAD | tar -xf - -C "$NEW"
}

copy_folder()
{
	cp -a --reflink=auto "$1/." "$NEW"
}

# from_ksrc: KEY, SOURCE and UNPACK of the user's own tree.
from_ksrc()
{
	local src

	src=$(cd "$KSRC" 2> /dev/null && pwd -P) || die "KSRC=$KSRC is not a folder"
	[ -f "$src/Makefile" ] && [ -f "$src/Kbuild" ] ||
		die "KSRC=$KSRC is not a kernel tree: it has no Makefile and Kbuild"
	SOURCE="KSRC=$src"
	if [ -e "$src/.git" ]; then
		KEY=$(git -c safe.directory="$src" -C "$src" rev-parse 'HEAD^{tree}')
		[ -z "$(git -c safe.directory="$src" -C "$src" status --porcelain -uno)" ] ||
			say "note: $KSRC has changes that are not committed; its HEAD is taken"
		UNPACK=(copy_git "$src")
	else
		[ ! -e "$src/.config" ] && [ ! -e "$src/include/config" ] ||
			die "KSRC=$KSRC has been built in" "" "make -C $KSRC mrproper, or name a clean tree"
		KEY=$(cd "$src" && find . -type f -printf '%p %s %T@\n' | sort | sha256sum | cut -d' ' -f1)
		UNPACK=(copy_folder "$src")
	fi
}

# from_kernel_org: PACKAGE_FILE with the pinned sum, or the one published beside it.
from_kernel_org()
{
	local url=$KERNEL_TARBALL name sum=$KERNEL_TARBALL_SHA256 t

	name=$(basename "$url")
	need_packages curl ca-certificates
	temp_dir t
	if [ -z "$sum" ]; then
		say "asking $(dirname "$url") for the checksum of $name"
		http_get "$(dirname "$url")/sha256sums.asc" "$t/sums" 2> "$t/error" || no_network "$t/error"
		sum=$(awk -v n="$name" '$2 == n { print $1 }' "$t/sums")
		[ -n "$sum" ] || die "kernel.org publishes no checksum of $name"
		say "note: its sum is the one kernel.org gives over HTTPS, none is pinned"
	fi
	PACKAGE_FILE=$BUILD/dl/$sum/$name
	if [ ! -f "$PACKAGE_FILE" ] || ! check_sha256 "$PACKAGE_FILE" "$sum"; then
		say "downloading $url"
		http_get "$url" "$t/$name" 2> "$t/error" || no_network "$t/error"
		check_sha256 "$t/$name" "$sum" ||
			die "wrong checksum: $url is not $sum" "" \
			    "try again; if it stays so, compare base.mk with kernel.org"
		mkdir -p "$(dirname "$PACKAGE_FILE")"
		mv "$t/$name" "$PACKAGE_FILE"
	fi
}

no_network()
{
	mkdir -p "$LOG"
	cp "$1" "$LOG/fetch-kernel.org.log"
	die "no network: neither Debian's archive nor kernel.org could give the kernel source" \
	    "$LOG/fetch-kernel.org.log" "connect, or use your own tree: make fetch KSRC=/path"
}

# base_fetch: PACKAGE_FILE and UNPACK of the package or the tarball.
base_fetch()
{
	UNPACK=(unpack_deb)
	from_debian "$KERNEL_SUITE" "$KERNEL_PACKAGE" "$KERNEL_PACKAGE_VERSION" \
		"${KERNEL_POOL:-}" || {
		from_kernel_org
		UNPACK=(unpack_tarball)
	}
}
