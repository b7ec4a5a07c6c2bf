# SPDX-License-Identifier: GPL-2.0-only
# Debian's own kernel configurations, and a Debian to build and boot in: sourced by the
# verbs that make packages, after lib-kernel.sh.

# The release that packages are for: where the suite of our kernel's version belongs to.
DEBIAN_RELEASE=${KERNEL_SUITE%-backports}
DEBIAN_ROOT=$BUILD/systems/root

# Debian's version, and after it the day of the newest step: newer than Debian's package of
# this version, older than that of its next one.
package_version()
{
	printf '%s+simd%s\n' "$KERNEL_PACKAGE_VERSION" \
		"$(git -C "$BUILD/linux" log --format=%ad --date=format-local:%Y%m%d base..HEAD | sort | tail -n 1)"
}

# pack_deb FOLDER DEB: the package of what FOLDER/usr has; the rest of its control file,
# after what all packages of ours say, is standard input.
pack_deb()
{
	local name=${2##*/}

	mkdir -p "$1/DEBIAN"
	install -D -m 644 "$BUILD/linux/COPYING" "$1/usr/share/doc/${name%%_*}/copyright"
	cat > "$1/DEBIAN/control" << END
Package: ${name%%_*}
Version: $(package_version)
Architecture: ${DEBIAN_ARCH[$ARCH]}
Maintainer: $(git -C "$BUILD/linux" config user.name) <$(git -C "$BUILD/linux" config user.email)>
Installed-Size: $(du -sk "$1/usr" | cut -f1)
Section: devel
Priority: optional
END
	cat >> "$1/DEBIAN/control"
	(cd "$1" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
	dpkg-deb --root-owner-group --build "$1" "$2"
}

# written FILE: say so.
written()
{
	say "${1#"$ROOT"/}: $(stat -c %s "$1") bytes, sha256 $(sha256sum < "$1" | cut -d' ' -f1)"
}

# unpack_debian_configs DIR: those of $ARCH, as DIR/config.*.xz.
unpack_debian_configs()
{
	local deb arch=${DEBIAN_ARCH[$ARCH]}

	"$ROOT/scripts/apt-private" update "$KERNEL_SUITE" "$arch"
	deb=$("$ROOT/scripts/apt-private" download "$KERNEL_SUITE" "linux-config-$KERNEL_SERIES" "$arch")
	rm -rf "$1"
	mkdir -p "$1"
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$1" --wildcards --transform='s|.*/||' '*/config.*_none_*.xz'
}

# debian_flavours DIR: their names, one a line.
debian_flavours()
{
	find "$1" -name 'config.*_none_*.xz' -printf '%f\n' | sed 's/.*_none_//; s/\.xz$//' | sort
}

# debian_config DIR FLAVOUR VALUE OUT: OUT/.config is Debian's, with the feature set to
# VALUE (y or n), completed. What the compiler and the other tools have is theirs.
debian_config()
{
	xz -dc "$1"/config.*_none_"$2".xz | grep -v 'CONFIG_PERF_SIMD_REGS[ =]' > "$4/.config.new"
	case $3 in
	y) echo CONFIG_PERF_SIMD_REGS=y ;;
	n) echo '# CONFIG_PERF_SIMD_REGS is not set' ;;
	esac >> "$4/.config.new"
	mv "$4/.config.new" "$4/.config"
	kmake "$4" olddefconfig
}

# need_programs_of ARCHITECTURE: this machine runs programs of it, if by an emulator.
need_programs_of()
{
	local binfmt=/proc/sys/fs/binfmt_misc qemu=qemu-x86_64

	[ "$1" != "$(dpkg --print-architecture)" ] || return 0
	[ "$1" != arm64 ] || qemu=qemu-aarch64
	need_packages qemu-user-static binfmt-support
	[ -e $binfmt/$qemu ] || die "this machine runs no programs of $1: there is no $binfmt/$qemu" "" \
		"mount -t binfmt_misc binfmt_misc $binfmt; update-binfmts --import $qemu"
}

# debian_needs_root [SETTING]: what needs no such system, if any.
debian_needs_root()
{
	[ "$(id -u)" -eq 0 ] ||
		die "mmdebstrap unpacks a system, and chroot enters it: only root can do that" "" \
		    "run it as root${1:+, or with $1}"
}

# debian_root VARIANT ARCHITECTURES PACKAGE...: $DEBIAN_ROOT-VARIANT-$ARCH is a system of
# that release which has these packages. ARCHITECTURES is a list with commas; a PACKAGE is
# of the first one, unless its name has `:arch`.
debian_root()
{
	local root=$DEBIAN_ROOT-$1-$ARCH name=debian-root-$1-$ARCH mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
	local architectures=$2 stamp packages

	shift 2
	stamp=$(key "$DEBIAN_RELEASE" "$architectures" "$@")
	! stamp_ok "$name" "$stamp" "$root" || return 0
	debian_needs_root
	need_packages mmdebstrap
	need_programs_of "${architectures%%,*}"
	need_space 2 "$BUILD"
	say "unpacking a Debian $DEBIAN_RELEASE with $# packages"
	rm -rf "$root" "$root.new"
	packages=$(IFS=,; echo "$*")
	mkdir -p "$(dirname "$root")"
	logged "$name" mmdebstrap --mode=root --variant=minbase --architectures="$architectures" \
		--include="$packages" \
		"$DEBIAN_RELEASE" "$root.new" "$mirror" "deb $mirror $KERNEL_SUITE main"
	mv "$root.new" "$root"
	stamp_set "$name" "$stamp"
}
