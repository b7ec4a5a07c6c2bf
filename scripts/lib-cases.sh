# SPDX-License-Identifier: GPL-2.0-only
# How a case of `make check` runs beside others, what is said of it when it ends, and how
# long the rest takes: sourced by check, after lib-case-heads.sh.

PASSED=0 FAILED=0 SKIPPED=0
PLANNING=''		# go through the cases, run none: those that are short, or long
PLAN=()			# their names, and what they need built
NR_PLANNED=0		# how many these were
BESIDE=''		# the process that builds beside
declare -A RUNNING=()	# process -> name of a case
declare -A OF_CASE=()	# name of a case -> what start_case() was given
declare -A BEGUN=()	# name of a case -> when it began, in seconds of this script
declare -A KEYED=()	# name of a case -> what its key is made from
declare -A PROGRAMS=()	# ... and the system's part of that, as it began
declare -A TIMES=()	# name -> seconds that it takes
declare -A BY_HEAD=()	# ... by the head of a case, which may have no others
declare -A EXPECTED=()	# ... this time, where nothing seems to have changed
declare -A AGAIN=()	# name of a build -> the command that does it
declare -A RESULTS=()	# name of a case of the first tier -> passed, failed or skipped
CASES=$(nproc)		# how many run side by side: each has guests of two CPUs
[ "$CASES" -le 4 ] || CASES=4
WHOLE_KERNEL=600	# seconds that one takes, such as steps have at the end of a topic

# ---- what will run, and how long ---------------------------------------------

TIMES_FILE=$LOG/check/times

# The last line of a name counts.
read_times()
{
	local seconds name

	while read -r seconds name; do
		[ -z "$name" ] || TIMES[$name]=$seconds
	done < <(cat "$ROOT/tests/times" "$TIMES_FILE" 2> /dev/null)
}

