#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SIMD registers in samples made from Intel PT

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

# script FILE: the registers of the sample that a PEBS record becomes.
script() {
  perf script --itrace=o -F raw:ip,iregs -i "$1" 2> "${dir}/errors" |
    sed -e 's/^ *//' -e 's/ *$//' -e 's/  */ /g' > "${dir}/output" || true
}

# test_case CASE: what standard input says.
test_case() {
  tr -d '\t' > "${dir}/expect"
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_pt.py "$1" "${perfdata}"
  script "${perfdata}"
  check_same "script, $1" "${dir}/expect" "${dir}/output"
}

# The samples in a file of their own are the same.
test_inject() {
  perf inject --itrace=o -i "${perfdata}" -o "${dir}/inject" 2> "${dir}/errors" || true
  script "${dir}/inject"
  check_same "inject, $1" "${dir}/expect" "${dir}/output"
}

# test_json CASE: the registers in JSON are what standard input says.
test_json() {
  tr -d '\t' > "${dir}/expect"
  perf data convert --to-json "${dir}/json" --force -i "${perfdata}" > /dev/null 2>&1 || true
  "${PYTHON}" - "${dir}/json" > "${dir}/output" <<- EOF
	import json, sys
	for sample in json.load(open(sys.argv[1]))['samples']:
	    if 'iregs' in sample:
	        print(*(f'{name}:{value}' for name, value in sample['iregs'].items()))
	EOF
  check_same "JSON, $1" "${dir}/expect" "${dir}/output"
}

test_case xmm <<- EOF
	401136 ABI:6 AX:0xa IP:0x401136 \
	XMM0:0x7ec00000000000017ec0000000000000 XMM2:0x7ec00000000020017ec0000000002000 \
	XMM15:0x7ec000000000f0017ec000000000f000
EOF
test_inject xmm

test_case wide <<- EOF
	401136 ABI:6 AX:0xa IP:0x401136 \
	XMM0:0x7ec00000000000017ec0000000000000 XMM2:0x7ec00000000020017ec0000000002000 \
	XMM15:0x7ec000000000f0017ec000000000f000
EOF
test_inject wide
test_json wide <<- EOF
	AX:0xa IP:0x401136 \
	XMM0:0x7ec00000000000017ec0000000000000 XMM2:0x7ec00000000020017ec0000000002000 \
	XMM15:0x7ec000000000f0017ec000000000f000
EOF

test_case part <<- EOF
	401136 ABI:6 AX:0xa IP:0x401136 \
	XMM0:0x7ec00000000000017ec0000000000000
EOF
test_inject part

test_case none <<- EOF
	401136 ABI:2 AX:0xa IP:0x401136
EOF
test_inject none
test_json none <<- EOF
	AX:0xa IP:0x401136
EOF

test_case counter-63 <<- EOF
	401136 ABI:6 AX:0xa IP:0x401136 \
	XMM0:0x7ec00000000000017ec0000000000000 XMM2:0x7ec00000000020017ec0000000002000 \
	XMM15:0x7ec000000000f0017ec000000000f000
EOF

test_case counter-64 < /dev/null
grep -o 'Bad AUX output hardware ID' "${dir}/errors" > "${dir}/output" || true
echo 'Bad AUX output hardware ID' > "${dir}/expect"
check_same "message, counter-64" "${dir}/expect" "${dir}/output"

test_case legacy <<- EOF
	401136 ABI:2 AX:0xa IP:0x401136 \
	XMM15[1]:0x7ec000000000f001 XMM0:0x7ec00000000000017ec0000000000000
EOF
test_inject legacy

cleanup
exit ${err}
