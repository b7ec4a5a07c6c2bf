# SPDX-License-Identifier: GPL-2.0-only
# What the head of a case of `make check` says of it, and what its result depends on:
# sourced by check, after lib-kernel.sh.
#
# These comment lines may stand at the head of tests/*/run:
#   # needs: kernel perf ...   what must be built before (see prerequisite());
#                              perf@x86_64 is that of another architecture
#   # uses: vm/values ...      what it runs that is not in its folder, seen from tests/
#   # arch: x86_64 ...         where it can run (default: everywhere)
#   # also: arm64 ...          where it runs, with SHORT=1, when others are tested
#   # also-long: arm64 ...     the same for ALL=1
#   # short                    does less with SHORT=1, as for the first tier
#   # base: ours               in the first tier our kernel and perf do instead of the
#                              base's that it needs: VARIANT is default, else base
#   # base: none               there it needs none of those: VARIANT is none, else base
#   # optional                 may skip; a case that must run and skips fails
#   # long: 10                 takes so many minutes: only with ALL=1 or by its name
#                              in T=, and after the others
#   # unkeyed                  runs each time. The others do not while nothing that they
#                              need has changed since they passed (RERUN=1 has them run)

# prerequisite NAME[@ARCH]: the command that builds it, mostly `VERB VARIANT` for VERB-VARIANT.
prerequisite()
{
	case ${1%@*} in
	libperf) echo perf libperf ;;
	emulator) echo emulator --no-tests ;;
	steps) echo each-step ;;
	kernel|kernel-*|perf|perf-*|selftests|selftests-*|kit|emulator-base)
		tr - ' ' <<< "${1%@*}" ;;
	*) return 1 ;;
	esac
}

declare -A HEADERS=()	# `FILE WORD` -> what comments `# WORD: TEXT` at the head of a case say

read_headers()
{
	local file word text

	while IFS=$'\t' read -r file word text; do
		HEADERS[$file $word]+=${HEADERS[$file $word]+ }$text
	done < <(find "$ROOT/tests" -name run -perm -u+x -print0 | xargs -0r awk -v OFS='\t' '
		FNR == 1 { head = 1 }
		/^[^#]/ { head = 0 }
		head && /^# [a-z-]+(:|$)/ {
			word = $2
			sub(/:.*/, "", word)
			sub(/^# [a-z-]+:? */, "")
			print FILENAME, word, $0
		}')
}

# has_header FILE WORD
has_header()
{
	[ -n "${HEADERS[$1 $2]+there}" ]
}

# has_arch FILE ARCH: it can run there.
has_arch()
{
	local arches=${HEADERS[$1 arch]:-$2}

	[[ " $arches " == *" $2 "* ]]
}

# stamp_of NEED[@ARCH]: the stamp that its build leaves.
stamp_of()
{
	local ARCH=$ARCH

	case $1 in *@*) ARCH=${1#*@} ;; esac
	set -- "${1%@*}"
	case $1 in
	kernel) echo "kernel-$(kernel_name default)" ;;
	kernel-*) echo "kernel-$(kernel_name "${1#kernel-}")" ;;
	perf) echo "perf-$ARCH-default" ;;
	perf-*) echo "perf-$ARCH-${1#perf-}" ;;
	libperf) echo "perf-$ARCH-libperf" ;;
	selftests|kit) echo "$1-$ARCH" ;;
	selftests-x86) echo "selftests-base-$ARCH" ;;
	selftests-arm64) echo "selftests-cpu-$ARCH" ;;
	emulator|emulator-base) echo "$1" ;;
	esac
}

# Settings that cases, and the scripts which they start, take from the environment.
SETTINGS=$(env | sort | grep -E '^(CPU|CPUS|DEBUG|EL2|KERNEL|KERNEL_HITS|MIN_SAMPLES|PERF|PERF_TEST|SEED|SIMD_[A-Z]+|STEPS|STRESS|TIME|TIMEOUT)=' || :)

