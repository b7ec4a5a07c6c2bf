# SPDX-License-Identifier: GPL-2.0-only
# In the guest: guest.sh CPU LOOPS CALLS AFTER_SYSCALL, how the programs `loop` and
# `calls` were made, and where the latter goes on after a system call.
set -u

CPU=$1 LOOPS=$2 CALLS=$3 AFTER_SYSCALL=$4
PERIOD=20011
KERNEL_START=8000000000000000
bad=0 checked=0

result()
{
	checked=$((checked + 1))
	if [ "$1" = ok ]; then
		echo "# ok $CPU: $2"
	else
		echo "not ok: $CPU: $2"
		bad=1
	fi
}

# near WHAT VALUE WANTED: within 1%.
near()
{
	if awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(b > 0 && d * d <= b * b / 10000) }'; then
		result ok "$1: $2, $3 expected"
	else
		result bad "$1: $2, but $3 expected"
	fi
}

# With -icount each instruction counts, and nothing else does.
exactly()
{
	if [ "$2" = "$3" ]; then
		result ok "$1: $2"
	else
		result bad "$1: $2, but $3 expected"
	fi
}

# count EVENTS PROGRAM: perf stat's values in COUNT_0, COUNT_1, ...
count()
{
	local i=0 v

	perf stat -x, -o /tmp/stat -e "$1" "$2" || { result bad "perf stat -e $1: status $?"; return 1; }
	while IFS=, read -r v _; do
		printf -v "COUNT_$((i++))" %s "$v"
	done < <(grep -v '^#' /tmp/stat | grep ,)
}

count '{instructions:u,branches:u,cycles:u}' loop && {
	exactly "instructions:u" "$COUNT_0" $((4 * LOOPS + 7))
	near "branches:u" "$COUNT_1" "$LOOPS"
	# A wrong selection shows only if no two events tick alike.
	if [ "$COUNT_2" != "$COUNT_0" ] && [ "$COUNT_2" != "$COUNT_1" ] && [ "$COUNT_2" -gt 0 ]; then
		result ok "cycles:u: $COUNT_2, unlike the others"
	else
		result bad "cycles:u: $COUNT_2 is no rate of its own"
	fi
}
count '{instructions,instructions:u,instructions:k}' calls && {
	exactly "user and kernel add up" "$((COUNT_1 + COUNT_2))" "$COUNT_0"
	exactly "instructions:u of the system calls" "$COUNT_1" $((4 + 4 * CALLS + 7))
	[ "$COUNT_2" -gt $((20 * CALLS)) ] && result ok "instructions:k: $COUNT_2" ||
		result bad "instructions:k: $COUNT_2 for $CALLS system calls"
}

# precise EVENT: does this CPU sample it with :p? AMD has only IBS for that.
precise()
{
	[ "$CPU" != zen ]
}

# sample EVENT RING MODIFIER: the samples are as many as the count says, and all
# are of the ring. In the kernel, taking samples is itself counted. Without :pp a
# sample is where the interrupt arrives, or after the instruction: for SYSRET,
# the kernel's last, that is in user mode. After IRET, from an interrupt or a page
# fault, it is anywhere in user mode, but these are so few that no two samples are.
sample()
{
	local event=$1 ring=$2 program=loop slack=100 after=none irets=0 n other want

	if [ "$ring" = k ]; then
		program=calls slack=10
		[ "$3" = pp ] || { after=$AFTER_SYSCALL; irets=1; }
	fi
	count "$event:$ring" $program || return
	want=$((COUNT_0 / PERIOD))
	perf record -q -o /tmp/data -c $PERIOD -e "$event:$ring$3" $program > /tmp/record 2>&1 ||
		{ result bad "perf record -e $event:$ring$3: $(tail -n 1 /tmp/record)"; return; }
	perf script -i /tmp/data -F ip > /tmp/ips 2> /tmp/script.err ||
		{ result bad "perf script: $(tail -n 1 /tmp/script.err)"; return; }
	n=$(wc -l < /tmp/ips)
	other=$(awk -v ring="$ring" -v k=$KERNEL_START -v after="$after" '
		# As strings: awk would take some addresses for numbers.
		{ ip = sprintf("%16s", $1); gsub(" ", "0", ip)
		  if (ip "" == after "")
			next
		  in_kernel = ip "" >= k ""
		  if (in_kernel != (ring == "k")) n++ }
		END { print n + 0 }' /tmp/ips)
	# The first and the last period are cut.
	if [ "$other" -le $irets ] && [ "$want" -ge 10 ] &&
	   [ "$n" -ge $((want - 2 - want / 100)) ] && [ "$n" -le $((want + 2 + want / slack)) ]; then
		result ok "$event:$ring$3: $n samples, $other of them of the other ring"
	else
		result bad "$event:$ring$3: $n samples of $want expected, $other of them of the other ring"
	fi
}

for event in cycles instructions branches; do
	for ring in u k; do
		for modifier in '' p pp; do
			[ -z "$modifier" ] || precise $event || continue
			sample $event $ring "$modifier"
		done
	done
done
echo "# summary: $CPU: $checked checks"
[ $bad -eq 0 ]
