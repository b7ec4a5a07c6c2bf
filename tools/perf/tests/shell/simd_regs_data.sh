#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SIMD registers in perf.data files of other machines

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

# The process of the file has a file of this machine mapped, perf itself: the
# names of its registers must not come from there.
make_data() {
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_data.py "$1" "$2" "${perfdata}" "$(command -v perf)"
}

# Lines that are continued have the indentation in them.
expect() {
  tr -d '\t' > "${dir}/expect"
}

# Compare standard input with the output that $1 names.
check() {
  check_same "$1" "${dir}/expect" -
}

test_dump() {
  expect
  perf report -D -i "${perfdata}" 2> /dev/null | grep -a '^\.\.\.' |
    grep -v -e ' thread: ' -e ' dso: ' -e 'phys_addr' > "${dir}/output" || true
  check "report -D, $1 $2" < "${dir}/output"
}

test_script() {
  expect
  perf script -F ip,iregs,uregs -i "${perfdata}" 2> /dev/null |
    sed -e 's/^ *//' -e 's/ *$//' -e 's/  */ /g' > "${dir}/output" || true
  check "script, $1 $2" < "${dir}/output"
}

test_attr() {
  expect
  perf evlist -v -i "${perfdata}" 2> /dev/null |
    grep -o 'sample_regs_user.*' > "${dir}/output" || true
  check "evlist -v, $1 $2" < "${dir}/output"
}

# What goes through a pipe comes out as it was.
test_pipe() {
  perf script -F ip,iregs,uregs -i "${perfdata}" > "${dir}/expect" 2> /dev/null || true
  perf inject -i "${perfdata}" -o - 2> /dev/null |
    perf script -F ip,iregs,uregs -i - > "${dir}/output" 2> /dev/null || true
  check "pipe, $1 $2" < "${dir}/output"
}

# What is written to another file, too. That is in the byte order of this machine.
test_inject() {
  perf script -F ip,iregs,uregs -i "${perfdata}" > "${dir}/expect" 2> /dev/null || true
  perf inject -i "${perfdata}" -o "${dir}/inject" 2> /dev/null
  perf script -F ip,iregs,uregs -i "${dir}/inject" > "${dir}/output" 2> /dev/null || true
  check "inject, $1 $2" < "${dir}/output"
}

test_x86() {
  make_data x86 "$1"

  test_attr x86 "$1" <<- EOF
	sample_regs_user: 0x10001000000, sample_regs_intr: 0x100, sample_simd_regs_enabled: 1, \
	sample_simd_vec_reg_qwords: 8, sample_simd_vec_reg_intr: 0x80010004, \
	sample_simd_pred_reg_qwords: 1, sample_simd_pred_reg_intr: 0x80, \
	sample_simd_pred_reg_user: 0x2
	EOF

  test_dump x86 "$1" <<- EOF
	... user regs: mask 0x10001000000 ABI 64-bit SIMD
	.... R16   0x0000000000000016
	.... SSP   0x0000000000000055
	... SIMD ABI nr_vectors 0 vector_qwords 0 nr_pred 1 pred_qwords 1
	.... OPMASK[1] 0x94ed000000000000
	... intr regs: mask 0x100 ABI 64-bit SIMD
	.... IP    0x0000000000401136
	... SIMD ABI nr_vectors 2 vector_qwords 8 nr_pred 1 pred_qwords 1
	.... ZMM[2][0] 0x7ec0000000000000
	.... ZMM[2][1] 0x7ec0000000000001
	.... ZMM[2][2] 0x7ec0000000000002
	.... ZMM[2][3] 0x7ec0000000000003
	.... ZMM[2][4] 0x7ec0000000000004
	.... ZMM[2][5] 0x7ec0000000000005
	.... ZMM[2][6] 0x7ec0000000000006
	.... ZMM[2][7] 0x7ec0000000000007
	.... ZMM[16][0] 0x7ec0000000001000
	.... ZMM[16][1] 0x7ec0000000001001
	.... ZMM[16][2] 0x7ec0000000001002
	.... ZMM[16][3] 0x7ec0000000001003
	.... ZMM[16][4] 0x7ec0000000001004
	.... ZMM[16][5] 0x7ec0000000001005
	.... ZMM[16][6] 0x7ec0000000001006
	.... ZMM[16][7] 0x7ec0000000001007
	.... OPMASK[7] 0x94ed000000000000
	... intr regs: mask 0x100 ABI 64-bit
	.... IP    0x0000000000401136
	EOF

  test_script x86 "$1" <<- EOF
	401136 ABI:6 IP:0x401136 \
	ZMM2:0x7ec00000000000077ec00000000000067ec00000000000057ec0000000000004\
	7ec00000000000037ec00000000000027ec00000000000017ec0000000000000 \
	ZMM16:0x7ec00000000010077ec00000000010067ec00000000010057ec0000000001004\
	7ec00000000010037ec00000000010027ec00000000010017ec0000000001000 \
	OPMASK7:0x94ed000000000000 \
	ABI:6 R16:0x16 SSP:0x55 OPMASK1:0x94ed000000000000
	401136 ABI:2 IP:0x401136
	EOF

  test_pipe x86 "$1"
  [ "$1" != "${native}" ] || test_inject x86 "$1"
}

