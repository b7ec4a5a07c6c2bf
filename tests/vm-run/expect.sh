# SPDX-License-Identifier: GPL-2.0-only
# For the tests of vm-run: compares what it says and how it ends. Sourced.

set -eu -o pipefail

# vm_run STATUS ARG...: vm-run must end with STATUS; its output is left in $OUT.
vm_run()
{
	local want=$1 got=0

	shift
	vm-run "$@" > "$OUT" 2>&1 || got=$?
	sed 's/^/    /' "$OUT"
	[ $got -eq "$want" ] || fail "ended with $got instead of $want"
}

# says TEXT: the output has it.
says()
{
	grep -qF -- "$1" "$OUT" || fail "does not say: $1"
}

fail()
{
	echo "error: vm-run $1"
	exit 1
}

OUT=$(mktemp)
trap 'rm -rf "$OUT"*' EXIT
