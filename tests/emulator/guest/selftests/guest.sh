# SPDX-License-Identifier: GPL-2.0-only
# In the guest: guest.sh CPU TESTS REQUIRED.
set -u

KSFT_SKIP=4
CPU=$1 bad=0 passed=0 skipped=0

for t in $2; do
	status=0
	timeout 120 "/root/x86/$t" > /tmp/out 2>&1 || status=$?
	# Without the feature some of them say so and end with 0 or 1, or find
	# nothing to test.
	if [ $status -le 1 ] && ! grep -qE '\[OK\]|^ok |\[FAIL\]|^not ok' /tmp/out; then
		status=$KSFT_SKIP
	fi
	case $status,$(grep -qE '\[FAIL\]|^not ok' /tmp/out && echo failed) in
	0,)
		passed=$((passed + 1))
		echo "# ok $CPU: $t" ;;
	$KSFT_SKIP,)
		skipped=$((skipped + 1))
		echo "# skip $CPU: $t: $(grep -m1 -E 'SKIP' /tmp/out || tail -n 1 /tmp/out)"
		if [[ " $3 " == *" $t "* ]]; then
			echo "not ok: $CPU: $t must run there"
			bad=1
		fi ;;
	*)
		bad=1
		tail -n 30 /tmp/out
		echo "not ok: $CPU: $t: status $status" ;;
	esac
done
echo "# summary: $CPU: $passed passed, $skipped skipped"
[ $bad -eq 0 ]
