# SPDX-License-Identifier: GPL-2.0-only
# In the guest: guest.sh CPU SECONDS.
set -u

CPU=$1 DURATION=$2
PROCESSES=4
# A long run goes in parts, so that their data fit into memory.
PART=60
EVENTS=cycles,instructions,branches,cycles:u,instructions:u,branches:u,cycles:k,instructions:k
bad=0 total=0

fail()
{
	echo "not ok: $CPU: $*"
	bad=1
}

# User mode, system calls and new processes, until the time is up.
cat > /tmp/work.sh << 'END'
end=$((SECONDS + $1))
while [ $SECONDS -lt $end ]; do
	i=0
	while [ $i -lt 2000 ]; do i=$((i + 1)); done
	dd if=/dev/zero of=/dev/null bs=64 count=500 2> /dev/null
done
END

# gaps FILE: the number of samples, the longest time without one and that from the first
# to the last in ms. A task that waits for its processor has none: 4 on 2, and on a host
# that is busy.
gaps()
{
	perf script -i "$1" -F time 2> /dev/null | tr -d ' :' |
		awk 'NR == 1 { first = $1 } NR > 1 && $1 - last > gap { gap = $1 - last } { last = $1 }
		     END { printf "%d %d %d\n", NR, gap * 1000, (last - first) * 1000 }'
}

part()
{
	local i pids=() n gap span most=$((500 * $1 > 3000 ? 500 * $1 : 3000))

	for ((i = 0; i < PROCESSES; i++)); do
		perf record -q -F 997 -e $EVENTS -o /tmp/data.$i bash /tmp/work.sh "$1" \
			> /tmp/record.$i 2>&1 &
		pids+=($!)
	done
	for ((i = 0; i < PROCESSES; i++)); do
		wait "${pids[i]}" || fail "perf record: status $?: $(tail -n 1 /tmp/record.$i)"
		read -r n gap span < <(gaps /tmp/data.$i)
		total=$((total + n))
		[ "$n" -ge 20 ] || fail "process $i: only $n samples in $1 s"
		[ "$gap" -lt $most ] || fail "process $i: no sample for $gap ms of $1 s"
		[ "$span" -ge $((500 * $1)) ] || fail "process $i: samples in $span ms of $1 s only"
	done
	perf report -i /tmp/data.0 --stdio --header-only > /tmp/header 2> /dev/null
	for event in ${EVENTS//,/ }; do
		grep -q "name = $event," /tmp/header || fail "$event is not in the data"
	done
	! grep -h -E 'LOST|lost' /tmp/record.* || fail "samples were lost"
}

for ((left = DURATION; left > 0; left -= PART)); do
	part $((left < PART ? left : PART))
done
nmi=$(awk '/^ *NMI:/ { print $2 + $3 }' /proc/interrupts)
[ "$nmi" -ge "$((total / 4))" ] || fail "$nmi NMIs for $total samples"
echo "# summary: $CPU: $total samples, $nmi NMIs in $DURATION s"
[ $bad -eq 0 ]
