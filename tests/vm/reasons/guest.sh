# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: guest.sh TEST... says `ok` or `not ok` for each check.
set -u

bad=0
data=/root/perf.data

ok()
{
	echo "ok: $*"
}

not_ok()
{
	echo "not ok: $*"
	sed 's/^/# /' err
	bad=1
}

record()
{
	perf record -o $data "$@" > out 2> err
}

# refuses "WORDS|WORDS..." OPTION...: perf record ends with an error that has all of
# these words.
refuses()
{
	local words=$1 word

	shift
	if record "$@" true; then
		not_ok "$* is not refused"
		return
	fi
	while IFS= read -r -d '|' word; do
		grep -qF -e "$word" err || { not_ok "$*: does not say \"$word\""; return; }
	done <<< "$words|"
	ok "$*: $(head -n 1 err)"
}

# accepts OPTION...
accepts()
{
	if record "$@" perf test -w noploop 0.2; then
		ok "$* is recorded"
	else
		not_ok "$* is refused"
	fi
}

# A kernel of the base: too old, whatever the CPU has. Without the new registers
# nothing is missing.
test_old_kernel()
{
	local old="too old to sample SIMD or extended registers"

	refuses 'Cannot sample register "xmm0": XMM needs adaptive PEBS on this kernel|available registers: AX BX' \
		-e cpu-clock -Ixmm0
	refuses "$old" -e cpu-clock --user-regs=ymm
	refuses "this CPU has no ZMM" -e cpu-clock -Izmm
	accepts -e cpu-clock -I
	accepts -e cpu-clock -Iax,ip --user-regs=sp
	accepts -e cpu-clock --call-graph dwarf
}

# The CPU has no such registers, or just the event has none.
test_x86()
{
	refuses 'this CPU has no ZMM|available registers: AX|YMM0-15' -e cpu-clock -Izmm0
	refuses 'this CPU has no OPMASK' -e cpu-clock -Ik1
	refuses 'this CPU has no R16 to R31' -e cpu-clock -Ir16
	refuses 'this CPU has no shadow stack' -e cpu-clock --user-regs=ssp
	refuses 'unknown register' -e cpu-clock -Iz0
	accepts -e page-faults -Iymm0
	accepts -e page-faults --user-regs=xmm
	# The stack is cut, so that there is room for the registers.
	accepts -e cpu-clock --call-graph dwarf,65064 --user-regs=xmm,ip -Iymm
	accepts -e page-faults -I
	test_options
}

# attr_has WORDS|WORDS... OPTION...: what perf evlist -v prints of the events has all of
# these, or none of those that begin with `!`.
attr_has()
{
	local words=$1 word

	shift
	record "$@" true || { not_ok "$* is refused"; return; }
	perf evlist -v -i $data > attrs 2> err
	while IFS= read -r -d '|' word; do
		case $word in
		!*) ! grep -qF -e "${word#!}" attrs ;;
		*) grep -qF -e "$word" attrs ;;
		esac || { cat attrs; not_ok "$*: not so: $word"; return; }
	done <<< "$words|"
	ok "$*: $words"
}

# Lists that are given twice, or taken back
test_options()
{
	refuses '--intr-regs can be given only once' -e cpu-clock -Ixmm0 --intr-regs=ymm1
	refuses '--user-regs can be given only once' -e cpu-clock --user-regs=ip --user-regs=ymm1
	attr_has '!REGS_INTR|!sample_simd' -e cpu-clock -Iip,ymm0 --no-intr-regs
	attr_has '!REGS_INTR|REGS_USER|!sample_simd' -e cpu-clock -Iymm0 --user-regs=ip --no-intr-regs
	attr_has 'REGS_INTR|!REGS_USER|sample_simd_vec_reg_intr: 0x2' -e cpu-clock -Iymm1 --user-regs=ymm0 --no-user-regs
	attr_has 'REGS_USER|sample_regs_user: 0x100,|!STACK_USER' \
		--call-graph dwarf --user-regs=ip -e cpu-clock/call-graph=no/
	attr_has 'REGS_USER|sample_simd_vec_reg_user: 0x8|!STACK_USER' \
		--call-graph dwarf --user-regs=ymm3 -e cpu-clock/call-graph=no/
}

