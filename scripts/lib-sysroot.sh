# SPDX-License-Identifier: GPL-2.0-only
# Programs and libraries for guests whose architecture is not this machine's:
# what perf links there, and what a guest runs. Sourced after lib-kernel.sh.
#
# They are packages of this machine's own suite with all that they depend on,
# unpacked in build/sysroot/ARCH. Nothing is installed, so the system has no
# second architecture afterwards. apt-private has verified them.

GUEST_PACKAGES=(bash bc bzip2 coreutils diffutils findutils grep mawk sed procps util-linux mount libc-bin
	tar hostname)
PERF_LIBRARIES=(libelf-dev libdw-dev libtraceevent-dev zlib1g-dev libzstd-dev)
# perl-base is not for all guests: a test of vm-run copies it into one.
SYSROOT_PACKAGES=("${GUEST_PACKAGES[@]}" "${PERF_LIBRARIES[@]}" libc6-dev libstdc++6 perl-base)

# Do this machine's own programs run in the guest?
is_native()
{
	[ -z "$(user_prefix)" ]
}

debian_suite()
{
	(. /etc/os-release && echo "${VERSION_CODENAME:-trixie}")
}

# sysroot: the folder that stands for / there.
sysroot()
{
	printf '%s\n' "$BUILD/sysroot/$ARCH/root"
}

# multiarch: the name of the folder of $ARCH's libraries in /usr/lib.
multiarch()
{
	"$(user_prefix)gcc" -print-multiarch
}

# package_files PACKAGE: the files that it has.
package_files()
{
	if is_native; then
		dpkg -L "$1"
	else
		cat "$BUILD/sysroot/$ARCH/packages/$1"
	fi
}

# sysroot_contents: what is in the sysroot, for the keys of what is made with it.
sysroot_contents()
{
	is_native || cat "$BUILD/sysroot/$ARCH/contents"
}

# What is a link into usr/, and what is left out: documentation and data, which no
# program of ours reads.
TOP_FOLDERS=(bin sbin lib) LEFT_OUT=(usr/share var)

# unpack_debs DIR DEB...: into DIR/root, and lists of files into DIR/packages.
unpack_debs()
{
	local dir=$1 root=$1/root deb d

	shift
	mkdir -p "$dir/packages"
	for d in "${TOP_FOLDERS[@]}"; do
		mkdir -p "$root/usr/$d"
		ln -s "usr/$d" "$root/$d"
	done
	for deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -xv -C "$root" --keep-directory-symlink --no-same-owner \
				"${LEFT_OUT[@]/#/--exclude=./}" |
			sed 's/^\.//' > "$dir/packages/$(dpkg-deb -f "$deb" Package)"
	done
	# What they say of / is true of the folder.
	find "$root" -type l -lname '/*' -printf '%p\t%l\n' |
		while IFS=$'\t' read -r d deb; do
			ln -sfnr "$root$deb" "$d"
		done
}

# In a shell of its own, so that the lock is not held until the caller ends.
make_sysroot()
(
	dir=$BUILD/sysroot/$ARCH
	need_packages dpkg tar
	lock "sysroot-$ARCH"
	# Another run may have made it meanwhile.
	! stamp_ok "sysroot-$ARCH" "$1" "$dir" || exit 0
	debs=$("$ROOT/scripts/apt-private" closure "$(debian_suite)" "${DEBIAN_ARCH[$ARCH]}" \
		"${SYSROOT_PACKAGES[@]}")
	say "unpacking $(wc -l <<< "$debs") packages of ${DEBIAN_ARCH[$ARCH]}"
	rm -rf "$dir.new" "$dir"
	# shellcheck disable=SC2086 # one path a line, without blanks
	logged "sysroot-$ARCH" unpack_debs "$dir.new" $debs
	printf '%s\n' "${debs//"$BUILD"\//}" > "$dir.new/contents"
	mv "$dir.new" "$dir"
	stamp_set "sysroot-$ARCH" "$1"
)

# need_sysroot: it is there, unless the guest's programs are this machine's.
need_sysroot()
{
	local stamp

	! is_native || return 0
	stamp=$(key "$ROOT/scripts/lib-sysroot.sh" "$(debian_suite)")
	stamp_ok "sysroot-$ARCH" "$stamp" "$BUILD/sysroot/$ARCH" || make_sysroot "$stamp" >&2
}
