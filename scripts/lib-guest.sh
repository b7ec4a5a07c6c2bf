# SPDX-License-Identifier: GPL-2.0-only
# What a guest's memory disk is made of: sourced by vm-run.
#
# The disk is a chain of cpio archives, which the kernel unpacks one over the
# other: the base (process 1, a shell and the usual programs), perf, and what
# one run adds. The first two are made once and kept below build/guest.

GUEST=$BUILD/guest/$ARCH

GUEST_PACKAGES=(bash bc coreutils diffutils findutils grep mawk sed procps util-linux libc-bin tar hostname)
# Of the larger packages, what somebody would run in a guest.
GUEST_PROGRAMS=(tar ps pgrep pkill kill sysctl top free uptime vmstat watch
	bc getconf chrt dmesg findmnt flock getopt mount mountpoint nsenter prlimit rev
	setarch setpriv setsid taskset umount unshare lscpu more)

guest_packages()
{
	need_packages gcc libc6-dev cpio binutils
	if guest_is_native; then
		need_packages "${GUEST_PACKAGES[@]}"
	else
		need_packages "gcc-$(cross_triplet)" "libc6-dev-$(debian_arch)-cross"
	fi
}

# Do this machine's own programs run in the guest?
guest_is_native()
{
	[ -z "$(user_prefix)" ]
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
	if guest_is_native; then
		{ ldd "$@" 2> /dev/null || :; } |
			awk '$2 == "=>" && $3 ~ /^\// { print $3, $3 }
			     $1 ~ /^\// && $2 ~ /^\(/ { print $1, $1 }' | sort -u
	else
		cross_libraries "$@" | sort -u
	fi
}

# The same for another architecture: ldd would have to run the program, so its
# needs are read from it, and met from the cross compiler's libraries.
cross_libraries()
{
	local f lib dir=/usr/$(cross_triplet)/lib need=("$@")

	for ((f = 0; f < ${#need[@]}; f++)); do
		for lib in $(readelf -ldW "${need[f]}" 2> /dev/null |
			     sed -n -E 's/.*\(NEEDED\).*\[(.*)\]$/\1/p
					s/.*program interpreter: (.*)\]$/\1/p'); do
			[ -e "$dir/${lib##*/}" ] ||
				die "${need[f]} needs $lib, which $dir does not have" "" \
				    "link it with -static"
			[[ " ${need[*]} " == *" $dir/${lib##*/} "* ]] || need+=("$dir/${lib##*/}")
			case $lib in
			/*) printf '%s %s\n' "$dir/${lib##*/}" "$lib" ;;
			*) printf '%s %s\n' "$dir/$lib" "/usr/lib/$lib" ;;
			esac
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

native_programs()
{
	local p

	dpkg -L bash coreutils diffutils findutils grep mawk sed hostname |
		grep -E '^(/usr)?/s?bin/[^/]+$'
	for p in "${GUEST_PROGRAMS[@]}"; do
		command -v "$p" | grep '^/' || type -P "$p"
	done
}

stage_native_programs()
{
	local p

	for p in $(native_programs); do
		# The base's own /bin and /usr/bin are one folder.
		[ -e "$1$(plain_path "$p")" ] || stage "$1" "$p" "$p"
	done
	ln -s bash "$1/usr/bin/sh"
	ln -s mawk "$1/usr/bin/awk"
	stage_libraries "$1"
}

stage_busybox()
{
	local deb unpacked

	deb=$("$ROOT/scripts/apt-private" download "$(debian_suite)" busybox-static "$(debian_arch)")
	temp_dir unpacked
	dpkg-deb -x "$deb" "$unpacked"
	install -D "$unpacked"/bin/busybox "$1/usr/bin/busybox" 2> /dev/null ||
		install -D "$unpacked"/usr/bin/busybox "$1/usr/bin/busybox"
	ln -sf busybox "$1/usr/bin/sh"
}

# With busybox, a command first has it make the links that bear its names.
with_programs()
{
	if guest_is_native; then
		COMMAND=("$@")
	else
		COMMAND=(sh -c 'busybox --install -s /usr/bin && exec "$@"' sh "$@")
	fi
}

debian_suite()
{
	(. /etc/os-release && echo "${VERSION_CODENAME:-trixie}")
}

make_base()
{
	local root=$GUEST/base.root d

	rm -rf "$root"
	mkdir -p "$root"/{dev,proc,sys,tmp,run,root,etc,job,usr/{bin,sbin,lib,lib64}}
	for d in bin sbin lib lib64; do
		ln -s "usr/$d" "$root/$d"
	done
	"$(user_prefix)gcc" -O2 -Wall -static -o "$root/init" "$ROOT/scripts/guest/init.c"
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' \
		> "$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' > "$root/etc/group"
	if guest_is_native; then
		stage_native_programs "$root"
	else
		stage_busybox "$root"
	fi
	pack "$root" "$GUEST/base.cpio"
}

base_is_made()
{
	stamp_ok "guest-$ARCH" "$1" && [ -f "$GUEST/base.cpio" ]
}

# base_layer: build/guest/ARCH/base.cpio is there and made from what is here now.
base_layer()
{
	local stamp programs=()

	guest_is_native && mapfile -t programs < <(native_programs)
	stamp=$(key "$ROOT/scripts/lib-guest.sh" "$ROOT/scripts/guest/init.c" \
		"$(ls -lL --time-style=+%s "${programs[@]}" /dev/null | sed 's|.*/dev/null$||')")
	! base_is_made "$stamp" || return 0
	lock "guest-$ARCH" >&2
	# Another run may have made it meanwhile.
	! base_is_made "$stamp" || return 0
	say "making the base of the $ARCH guests" >&2
	mkdir -p "$GUEST"
	logged "guest-$ARCH" make_base >&2
	stamp_set "guest-$ARCH" "$stamp"
}

# perf_layer VARIANT: print the archive with that perf, nothing if there is none.
perf_layer()
{
	local root=$BUILD/out/perf-$ARCH-$1/root layer=$GUEST/perf-$1.cpio stage

	[ -d "$root" ] || return 0
	# Several guests may start at the same time.
	lock "guest-$ARCH-perf-$1" >&2
	if [ ! -f "$layer" ] || [ "$root" -nt "$layer" ]; then
		temp_dir stage
		stage "$stage" "$root" ""
		stage_libraries "$stage"
		pack "$stage" "$layer"
	fi
	printf '%s\n' "$layer"
}
