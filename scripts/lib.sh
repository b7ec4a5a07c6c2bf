# SPDX-License-Identifier: GPL-2.0-only
# What every verb shares: where things are, errors, progress, packages, stamps.
#
# Sourced by each script of this folder as its first act:
#
#	. "${BASH_SOURCE[0]%/*}/lib.sh"
#
# It sets ROOT (the repository), BUILD, LOG, VERB, ARCH and the deterministic
# KBUILD_* variables, reads base.mk and moves nowhere.

set -eu -o pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# A mutation of this repository builds where the original does: tests/mutations/run.
BUILD=${SIMD_REGS_BUILD:-$ROOT/build}
LOG=$BUILD/log
VERB=${0##*/}
ARCH=${ARCH:-x86_64}

# Sorting, messages and time must not depend on who runs this, and a verb
# started by make must not hand make's own flags to the builds inside it.
export LC_ALL=C.UTF-8 TZ=UTC
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
export KBUILD_BUILD_USER=perf KBUILD_BUILD_HOST=simd KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 2026'

# What stands before a compiler: nothing where ccache is not to be used.
CCACHE='ccache '
[ -z "${CCACHE_DISABLE:-}" ] || CCACHE=''

# shellcheck source=../base.mk
. "$ROOT/base.mk"

# ---- messages ---------------------------------------------------------------

# die WHAT [LOG] [WHAT_TO_DO]: the one line that every failure ends with.
die()
{
	local line="error: $1"

	[ -z "${2:-}" ] || line+="; log: $2"
	[ -z "${3:-}" ] || line+="; to do: $3"
	printf '%s\n' "$line" >&2
	exit 1
}

# usage: what the head of the script has after `# usage: ` or a tab, and the end.
usage()
{
	sed -n '/^[^#]/q; s/^# usage: /usage: /p; s/^#\t//p' "$0" >&2
	exit 2
}

# say TEXT...: one line of progress.
say()
{
	printf '%s: %s\n' "$VERB" "$*"
}

# need_numbers SETTING...: whole ones, where they are set.
need_numbers()
{
	local name

	for name; do
		[[ ${!name:-0} =~ ^(0|0x[0-9a-f]{1,15}|[1-9][0-9]{0,17})$ ]] ||
			die "$name=${!name} is not a whole number" "" "$name=20, as an example"
	done
}

[[ $ARCH == @(x86_64|i386|arm64) ]] || die "ARCH=$ARCH is not one of x86_64, i386, arm64"
# The kernel's build takes neither.
[[ $ROOT != *[[:space:]:]* ]] || die "the path has a blank or a colon: $ROOT" "" "move the repository"
if [ $# -gt 0 ] && [ "$0" -ef "$ROOT/scripts/$VERB" ] && ! grep -q '^# usage: ' "$0"; then
	die "$VERB takes no arguments, but has: $*" "" "settings are NAME=value: make help"
fi
for name in ALL DEBUG EL2 FORCE LEAN RERUN SHORT; do
	[ "${!name:-}" != 0 ] || unset "$name"
done

# ---- things to undo at the end ----------------------------------------------

AT_EXIT=()

# at_exit CMD ARG...: run it when the script ends, however it ends.
at_exit()
{
	AT_EXIT+=("$(printf '%q ' "$@")")
}

run_at_exit()
{
	local rc=$? i

	# A child that has not yet dropped the traps must not clean up for us.
	[ "$BASHPID" = $$ ] || exit $rc
	for ((i = ${#AT_EXIT[@]} - 1; i >= 0; i--)); do
		eval "${AT_EXIT[i]}" || :
	done
	exit $rc
}
trap run_at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# need_write FILE: in build/tmp; it may not exist yet.
need_write()
{
	local of

	mkdir -p "$BUILD/tmp" || :
	[ -w "$BUILD/tmp" ] && { [ ! -e "$1" ] || [ -w "$1" ]; } && return 0
	for of in "$1" "$BUILD/tmp" "$BUILD" "$ROOT"; do
		[ ! -e "$of" ] || [ -w "$of" ] || break
	done
	[ ! -w "$of" ] || die "$BUILD/tmp cannot be made" "" "see what mkdir says above"
	die "$(id -un) cannot write to $of, which belongs to $(stat -c %U "$of")" "" \
	    "run it as that user, or in another clone"
}

# temp_dir VAR: a private folder below build/, gone when the script ends.
temp_dir()
{
	need_write "$BUILD/tmp"
	printf -v "$1" %s "$(mktemp -d "$BUILD/tmp/$VERB.XXXXXX")"
	at_exit rm -rf "${!1}"
}

declare -A LOCK_FDS=()	# name -> descriptor of a lock that this process has taken

# lock NAME: wait until no other verb works on NAME; held until the script ends.
# A verb that calls another one keeps the lock on behalf of both.
lock()
{
	local held=" ${LOCKS_HELD:-} " fd

	[[ $held != *" $1 "* ]] || return 0
	need_write "$BUILD/tmp/$1.lock"
	exec {fd}> "$BUILD/tmp/$1.lock"
	if ! flock -n "$fd"; then
		say "waiting for another run that uses $1"
		flock "$fd"
	fi
	LOCK_FDS[$1]=$fd
	export LOCKS_HELD="${LOCKS_HELD:-} $1"
}

# unlock NAME: if this process has locked it; for those that it has started, too.
unlock()
{
	[ -n "${LOCK_FDS[$1]:-}" ] || return 0
	flock -u "${LOCK_FDS[$1]}"
	unset "LOCK_FDS[$1]"
	LOCKS_HELD=" ${LOCKS_HELD:-} "
	LOCKS_HELD=${LOCKS_HELD/ $1 / }
}

# ---- long commands ----------------------------------------------------------

# Reports on a growing log until its standard input is closed: every second in
# place on a terminal, every 20 s as a line of its own elsewhere.
watch_log()
{
	local log=$1 start=$SECONDS every=20 format='%s: ... %ds, %d lines: %.90s\n' rc t last

	if [ -t 1 ]; then
		every=1 format='\r\033[K%s: %ds, %d lines: %.60s'
	fi
	while :; do
		rc=0
		read -r -t 1 || rc=$?
		[ $rc -gt 128 ] || break
		t=$((SECONDS - start))
		((t % every == 0)) || continue
		last=$(tail -c 400 "$log" | tr -d '\r' | tail -n 1 | tr -s ' \t' ' ')
		# shellcheck disable=SC2059 # one of two
		printf "$format" "$VERB" "$t" "$(wc -l < "$log")" "$last"
	done
}

# The part of a log that says what went wrong: the first error with what
# surrounds it, else the end.
failing_part()
{
	local log=$1 at

	at=$(grep -n -m1 -E '(^|[^a-z_-])([Ff]atal )?error(:| [0-9])|\*\*\* |^E: |^fatal: |undefined reference' "$log" |
	     cut -d: -f1) || at=
	if [ -n "$at" ]; then
		sed -n "$((at > 3 ? at - 3 : 1)),$((at + 12))p" "$log"
	else
		tail -n 15 "$log"
	fi | sed 's/^/    /' >&2
}

# watched LOG CMD...: run CMD with its output in LOG, and progress shown meanwhile;
# its status. CMD may be a function unless this is called in a condition, where
# bash does not let it fail.
watched()
{
	local - log=$1 rc watcher stop

	shift
	mkdir -p "$(dirname "$log")"
	: > "$log"
	exec {stop}> >(watch_log "$log")
	watcher=$!
	# The command stays in the foreground, so an interrupt reaches it.
	set +e
	(exec {stop}>&-; set -e; "$@") > "$log" 2>&1 < /dev/null
	rc=$?
	exec {stop}>&-
	wait "$watcher" 2> /dev/null
	[ ! -t 1 ] || printf '\r\033[K'
	return $rc
}

# logged NAME CMD...: run CMD (a program or a function) with its output in
# build/log/NAME.log; progress is shown meanwhile, a failure ends the script.
logged()
{
	local name=$1 log=$LOG/$1.log rc

	shift
	set +e
	watched "$log" "$@"
	rc=$?
	set -e
	[ $rc -ne 0 ] || return 0
	failing_part "$log"
	die "$name failed with status $rc" "$log" "${LOGGED_HINT:-read the lines above}"
}

# ---- what the machine must have ---------------------------------------------

# installed_packages FORMAT PACKAGE...: of those that are there, a line each in dpkg-query's
# FORMAT. One whose triggers are still to run, as libc-bin's are while another one with
# libraries is installed, is there.
installed_packages()
{
	local format=$1

	shift
	# It also knows those that another one names.
	dpkg-query -W -f="\${db:Status-Status} $format\n" "$@" 2> /dev/null |
		sed -n -E 's/^(installed|triggers-(pending|awaited)) //p' || :
}

missing_packages()
{
	printf '%s\n' "$@" | grep -vxF -f <(installed_packages '${Package}' "$@") || :
}

install_packages()
{
	local opts=(-y --no-install-recommends -o DPkg::Lock::Timeout=300)

	export DEBIAN_FRONTEND=noninteractive
	# The lists of a fresh machine may be missing or old.
	apt-get "${opts[@]}" install "$@" ||
		{ apt-get update && apt-get "${opts[@]}" install "$@"; }
}

# need_packages PKG...: install those that are missing (root), or say how.
need_packages()
{
	local missing

	command -v dpkg-query > /dev/null ||
		die "no dpkg here; needed are what Debian calls: $*" "" "install them by hand"
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		die "missing packages" "" "apt-get install --no-install-recommends ${missing[*]}"
	fi
	# apt does not wait for another one that reads lists.
	lock packages
	say "installing ${missing[*]}"
	LOGGED_HINT="apt-get install --no-install-recommends ${missing[*]}" \
		logged packages install_packages "${missing[@]}"
	unlock packages
	mapfile -t missing < <(missing_packages "${missing[@]}")
	[ ${#missing[@]} -eq 0 ] ||
		die "still not installed: ${missing[*]}" "$LOG/packages.log"
}

# need_space GB PATH: PATH may not exist yet.
need_space()
{
	local path=$2 free

	while [ ! -e "$path" ]; do
		path=$(dirname "$path")
	done
	free=$(df -Pk "$path" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$(($1 * 1024 * 1024))" ] ||
		die "$2 needs $1 GB, but only $((free / 1024)) MB are free there" "" \
		    "free some, or move the repository to a larger disk"
}

# ---- work trees that only builds use ------------------------------------------

# What nothing here compiles or reads, half of the size of a tree.
LINUX_UNUSED=('/drivers/gpu/drm/**/*.[ch]' '/drivers/media/**/*.[ch]'
	'/drivers/net/ethernet/**/*.[ch]' '/drivers/net/wireless/**/*.[ch]' '/sound/**/*.[ch]')
QEMU_UNUSED=('/roms/*')

# leave_out DIR PATTERN...: the work tree is to be without such files (gitignore(5)).
leave_out()
{
	local dir=$1

	shift
	{ echo '/*'; printf '!%s\n' "$@"; } | git -C "$dir" sparse-checkout set --no-cone --stdin
}

# lay_out REPOSITORY DIR REV PATTERN...: DIR becomes such a work tree of it at REV.
lay_out()
{
	rm -rf "$2"
	git -C "$1" worktree prune
	git -C "$1" worktree add -q -f --no-checkout --detach "$2" "$3"
	leave_out "$2" "${@:4}"
	git -C "$2" checkout -q -f
}

# worktree_of REPOSITORY DIR REV PATTERN...: it is one.
worktree_of()
{
	local dir=$2 name=${2#"$BUILD"/} rev

	rev=$(git -C "$1" rev-parse --verify -q "$3^{commit}") ||
		die "${1#"$ROOT"/} has no revision $3" "" "make apply"
	[ "$(git -C "$dir" rev-parse HEAD 2> /dev/null)" != "$rev" ] || return 0
	if [ -e "$dir/.git" ] && git -C "$dir" rev-parse -q --git-dir > /dev/null 2>&1; then
		logged "${name//\//-}-tree" git -C "$dir" checkout -q -f --detach "$rev"
	else
		need_space 2 "$BUILD"
		say "laying out $3 in build/$name"
		logged "${name//\//-}-tree" lay_out "$1" "$dir" "$rev" "${@:4}"
	fi
}

# changed_since COMMIT: the files of this repository that are not as they were there.
changed_since()
{
	local in_root=(git -c safe.directory="$ROOT" -c core.quotePath=false -C "$ROOT")

	"${in_root[@]}" diff --name-only --no-renames "$1" -- &&
		"${in_root[@]}" ls-files -o --exclude-standard
}

# commit_of SETTING REV: the commit's name; it may move while something runs.
commit_of()
{
	git -c safe.directory="$ROOT" -C "$ROOT" rev-parse -q --verify "$2^{commit}" ||
		die "$1=$2 is no commit of this repository" "" "$1=HEAD^, as an example"
}

# ---- stamps: what a finished step was made from ------------------------------

# key FILE_OR_STRING...: one checksum of the contents of files, of all files
# below folders, and of strings. Where the repository lies does not matter.
key()
{
	local a

	for a; do
		if [ -d "$a" ]; then
			printf 'dir %s\n' "${a#"$ROOT"/}"
			(cd "$a" && find . -type f -print0 | sort -z | xargs -0r sha256sum)
		elif [ -f "$a" ]; then
			printf 'file %s %s\n' "${a#"$ROOT"/}" "$(sha256sum < "$a")"
		else
			printf 'string %s\n' "$a"
		fi
	done | sha256sum | cut -d' ' -f1
}

# changes_key TREE PATH...: what differs from the commit there.
changes_key()
{
	local tree=$1

	shift
	{
		git -C "$tree" diff HEAD -- "$@"
		git -C "$tree" ls-files -o --exclude-standard -z -- "$@" |
			(cd "$tree" && xargs -0r sha256sum)
	} | sha256sum
}

# stamp_is NAME KEY: was NAME finished, and from the same KEY?
stamp_is()
{
	[ -f "$BUILD/stamps/$1" ] && [ "$(cat "$BUILD/stamps/$1")" = "$2" ]
}

# stamp_ok NAME KEY [PRODUCT]: the same, and PRODUCT is there, for a caller that makes NAME
# again if not. That may end half-way, so the stamp of another KEY is removed before.
stamp_ok()
{
	stamp_is "$1" "$2" && [ -e "${3:-$BUILD}" ] && return
	rm -f "$BUILD/stamps/$1"
	return 1
}

# up_to_date NAME KEY PRODUCT: says so.
up_to_date()
{
	stamp_ok "$@" || return 1
	say "$1 is up to date"
}

# finish_build NAME KEY_BEFORE KEY_NOW: what was built while the sources changed
# is neither the one nor the other.
finish_build()
{
	[ "$2" = "$3" ] ||
		die "the sources of $1 have changed while it was built" "" "run it again"
	stamp_set "$1" "$2"
}

stamp_set()
{
	mkdir -p "$BUILD/stamps/$(dirname "$1")"
	printf '%s\n' "$2" > "$BUILD/stamps/$1.$BASHPID"
	mv "$BUILD/stamps/$1.$BASHPID" "$BUILD/stamps/$1"
}

# check_sha256 FILE SUM: silent; the caller knows what to say.
check_sha256()
{
	[ "$(sha256sum < "$1" | cut -d' ' -f1)" = "$2" ]
}
