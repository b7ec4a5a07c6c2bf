# SPDX-License-Identifier: GPL-2.0-only
# The base of the emulator's series: where QEMU comes from. Sourced by fetch and
# check-patches; base-linux.sh is the same for the other series.
#
# The upstream tarball of Debian's source package (base.mk pins it), without its
# packaging; of the same release series any other that the archive has instead.

BASE_TITLE=QEMU
BASE_SERIES=$QEMU_SERIES
BASE_PIN=$QEMU_SHA256
BASE_FILE=${QEMU_PACKAGE_VERSION#*:}
BASE_FILE=${QEMU_PACKAGE}_${BASE_FILE%-*}.orig.	# how the name of the pinned file begins
BASE_SPACE=1
BASE_UNUSED=("${QEMU_UNUSED[@]}")

# base_version TREE: as its VERSION file has it.
base_version()
{
	cat "$1/VERSION"
}

# Debian takes firmware images, which it builds from their own sources, out of
# the tarball; meson wants to see them. Nothing that is built here reads them.
stand_ins()
{
	local f

	grep -oE "'[A-Za-z0-9_.+-]+\\.[A-Za-z0-9_.+-]+'" meson.build | tr -d "'" | sed 's/\.fd$/&.bz2/' |
		while IFS= read -r f; do
			[ ! -e "$f" ] || continue
			case $f in
			*.bz2) bzip2 < /dev/null > "$f" ;;
			*) : > "$f" ;;
			esac
		done
}

unpack_source()
{
	tar -xf "$PACKAGE_FILE" --strip-components=1 -C "$NEW"
	(cd "$NEW/pc-bios" && stand_ins)
}

# base_fetch: PACKAGE_FILE and UNPACK of the archive's tarball.
base_fetch()
{
	need_packages bzip2
	from_debian "$QEMU_SUITE" "$QEMU_PACKAGE" "$QEMU_PACKAGE_VERSION" \
		"${QEMU_POOL:-}" source || {
		printf 'error: %s\n' "no source of QEMU $QEMU_SERIES: Debian's archive cannot be reached, or has none" >&2
		exit 7
	}
	UNPACK=(unpack_source)
}