# took NAME SECONDS: for the next run. What has been built before takes a moment, and some
# steps take less than all.
took()
{
	[[ $1 != build/* ]] || [ "$2" -ge 5 ] || return 0
	[ "$1" != build/steps ] || [ -z "$SINCE_COMMIT" ] || return 0
	mkdir -p "$LOG/check"
	printf '%d %s\n' "$2" "$1" >> "$TIMES_FILE"
	[ "$1" != build/kernel ] || WHOLE_KERNEL=$2
}

# planned NAME [SECONDS]: remember it, and stop the caller while planning.
planned()
{
	[ -n "$PLANNING" ] || return 1
	[ -z "${2:-}" ] || EXPECTED[$1]=$2
	[ "$PLANNING" != short ] || RESULTS[$1]=planned
	PLAN+=("$1")
}

# expect NAME: sets REPLY to the seconds that it will take.
expect()
{
	local default=20

	[[ $1 != mutations/* ]] || default=360
	REPLY=${EXPECTED[$1]:-${TIMES[$1]:-${BY_HEAD[$1]:-$default}}}
}

# left: seconds that what has not ended takes.
left()
{
	local name rest alone=0 beside=0 sum

	for name in ${PLAN[@]+"${PLAN[@]}"}; do
		expect "$name"
		case $name in
		build/*|mutations/*) alone=$((alone + REPLY)) ;;
		*) beside=$((beside + REPLY)) ;;
		esac
	done
	for name in ${RUNNING[@]+"${RUNNING[@]}"}; do
		expect "$name"
		rest=$((REPLY - SECONDS + BEGUN[$name]))
		[ $rest -le 0 ] || beside=$((beside + rest))
	done
	sum=$((alone + beside / CASES))
	# What would not be through by then will skip.
	[ -z "${BUDGET:-}" ] || [ $sum -le $((BUDGET * 60 - SECONDS)) ] ||
		sum=$((BUDGET * 60 > SECONDS ? BUDGET * 60 - SECONDS : 0))
	echo $sum
}

# progress: how far this run is.
progress()
{
	echo "[$((NR_PLANNED - ${#PLAN[@]} - ${#RUNNING[@]}))/$NR_PLANNED, about $((($(left) + 59) / 60)) min left]"
}

# begun NAME: take it out of the plan. Sets PROGRESS to what stands before its name
# while it runs.
begun()
{
	PROGRESS="$(progress) "
	BEGUN[$1]=$SECONDS
	out_of_plan "$1"
}

out_of_plan()
{
	local i

	for i in "${!PLAN[@]}"; do
		[ "${PLAN[i]}" != "$1" ] || unset "PLAN[i]"
	done
}

# show_running: on a terminal, what runs, in a line that the next one replaces.
show_running()
{
	local name line

	line=$(progress)
	for name in "${RUNNING[@]}"; do
		line+=" $name $((SECONDS - BEGUN[$name]))s"
	done
	printf '\r\033[K%.*s' $((${COLUMNS:-80} - 1)) "$line"
}

# ---- results ----------------------------------------------------------------

# A line that says why, taken from a case's log.
reason()
{
	{ grep -a -E '^(error: |SKIP|not ok[ :])' "$1" || tail -n 1 "$1"; } | tail -n 1 | cut -c1-200
}

# What a case says of itself in a summary line, or its last TAP program counted.
subtests()
{
	{ grep -a -E '^# summary: ' "$1" || grep -a -E '^# Totals: ' "$1"; } | tail -n 1 |
		sed -E '/^# Totals/s/[a-z]+:0 ?//g; s/^# [A-Za-z]+: //'
}

# count NAME RESULT: what has not run is not left either.
count()
{
	out_of_plan "$1"
	[ -z "${RESULTS[$1]:-}" ] || RESULTS[$1]=$2
}

# first_tier: how it went, where more than that has run.
first_tier()
{
	local result all=" ${RESULTS[*]} "

	printf '# the first tier:'
	for result in passed failed skipped; do
		printf ' %d %s' "$(grep -o " $result\>" <<< "$all" | wc -l)" $result
	done
	echo
}

# result FORMAT TEXT...: a line that stays, in the place of one that does not.
result()
{
	[ ! -t 1 ] || printf '\r\033[K'
	# shellcheck disable=SC2059 # a format
	printf "$@"
}

passed()
{
	PASSED=$((PASSED + 1))
	count "$1" passed
	result 'ok %s # %s%s\n' "$1" "$2" "${3:+ $3}"
}

skipped()
{
	[ -z "$PLANNING" ] || return 0
	SKIPPED=$((SKIPPED + 1))
	count "$1" skipped
	result 'skip %s # %s %s\n' "$1" "$2" "$3"
}

# has_time NAME [MINUTES]: the budget has so many left, as a long case needs; else NAME
# skips.
has_time()
{
	[ -n "${BUDGET:-}" ] && [ -z "$PLANNING" ] || return 0
	[ $((SECONDS / 60 + ${2:-0})) -ge $((${2:-0} ? BUDGET : BUDGET * 5 / 4)) ] || return 0
	skipped "$1" 0s "BUDGET=$BUDGET has no time left for it: $(again "$1")"
	return 1
}

# What led to the first thing that a log calls wrong, and how it ends.
excerpt()
{
	head -n -15 "$1" | grep -a -m 1 -B 10 -E '^(not ok[ :]|error: |FINDING: )' || :
	[ "$(wc -l < "$1")" -le 15 ] || echo ...
	tail -n 15 "$1"
}

# again NAME: the command that runs it as it has been run.
again()
{
	local setting settings=''

	if [ -n "${AGAIN[$1]:-}" ]; then
		echo "${AGAIN[$1]}"
		return
	fi
	! is_first_tier || settings+=' SHORT=1'
	[ "$ARCH" = x86_64 ] || settings+=" ARCH=$ARCH"
	while IFS= read -r setting; do
		[ -z "$setting" ] || settings+=" $(printf %q "$setting")"
	done <<< "$SETTINGS"
	echo "make check T=$1$settings"
}

# failed NAME TIME REASON LOG
failed()
{
	FAILED=$((FAILED + 1))
	count "$1" failed
	result 'not ok %s # %s %s\n' "$1" "$2" "$3"
	[ ! -s "$4" ] || excerpt "$4" | sed 's/^/    /'
	printf '    log: %s\n    again: %s\n' "$4" "$(again "$1")"
}

# record_scripts STATUS SECONDS LOG: of tests/scripts, which prints a line for each.
record_scripts()
{
	local line bad=''

	while IFS= read -r line; do
		case $line in
		'ok '*) passed "${line#ok }" "$2s all" ;;
		'not ok '*) failed "${line#not ok }" "$2s all" "output differs" "$3"; bad=1 ;;
		esac
	done < "$3"
	[ "$1" -eq 0 ] || [ -n "$bad" ] || failed scripts/run "$2s all" "$(reason "$3")" "$3"
}

# record NAME OPTIONAL STATUS SECONDS LOG
record()
{
	if [ "$1" = scripts ]; then
		record_scripts "$3" "$4" "$5"
		return
	fi
	case $3,$2 in
	0,*) passed "$1" "$4s" "$(subtests "$5")" ;;
	4,yes|7,*) skipped "$1" "$4s" "$(reason "$5")" ;;
	4,*) failed "$1" "$4s" "must run, but skips: $(reason "$5")" "$5" ;;
	*) failed "$1" "$4s" "$(reason "$5")" "$5" ;;
	esac
}

# run_case NAME CMD...: sets TOOK to its seconds.
run_case()
{
	local name=$1 start=$SECONDS rc=0

	begun "$name"
	VERB=$PROGRESS$name watched "$LOG/check/$name.log" "${@:2}" || rc=$?
	TOOK=$((SECONDS - start))
	[ $rc -ne 0 ] || took "$name" $TOOK
	# What has been built anew changes what needs it.
	[[ $name != build/* ]] || [ $TOOK -lt 5 ] || EXPECTED=()
	return $rc
}

# start_case NAME OPTIONAL STAMP KEY CMD...: run it beside others, as soon as there is
# room; STAMP, if any, is set to KEY when it has passed.
start_case()
{
	local name=$1 log=$LOG/check/$1.log start rc=0

	! planned "$name" || return 0
	end_cases $((CASES - 1))
	begun "$name"
	rm -f "$log.end"
	# A process group of its own, so that all of it can be stopped.
	set -m
	{
		start=$SECONDS
		# There show_running() has one line for all.
		[ ! -t 1 ] || exec > /dev/null
		VERB=$PROGRESS$name watched "$log" "${@:5}" || rc=$?
		echo $rc $((SECONDS - start)) > "$log.end"
	} &
	set +m
	RUNNING[$!]=$name
	OF_CASE[$name]="$2 ${3:--} ${4:--}"
}

# stamp_case NAME STAMP KEY: it has passed with that key, unless something has been changed
# while it ran. Programs that it has installed are no change.
stamp_case()
{
	local programs gone

	# shellcheck disable=SC2086 # words
	programs=$(programs_of ${KEYED[$1]})
	gone=$(comm -23 <(sort <<< "${PROGRAMS[$1]}") <(sort <<< "$programs"))
	# shellcheck disable=SC2086 # words
	[ -n "$gone" ] || [ "$(case_key "${PROGRAMS[$1]}" ${KEYED[$1]})" != "$3" ] ||
		stamp_set "$2" "$(case_key "$programs" ${KEYED[$1]})"
}

# end_cases N: wait until no more than N cases run. Each leaves its status in a file: bash
# may have forgotten one that ended beside a build.
end_cases()
{
	local pid alive rc name log seconds optional stamp key

	while [ ${#RUNNING[@]} -gt "$1" ]; do
		rc=''
		for pid in "${!RUNNING[@]}"; do
			name=${RUNNING[$pid]} alive=1
			log=$LOG/check/$name.log
			kill -0 "$pid" 2> /dev/null || alive=''
			if [ -s "$log.end" ]; then
				read -r rc seconds < "$log.end"
			elif [ -z "$alive" ]; then
				rc=137 seconds=0	# killed
			fi
			[ -z "$rc" ] || break
		done
		if [ -z "$rc" ]; then
			if [ -t 1 ]; then
				show_running
				sleep 1
			else
				wait -n "${!RUNNING[@]}" 2> /dev/null || sleep 1
			fi
			continue
		fi
		rm -f "$log.end"
		unset "RUNNING[$pid]"
		read -r optional stamp key <<< "${OF_CASE[$name]}"
		if [ "$rc" -eq 0 ]; then
			took "$name" "$seconds"
			[ "$stamp" = - ] || stamp_case "$name" "$stamp" "$key"
		elif [ "$stamp" != - ]; then
			# It has passed before, with the same.
			rm -f "$BUILD/stamps/$stamp"
		fi
		record "$name" "$optional" "$rc" "$seconds" "$log"
		[[ " ${RUNNING[*]} " == *" patches/"* ]] || unlock tree
	done
}

stop_all()
{
	local pid pids=("${!RUNNING[@]}" $BESIDE)

	for pid in "${pids[@]}"; do
		kill -TERM -- -"$pid" 2> /dev/null || :
	done
	# Without a process it would wait for those that show progress, too.
	[ ${#pids[@]} -eq 0 ] || wait "${pids[@]}" 2> /dev/null || :
}
at_exit stop_all
