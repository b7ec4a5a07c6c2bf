# SPDX-License-Identifier: GPL-2.0-only
# In a guest that has the tests in /root/x86: guest.sh CPU.
set -u

KSFT_SKIP=4
CPU=$1 bad=0 passed=0 skipped=0
TESTS="amx_64 apx_64 avx_64 corrupt_xstate_header_64 ptrace_syscall_32 ptrace_syscall_64
	sigaltstack_32 sigaltstack_64 sigreturn_32 sigreturn_64 test_shadow_stack_64"
# Those that must pass there; of the others each must pass or skip.
REQUIRED='sigreturn_64 sigreturn_32 sigaltstack_64 sigaltstack_32 ptrace_syscall_64 ptrace_syscall_32'
case $CPU in
spr) REQUIRED+=' avx_64 test_shadow_stack_64' ;;
nvl) REQUIRED+=' avx_64 apx_64 test_shadow_stack_64' ;;
zen) REQUIRED+=' avx_64' ;;
esac

for t in $TESTS; do
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
		if [[ " $REQUIRED " == *" $t "* ]]; then
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
