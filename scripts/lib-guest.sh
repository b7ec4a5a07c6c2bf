# SPDX-License-Identifier: GPL-2.0-only
# What a guest's memory disk is made of: sourced by vm-run.
#
# The disk is a chain of cpio archives, which the kernel unpacks one over the
# other: the base (process 1, a shell and the usual programs), and what one run
# has: perf, its files and its job. The first is made once and kept below build/guest.

GUEST=$BUILD/guest/$ARCH

# Of these packages all programs; of the other ones of GUEST_PACKAGES, which are
# larger, what somebody would run in a guest.
GUEST_SMALL_PACKAGES=(bash coreutils diffutils findutils grep mawk sed hostname)
GUEST_PROGRAMS=(tar bzip2 ps pgrep pkill kill sysctl top free uptime vmstat watch
	bc getconf chrt dmesg findmnt flock getopt mount mountpoint nsenter prlimit rev
	setarch setpriv setsid taskset umount unshare lscpu more)

guest_packages()
{
	need_packages gcc libc6-dev cpio binutils
	if is_native; then
		need_packages "${GUEST_PACKAGES[@]}"
	else
		need_packages "gcc-${TRIPLET[$ARCH]}" "libc6-dev-${DEBIAN_ARCH[$ARCH]}-cross"
		need_sysroot
	fi
}

# plain_path PATH: as it is on a system whose /bin, /sbin and /lib* are links
# into /usr, which the guest is. A folder in a later archive must not take the
# place of such a link.
plain_path()
{
	case $1 in
	/bin/*|/sbin/*|/lib/*|/lib32/*|/lib64/*|/libx32/*) printf '/usr%s\n' "$1" ;;
	*) printf '%s\n' "$1" ;;
	esac
}

# libraries FILE...: the shared libraries that programs need, with the loader:
# lines of where each is here, and where it belongs in the guest.
libraries()
{
	if is_native; then
		{ ldd "$@" 2> /dev/null || :; } |
			awk '$2 == "=>" && $3 ~ /^\// { print $3, $3 }
			     $1 ~ /^\// && $2 ~ /^\(/ { print $1, $1 }' | sort -u
	else
		sysroot_libraries "$@" | sort -u
	fi
}

# The same for another architecture: ldd would have to run the program, so its
# needs are read from it, and then those of what it needs.
sysroot_libraries()
{
	local root own lib dir at files=("$@") wanted
	local -A found=()

	root=$(sysroot)
	own=/usr/lib/$(multiarch)
	while [ ${#files[@]} -gt 0 ]; do
		mapfile -t wanted < <(readelf -ldW "${files[@]}" 2> /dev/null |
			sed -n -E 's/.*\(NEEDED\).*\[(.*)\]$/\1/p
				s/.*program interpreter: (.*)\]$/\1/p' | sort -u)
		files=()
		for lib in ${wanted[@]+"${wanted[@]}"}; do
			[ -z "${found[$lib]:-}" ] || continue
			at=
			# A loader comes with its path.
			for dir in /usr/lib "$own" "${lib%/*}"; do
				[ ! -e "$root$dir/${lib##*/}" ] || at=$dir/${lib##*/}
			done
			[ -n "$at" ] ||
				die "a program needs $lib, which the guests do not have" "" \
				    "link it with -static, or add the package to scripts/lib-sysroot.sh"
			found[$lib]=$at
			files+=("$root$at")
			printf '%s %s\n' "$root$at" "$at"
		done
	done
}

# stage STAGE FILE PATH: copy a file or a folder.
stage()
{
	local root=$1 from=$2 to

	to=$root$(plain_path "$3")
	mkdir -p "${to%/*}"
	if [ -d "$from" ]; then
		mkdir -p "$to"
		cp -rL "$from/." "$to"
	else
		cp -L "$from" "$to"
	fi
}

# stage_libraries STAGE: all that its programs need and the base does not have.
stage_libraries()
{
	local root=$1 programs from to

	mapfile -t programs < <(LC_ALL=C grep -rlaP '^\x7fELF' "$root")
	[ ${#programs[@]} -gt 0 ] || return 0
	libraries "${programs[@]}" > "$root.libraries"
	while read -r from to; do
		to=$(plain_path "$to")
		if [ ! -e "$root$to" ] && [ ! -e "$GUEST/base.root$to" ]; then
			mkdir -p "$root${to%/*}"
			cp -L "$from" "$root$to"
		fi
	done < "$root.libraries"
	rm "$root.libraries"
}

# pack STAGE ARCHIVE: all files belong to root, dates do not matter.
pack()
{
	(cd "$1" && find . -mindepth 1 -print0 | sort -z |
	 cpio --null -o -H newc --quiet -R 0:0) > "$2.new"
	mv "$2.new" "$2"
}

# guest_programs ROOT: where they are below ROOT.
guest_programs()
{
	local p

	for p in "${GUEST_SMALL_PACKAGES[@]}"; do
		package_files "$p"
	done | grep -E '^(/usr)?/s?bin/[^/]+$'
	for p in "${GUEST_PROGRAMS[@]}"; do
		(cd "$1/" && compgen -G "usr/*bin/$p") | sed 's,^,/,' ||
			die "the guest has to have $p, which none of its packages has" "" "see scripts/lib-guest.sh"
	done
}

stage_programs()
{
	local p root='' programs

	is_native || root=$(sysroot)
	programs=$(guest_programs "$root")
	for p in $programs; do
		# The base's own /bin and /usr/bin are one folder.
		[ -e "$1$(plain_path "$p")" ] || stage "$1" "$root$p" "$p"
	done
	ln -s bash "$1/usr/bin/sh"
	ln -s mawk "$1/usr/bin/awk"
	stage_libraries "$1"
}

make_base()
{
	local root=$GUEST/base.root d

	rm -rf "$root"
	mkdir -p "$root"/{dev,proc,sys,tmp,run,root,etc,job,usr/{bin,sbin,lib,lib64}}
	for d in bin sbin lib lib64; do
		ln -s "usr/$d" "$root/$d"
	done
	"$(user_prefix)gcc" -O2 -Wall -static -o "$root/init" "$ROOT"/scripts/guest/*.c
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' \
		> "$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' > "$root/etc/group"
	stage_programs "$root"
	pack "$root" "$GUEST/base.cpio"
}

# base_layer: build/guest/ARCH/base.cpio is there and made from what is here now.
base_layer()
{
	local stamp packages

	if is_native; then
		packages=$(dpkg-query -W "${GUEST_PACKAGES[@]}" libc6)
	else
		packages=$(sysroot_contents)
	fi
	stamp=$(key "$ROOT/scripts/lib-guest.sh" "$ROOT"/scripts/guest/*.[ch] "$packages")
	! stamp_ok "guest-$ARCH" "$stamp" "$GUEST/base.cpio" || return 0
	lock "guest-$ARCH"
	# Another run may have made it meanwhile.
	if ! stamp_ok "guest-$ARCH" "$stamp" "$GUEST/base.cpio"; then
		say "making the base of the $ARCH guests" >&2
		mkdir -p "$GUEST"
		logged "guest-$ARCH" make_base >&2
		stamp_set "guest-$ARCH" "$stamp"
	fi
	unlock "guest-$ARCH"
}