test_arm64()
{
	accepts -e page-faults -Iv0
	# As wide as the vectors of the predicates, on one side or on both
	accepts -e cpu-clock -Iv0,p0
	accepts -e cpu-clock -Iv0 --user-regs=p1,ffr
	accepts -e page-faults -I
	# Without VG, which only events of the PMU have.
	accepts -e cpu-clock --call-graph dwarf
}

test_no_sve()
{
	refuses 'this CPU has no Z|available registers: x0|V0-31' -e cpu-clock -Iz
	refuses 'this CPU has no P' -e cpu-clock -Ip0
	refuses 'this CPU has no FFR' -e cpu-clock -Iffr
	accepts -e cpu-clock -Iv0
}

# A precise event has what is in a record, and says what else it could.
test_adaptive_pebs()
{
	refuses "a precise event of this CPU cannot sample YMM|It can sample XMM|Without the 'p' modifier it can" \
		-e cycles:pp -Iymm
	refuses 'cannot sample ZMM, OPMASK|It can sample XMM' -e cycles:pp -Izmm0,k1
	accepts -e cycles:pp -Ixmm
	accepts -e cycles -Izmm,k
	# What is refused for another reason is not blamed on the registers.
	refuses "doesn't support branch stack sampling" -b -e cycles -Iymm0
	test_some_events
	test_user
	test_sides
	test_group
	# The default event is as precise as can be, and says so if that is not at all.
	accepts -Ixmm
	! grep -q 'without precision' err || not_ok "-Ixmm: not precise"
	accepts -Izmm,k
	grep -q 'WARNING: .* is recorded without precision' err || not_ok "-Izmm,k: does not say that it is not precise"
	test_mem
}

# The user side of a precise event is not limited by the record. Both sides have one width.
test_sides()
{
	refuses '-I and --user-regs have one width' -e cycles:pp -Iip,xmm --user-regs=ymm
	record -e cycles:pp,cpu-clock -Iip,xmm0 --user-regs=ymm0 perf test -w noploop 0.5 ||
		not_ok "cycles:pp,cpu-clock -Iip,xmm0 --user-regs=ymm0 is refused"
	grep -q 'WARNING: cycles:pp cannot sample .* at the interrupt, and is recorded without them' err ||
		not_ok "no warning names the interrupt"
	perf script -i $data -F event,ip,uregs 2> err | awk '
		$1 == "cycles:pp:" { n++ }
		$1 == "cycles:pp:" && /YMM0:/ { has++ }
		END { exit !n || has < n / 2 }' && ok "cycles:pp has its user registers" ||
		not_ok "cycles:pp has no user registers"
}

# An event that does without stays in its group.
test_group()
{
	record -e '{cycles,msr/tsc/}:S' -c 2000000 -Iip,ymm0 -a perf test -w noploop 0.5 ||
		not_ok "a group with msr/tsc/ is refused"
	grep -q 'WARNING: msr/tsc/ cannot sample' err || not_ok "no warning names msr/tsc/"
	perf script -i $data -F event,period 2> err > events
	grep -q 'msr/tsc/:' events && ok "msr/tsc/ is counted in its group" || not_ok "msr/tsc/ is not in its group"
}

# The leader is refused, and a member is not tried as another event. Without a PMU.
test_broken_group()
{
	record -e '{branches,cycles},cpu-clock' -Iip,ymm0 true || not_ok "cpu-clock is refused"
	grep -q "Failure to open event 'cycles'" err && ok "cycles is removed with its group" ||
		not_ok "no message says that cycles is removed"
}

# What these events are sampled for comes with precision.
test_mem()
{
	perf mem record -o $data -Iip,ymm0 true > out 2> err && not_ok "perf mem record -Iymm0 is not refused"
	grep -q 'a precise event of this CPU cannot sample YMM' err && ok "perf mem record -Iymm0: $(head -n 1 err)" ||
		not_ok "perf mem record -Iymm0 does not say why"
	perf mem record -o $data -Iip,xmm0 perf test -w noploop 0.5 > out 2> err || not_ok "perf mem record -Ixmm0 is refused"
}

