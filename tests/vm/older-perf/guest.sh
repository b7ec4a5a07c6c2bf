# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: records with call chains, with general purpose registers alone
# and with SIMD registers on one side and on both.
set -eu -o pipefail

# record FILE OPTION...
record()
{
	local file=$1

	shift
	perf record -q -e cpu-clock -c 4000000 -g "$@" -o "$file" -- perf test -w simdregs 1
}

record gpr.data -Iip,ax --user-regs=sp
record simd.data -Iip,ymm
record - -Iip,ax --user-regs=sp | cat > gpr.pipe
record - -Iip,ymm | cat > simd.pipe
record - -Iip,ymm --user-regs=ip,ymm | cat > both.pipe
tar cf files.tar *.data *.pipe
