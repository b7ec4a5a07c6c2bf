# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: guest.sh NAME SKIP runs the test NAME, or all but those
# whose name matches SKIP.
set -eu -o pipefail

name=$1 skip=$2

# perf takes numbers, and an added test shifts them.
numbers_of()
{
	perf test list 2>&1 | sed -n -E 's/^ *([0-9]+): (.*)/\1 \2/p' | grep -E "$1" |
		cut -d' ' -f1
}

cd /tmp
if [ -n "$name" ]; then
	exec perf test -S -v "$name"
fi
perf test -S -s "$(numbers_of "$skip" | paste -sd,)" 2>&1 | grep -v 'Running ('