# What IBS samples cannot be in a group with others: the registers are not the reason, and
# the file is that of the events that are left.
test_ibs_group()
{
	local events

	for events in '{cycles:pp,instructions}' '{instructions,cycles:pp}'; do
		rm -f $data
		record -e "$events" -c 2000000 -Iip,ymm0 perf test -w noploop 0.5 ||
			{ not_ok "$events is refused"; continue; }
		! grep -q 'cannot sample SIMD' err || not_ok "$events: blames the registers"
		perf report -i $data --stdio > out 2>> err || { not_ok "$events: cannot be read"; continue; }
		perf script -i $data -F ip,iregs 2> err | grep -q YMM0: && ok "$events: the rest has YMM0" ||
			not_ok "$events: no YMM0"
	done
}

# has_for EVENT WITHOUT SIDE OPTION...: the samples of EVENT have YMM0, those of WITHOUT
# do not. The name of neither changes.
has_for()
{
	local event=$1 without=$2 side=$3

	shift 3
	record "$@" perf test -w noploop 0.5 || { not_ok "$*: refused"; return; }
	grep -qx "WARNING: $without cannot sample SIMD and extended registers, and is recorded without them\." err ||
		{ not_ok "$*: no warning names $without"; return; }
	perf script -i $data -F event,ip,$side 2> err | awk -v event="$event:" -v without="$without:" '
		$1 == event && /YMM0:/ { has++ }
		$1 == without { samples++ }
		$1 == without && /YMM/ { bad++ }
		END { print !!has, !!samples, bad + 0 }' > events
	[ "$(cat events)" = "1 1 0" ] && ok "$*: $event with YMM0, $without without" ||
		not_ok "$*: YMM0 for $event, samples of $without, YMM0 for it: $(cat events)"
}

# An event that cannot sample the registers does without, be it the first or the last;
# another one has them. That one may have to do without precision first.
test_some_events()
{
	has_for cpu-clock cycles:pp iregs -e cycles:pp -e cpu-clock -Iip,ymm0
	has_for cpu-clock cycles:pp iregs -e cpu-clock -e cycles:pp -Iymm0
	has_for cycles:P instructions:pp iregs -e instructions:pp -e cycles:P -Iymm0
	has_for cycles:P instructions:pp iregs -e cycles:P -e instructions:pp -Iymm0
}

# The same for who may not see the kernel: perf tries again without it, event by event.
test_user()
{
	chmod 755 /root
	mkdir -p /tmp/user && chown 1000:1000 /tmp/user && cd /tmp/user || return
	data=/tmp/user/perf.data
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	perf()
	{
		setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/tmp/user perf "$@"
	}
	has_for cpu-clock:u cycles:ppu iregs -e cycles:pp -e cpu-clock -Iymm0
	has_for cpu-clock:u cycles:ppu iregs -e cpu-clock -e cycles:pp -Iymm0
	unset -f perf
	cd /root
}

# With -v the user is told what the unwinder doesn't know.
test_apx()
{
	accepts -e cycles:u --call-graph dwarf
	if grep -q 'R16 to R31' err; then
		not_ok "told about R16 to R31 without -v"
	fi
	accepts -v -e cycles:u --call-graph dwarf
	if grep -q 'cannot unwind functions that use R16 to R31' err; then
		ok "told about R16 to R31"
	else
		not_ok "not told about R16 to R31"
	fi
}

# Samples of a loop, with the call chain that leads to it. perf looks for inlined functions
# with addr2line, which guests don't have.
chains()
{
	perf script -i $data -F ip,sym 2> err | awk '
		/^$/ { if (chain ~ /^ simdregs_loop /) print chain; chain = ""; next }
		{ chain = chain " " $2 }' | sort | uniq -c | sort -rn > chains
}