test_arm64() {
  make_data arm64 "$1"

  test_script arm64 "$1" <<- EOF
	401136 ABI:6 pc:0x401136 \
	Z0:0x7ec00000000000037ec00000000000027ec00000000000017ec0000000000000 \
	Z31:0x7ec00000000010037ec00000000010027ec00000000010017ec0000000001000 \
	P15:0x94ed000000000000 FFR:0x94ed000000001000 \
	ABI:6 sp:0x5000 \
	Z1:0x7ec00000000000037ec00000000000027ec00000000000017ec0000000000000
	401136 ABI:6 pc:0x401136 V0:0x7ec00000000000017ec0000000000000 \
	V31:0x7ec00000000010017ec0000000001000 \
	ABI:6 sp:0x5000 V1:0x7ec00000000000017ec0000000000000
	EOF

  test_pipe arm64 "$1"
  [ "$1" != "${native}" ] || test_inject arm64 "$1"
}

# Bits that mean other registers without the SIMD fields.
test_legacy() {
  make_data legacy "$1"

  test_script legacy "$1" <<- EOF
	401136 ABI:2 XMM3:0x00000000000000340000000000000033 ABI:2 SP:0x5000
	EOF

  [ "$1" = "${native}" ] || return 0
  test_inject legacy "$1"
  # A perf that is older than the SIMD fields reads a file without: the attr ends before
  # them, which both the header, with 16 bytes for the IDs, and the attr itself say.
  printf '%s\n' 120 'size: 104' | expect
  {
    od -A n -t u8 -j 16 -N 8 "${dir}/inject" | tr -d ' '
    perf evlist -v -i "${dir}/inject" 2> /dev/null | grep -o 'size: [0-9]*'
  } > "${dir}/output" || true
  check "size of attrs, legacy $1" < "${dir}/output"
}

# Where perf inject takes registers out of samples, the attr has none of them either.
test_stripped() {
  make_data dwarf "$1"
  expect <<- EOF
	sample_regs_intr: 0x100, sample_simd_regs_enabled: 1, sample_simd_vec_reg_qwords: 2, \
	sample_simd_vec_reg_intr: 0x1
	401136 ABI:6 IP:0x401136 XMM0:0x7ec00000000000017ec0000000000000
	EOF
  perf inject --convert-callchain -i "${perfdata}" -o "${dir}/inject" 2> /dev/null || true
  {
    perf evlist -v -i "${dir}/inject" | grep -o 'sample_regs.*'
    perf script -G -F ip,iregs -i "${dir}/inject" | sed -e 's/^ *//' -e 's/ *$//' -e 's/  */ /g'
  } > "${dir}/output" 2> /dev/null || true
  check "inject --convert-callchain, $1" < "${dir}/output"

  make_data aslr "$1"
  printf ' 4K\nattr: 0\n 4K\nattr: 0\n' | expect
  perf inject --aslr -i "${perfdata}" -o "${dir}/inject" 2> /dev/null || true
  perf inject -i "${perfdata}" -o - 2> /dev/null |
    perf inject --aslr -i - -o - 2> /dev/null > "${dir}/pipe" || true
  {
    perf script -F code_page_size -i "${dir}/inject"
    echo "attr: $(perf evlist -v -i "${dir}/inject" | grep -c regs)"
    perf script -F code_page_size -i - < "${dir}/pipe"
    echo "attr: $(perf evlist -v -i - < "${dir}/pipe" | grep -c regs)"
  } 2> /dev/null > "${dir}/output" || true
  check "inject --aslr, $1" < "${dir}/output"
}

# As mainline's perf prints it: a line for each of 34 GPRs, 32 * 8 words and 8 masks.
mainline_side() {
  cat <<- EOF
	1 ... $1 regs: mask 0x1ffffff01ff ABI 64-bit SIMD
	1 AX
	1 BX
	1 CX
	1 DX
	1 SI
	1 DI
	1 BP
	1 SP
	1 IP
	24 R
	1 SSP
	1 ... SIMD ABI nr_vectors 32 vector_qwords 8 nr_pred 8 pred_qwords 1
	256 ZMM
	8 OPMASK
	EOF
}

test_mainline() {
  make_data mainline "$1"

  perf report -D -i "${perfdata}" 2> /dev/null |
    sed -n -E 's/^\.\.\.\. ([A-Z]+)[0-9]*(\[[0-9]+\])* +0x.*/\1/p; /^\.\.\. (user|intr|SIMD)/p' |
    uniq -c | sed 's/^ *//' > "${dir}/output" || true
  { mainline_side user; mainline_side intr; } | expect
  check "report -D, mainline $1" < "${dir}/output"
  test_pipe mainline "$1"
}

native=$("${PYTHON}" -c 'import sys; print(sys.byteorder)')

for order in little big
do
  test_x86 "${order}"
  test_arm64 "${order}"
  test_legacy "${order}"
  test_mainline "${order}"
done
test_stripped "${native}"

cleanup
exit ${err}