# programs_of DIR ARCH VARIANT: the packages of the system that the case uses and that are
# there, with their versions.
programs_of()
{
	local packages=(bash coreutils gcc libc6 libc6-dev)

	if [[ $1 == */tests/perf/* ]]; then
		packages+=(clang)
	else
		[ "$2" = arm64 ] || packages+=(qemu-system-{x86,data} seabios)
		[[ $2 != arm64 && $(needs_of "$@") != *@arm64* ]] || packages+=(qemu-system-arm)
	fi
	installed_packages '${Package}:${Architecture} ${Version}' "${packages[@]}"
}

# case_key PROGRAMS DIR ARCH VARIANT [SHORT=1]: what a case depends on.
case_key()
{
	local programs=$1 dir=$2 need use stamps=()

	shift
	for need in $(needs_of "$dir" "$2" "$3"); do
		stamps+=("$BUILD/stamps/$(stamp_of "$need")")
	done
	for use in ${HEADERS[$dir/run uses]:-}; do
		[ -e "$ROOT/tests/$use" ] || die "$dir/run uses $use, which is not in tests/"
		stamps+=("$ROOT/tests/$use")
	done
	key "$dir" "$ROOT"/scripts/{vm-run,lib.sh,lib-guest.sh,lib-sysroot.sh,lib-qemu.sh,tsc-khz.c,lib-emulator.sh,guest} \
		"$BUILD/sysroot/$2/contents" "$programs" "$SETTINGS" "${*:3}" ${stamps[@]+"${stamps[@]}"}
}

# variant_of DIR: what of kernels and perf the case takes for the base's.
variant_of()
{
	if ! is_first_tier; then
		echo base
		return
	fi
	case ${HEADERS[$1/run base]:-} in
	ours) echo default ;;
	none) echo none ;;
	*) echo base ;;
	esac
}

# needs_of DIR ARCH VARIANT: what the case needs when it runs for ARCH.
needs_of()
{
	local need

	for need in ${HEADERS[$1/run needs]:-}; do
		case $3,$need in
		default,*-base) need=${need%-base} ;;
		none,*-base) continue ;;
		esac
		[[ $need == *@* || $2 == "$ARCH" ]] || need+=@$2
		echo "$need"
	done
}

# ---- what a change can affect -------------------------------------------------

PASS=affected			# or rest: which of the cases that ALL=1 adds is their turn
declare -A UNAFFECTED=()	# names of cases that nothing affects which has changed
SINCE_COMMIT='' CHANGED=''
if [ -n "${ALL:+${SINCE:-}}" ]; then
	SINCE_COMMIT=$(commit_of SINCE "$SINCE")
	CHANGED=$(changed_since "$SINCE_COMMIT")
fi

# has_turn NAME PATTERN...: in the first pass, if a file that matches one, or lies below
# what does, has changed since SINCE; in the second one if none has.
has_turn()
{
	local name=$1 pattern turn=rest

	shift
	for pattern; do
		[[ $'\n'$CHANGED$'\n' != *$'\n'$pattern[/$'\n']* ]] || turn=affected
	done
	[ -n "$SINCE_COMMIT" ] || turn=affected
	[ $turn = affected ] || UNAFFECTED[$name]=1
	[ $turn = $PASS ]
}

# case_has_turn NAME DIR ARCH [PATTERN...]: of what scripts do, all counts.
case_has_turn()
{
	local need patterns=(base.mk scripts configs patches/topics "${2#"$ROOT"/}" "${@:4}")

	for need in $(needs_of "$2" "$3" base); do
		case $need in
		emulator*) patterns+=(emulator) ;;
		perf*|libperf*) patterns+=('tools/[!t]*' 'patches/perf*') ;;
		*) patterns+=(arch include kernel kit tools/testing 'patches/[!p]*') ;;
		esac
	done
	for need in ${HEADERS[$2/run uses]:-}; do
		need=tests/$need
		patterns+=("${need#tests/../}")
	done
	has_turn "$1" "${patterns[@]}"
}
