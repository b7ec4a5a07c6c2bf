# SPDX-License-Identifier: GPL-2.0-only
# In the guest: each test twice, the second time sampled. A test passes, or skips
# what the CPU lacks, and it does the same both times.
set -u

KSFT_SKIP=4
bad=0 passed=0 skipped=0

fail()
{
	echo "not ok: $*"
	bad=1
}

# All that a user starts; the others are started by them, or need a module. Those of
# seccomp need it in the kernel, and are not about these registers.
tests()
{
	(cd /root/arm64 && find . -maxdepth 1 -type f -perm -100 | sort | cut -c3-) |
		grep -vE '^(fp-pidbench|fp-stress|kernel-test|rdvl-.*|vlset|.*-stress|seccomp_.*|(fpsimd|s?sve|z[at])-test)$'
	echo 'fp-stress --timeout 5'
}

# run_all NAME: results in NAME/, a file for each test with its status last.
run_all()
{
	local cmd status

	mkdir -p "$1"
	while read -r cmd; do
		status=0
		# shellcheck disable=SC2086 # words
		(cd /root/arm64 && timeout 300 ./$cmd) > out 2>&1 < /dev/null || status=$?
		{ cat out; echo "status $status"; } > "$1/${cmd%% *}"
	done < <(tests)
}

# result LOG: how a test ended. The KERNEL- parts of fp-stress look for hash drivers
# by names that this kernel has none of.
result()
{
	if [ "${1##*/}" = fp-stress ] && grep -q '^not ok' "$1" &&
	   ! grep '^not ok' "$1" | grep -qv ' KERNEL-'; then
		echo 'status 0'
	else
		tail -n 1 "$1"
	fi
}

run_all plain

registers=v
[[ $(perf record -I? 2>&1) != *' Z0-31'* ]] || registers=z,p,ffr
perf record -q -a -e cpu-clock -c 1000000 -I$registers --user-regs=$registers -o - \
	> /dev/null 2> errors &
perf=$!
sleep 1
run_all sampled
kill -INT $perf 2> /dev/null || fail "perf record had ended: $(tail -n 1 errors)"
wait $perf

for log in plain/*; do
	name=${log#plain/}
	status=$(result "$log")
	again=$(result "sampled/$name")
	case $status in
	'status 0') passed=$((passed + 1)) ;;
	"status $KSFT_SKIP") skipped=$((skipped + 1)) ;;
	*) tail -n 30 "$log"; fail "$name: $status" ;;
	esac
	if [ "$again" != "$status" ]; then
		tail -n 30 "sampled/$name"
		fail "$name: sampled $again, else $status"
	fi
done
[ $passed -ge 30 ] || fail "only $passed tests passed"
echo "# summary: $passed passed, $skipped skipped, sampled and not"
exit $bad