# Vectors in a sample are nothing to a DWARF unwinder. On arm64 it stops at the caller of
# the loop, which has no unwind information.
test_dwarf()
{
	local caller=main regs most

	[ "$(uname -m)" != aarch64 ] || caller=simdregs
	for regs in '' "$@"; do
		record -e cpu-clock -c 2000000 --call-graph dwarf ${regs:+--user-regs="$regs"} \
			perf test -w simdregs 1
		chains
		most=$(head -n 1 chains | sed 's/^ *[0-9]* *//')
		if [ -z "$regs" ]; then
			plain=$most
			[[ "$most " == *" $caller "* ]] && ok "unwinds: $most" ||
				not_ok "unwinds only '$most'"
		elif [ -n "$most" ] && [ "$most" = "$plain" ]; then
			ok "unwinds with --user-regs=$regs"
		else
			not_ok "unwinds with --user-regs=$regs to '$most'"
		fi
	done
}

# An event that has no call chains has no callers, those of another event's samples even less.
test_callers()
{
	record -e cpu-clock/call-graph=fp/u -e task-clock/call-graph=no/u perf test -w noploop 0.5
	perf report --stdio --children -g none -s sym -i $data 2> err > report
	awk '
		/^# Samples/ { event = $0 ~ /call-graph=no/ ? "without" : "with" }
		# Not the tip at the end, which is another one each time
		/^[^#].*%/ && $1 != $2 { callers[event]++ }
		/^[^#].*%/ { symbols[event]++ }
		END { print !!symbols["with"], !!symbols["without"],
			    !!callers["with"], !!callers["without"] }' report > callers
	if [ "$(cat callers)" = "1 1 1 0" ]; then
		ok "callers of one event"
	else
		cat report
		not_ok "symbols and callers of two events: $(cat callers)"
	fi
}

# registers OPTION...: the vector registers that perf script has.
registers()
{
	record -vv "$@" perf test -w simdregs 0.3 || not_ok "$* is refused"
	{ perf script -i $data -F iregs; perf script -i $data -F uregs; } 2> /dev/null |
		grep -o -E '(XMM|YMM)[0-9]+:0x[0-9a-f]*' | sed 's/:0x.*//' |
		sort -u | tr '\n' ' ' > names
}

# expect NAMES "ATTR..." OPTION...
expect()
{
	local names=$1 attr=$2

	shift 2
	registers "$@"
	[ "$(cat names)" = "$names " ] || { not_ok "$*: shows '$(cat names)', not $names"; return; }
	for attr in $attr; do
		tr -s ' ' < err | grep -qx -e " ${attr/=/ } *" || { not_ok "$*: no $attr"; return; }
	done
	ok "$*: $(cat names)"
}

# A kernel that takes just whole classes is asked for these, and the user is told.
test_whole_classes()
{
	local nr='0 1 10 11 12 13 14 15 2 3 4 5 6 7 8 9' all
	local told='WARNING: This kernel samples'

	export LD_PRELOAD=/root/whole-classes.so
	all=$(printf 'YMM%s ' $nr)
	expect "${all% }" 'sample_simd_vec_reg_intr=0xffff' -e cpu-clock -Iymm2
	grep -q "^$told YMM registers only as a whole class" err || not_ok "not told of YMM"
	all=$(printf 'XMM%s ' $nr)
	expect "${all% }" 'sample_simd_vec_reg_user=0xffff' -e cpu-clock --user-regs=xmm3-4
	grep -q "^$told XMM registers only as a whole class" err || not_ok "not told of XMM"
	# Nobody is told who has asked for all.
	expect "${all% }" 'sample_simd_vec_reg_user=0xffff' -e cpu-clock --user-regs=xmm
	! grep -q "^$told" err || not_ok "told of XMM"
	# The width is that of both sides.
	all=$(printf 'YMM%s ' $nr)
	expect "${all% }" 'sample_simd_vec_reg_intr=0xffff sample_simd_vec_reg_qwords=4' \
		-e cpu-clock -Ixmm1 --user-regs=ymm5
	unset LD_PRELOAD
	expect 'YMM2' 'sample_simd_vec_reg_intr=0x4' -e cpu-clock -Iymm2
}

for test; do
	case $test in
	dwarf=*) test_dwarf ${test#dwarf=} ;;
	*) "test_$test" ;;
	esac
done
exit $bad
