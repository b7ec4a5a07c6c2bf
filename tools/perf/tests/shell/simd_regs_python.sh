#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SIMD registers in Python scripts

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

if ! perf check feature -q libpython
then
  echo "[Skipped: no libpython support]"
  cleanup
  exit 2
fi

# Scripts of the source tree, if that is where this test is.
if [ -e "${shelldir}/../../scripts/python/Perf-Trace-Util" ]
then
  PERF_EXEC_PATH=$(realpath "${shelldir}/../..")
else
  PERF_EXEC_PATH=$(perf --exec-path)
fi
export PERF_EXEC_PATH
scripts=${PERF_EXEC_PATH}/scripts/python

make_data() {
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_data.py "$1" "$2" "${perfdata}"
}

# Compare what is in the file "output" with standard input. Lines that are continued
# have the indentation in them.
check() {
  tr -d '\t' > "${dir}/expect"
  check_same "$1" "${dir}/expect" "${dir}/output"
}

# The registers of each sample: how many bytes they have, the first and the last word.
cat > "${dir}/registers.py" <<- EOF
	def process_event(event):
	    print(event['iregs'].split()[0])
	    for side in 'simd_iregs', 'simd_uregs':
	        regs = event.get(side)
	        print(side, 'none' if regs is None else ' '.join(
	            '%s:%d:%s:%s' % (name, len(data), data[:8].hex(), data[-8:].hex())
	            for name, data in regs.items()))
EOF

run_script() {
  local status=0

  perf script -i "${perfdata}" -s "$@" > "${dir}/output" 2> "${dir}/errors" || status=$?
  if [ "${status}" -ne 0 ]
  then
    echo "$1 [Failed: status ${status}]"
    cat "${dir}/errors"
    err=1
  fi
}

test_handlers() {
  make_data x86 "$1"
  run_script "${dir}/registers.py"
  check "handlers, x86 $1" <<- EOF
	IP:0x401136
	simd_iregs ZMM2:64:000000000000c07e:070000000000c07e \
	ZMM16:64:001000000000c07e:071000000000c07e OPMASK7:8:000000000000ed94:000000000000ed94
	simd_uregs OPMASK1:8:000000000000ed94:000000000000ed94
	IP:0x401136
	simd_iregs none
	simd_uregs none
	EOF

  make_data arm64 "$1"
  run_script "${dir}/registers.py"
  check "handlers, arm64 $1" <<- EOF
	pc:0x401136
	simd_iregs Z0:32:000000000000c07e:030000000000c07e \
	Z31:32:001000000000c07e:031000000000c07e \
	P15:8:000000000000ed94:000000000000ed94 FFR:8:001000000000ed94:001000000000ed94
	simd_uregs Z1:32:000000000000c07e:030000000000c07e
	pc:0x401136
	simd_iregs V0:16:000000000000c07e:010000000000c07e V31:16:001000000000c07e:011000000000c07e
	simd_uregs V1:16:000000000000c07e:010000000000c07e
	EOF
}

# The script that sums it up sees the same in perf as in JSON.
test_by_symbol() {
  make_data lanes "$1"
  rm -f "${dir}"/*.html "${dir}/json"
  run_script "${scripts}/simd-regs.py" -- --html "${dir}/1.html"
  check "by symbol, $1" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  [unknown]
	EOF

  perf data convert --to-json "${dir}/json" -i "${perfdata}" > /dev/null 2>&1 || true
  "${PYTHON}" "${scripts}/simd-regs.py" --json "${dir}/json" --html "${dir}/2.html" > /dev/null
  check_same "by symbol, as a page, $1" "${dir}/2.html" "${dir}/1.html"

  # What is no number or infinite as a float need not be as a half of a double.
  run_script "${scripts}/simd-regs.py" -- --type f64
  check "by symbol, f64, $1" <<- EOF
	# lanes are f64
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256   50.0%   20.0%   20.0%   40.0%    0.0%    0.0%   20.0%  [unknown]
	EOF

  # Nobody has asked for vectors of the user side.
  run_script "${scripts}/simd-regs.py" -- --user
  check "by symbol, no registers, $1" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	EOF
}

# "perf script record" and "perf script report" run these.
test_wrappers() {
  local list args

  perf script -l > "${dir}/output" 2> /dev/null || true
  sed -i -n 's/  */ /g; /simd-regs/p' "${dir}/output"
  check "perf script -l" <<- EOF
	 simd-regs [-- --type TYPE --user --html FILE] what is in vector registers, by symbol
	EOF

  make_data lanes little
  perf script report simd-regs -i "${perfdata}" 2> "${dir}/errors" > "${dir}/output" || true
  sed -i -n 3p "${dir}/output"
  check "perf script report" <<- EOF
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  [unknown]
	EOF

  # A perf that has these registers, and tells what it is asked to record.
  mkdir "${dir}/bin"
  cat > "${dir}/bin/perf" <<- 'EOF'
	#!/bin/sh
	case $2 in
	-I\?) echo "available registers: ${REGS}" >&2; exit 1 ;;
	*) echo "$@" ;;
	esac
	EOF
  chmod +x "${dir}/bin/perf"
  while read -r args list
  do
    REGS=${list} PATH=${dir}/bin:${PATH} sh "${scripts}/bin/simd-regs-record" -a true 2>&1
    echo "${args}" >> "${dir}/expected"
  done > "${dir}/output" <<- EOF || true
	-Izmm,opmask AX R8 R31 SSP XMM0-15 YMM0-15 ZMM0-31 OPMASK0-7
	-Iymm AX R15 XMM0-15 YMM0-15
	-Iv x0 x1 sp pc V0-31
	-Iz,p x0 x1 sp pc vg V0-31 Z0-31 P0-15 FFR
	EOF
  # Not in a pipe: what is found to be wrong there would not be known here.
  sed -i 's/.*/record & -a true/; s/-I[a-z,]*/\U&/' "${dir}/expected"
  check "perf script record" < "${dir}/expected"
  if REGS="AX BX" PATH=${dir}/bin:${PATH} sh "${scripts}/bin/simd-regs-record" true > /dev/null 2>&1
  then
    echo "perf script record without vectors [Failed]"
    err=1
  fi
}

for order in little big
do
  test_handlers "${order}"
  test_by_symbol "${order}"
done
test_wrappers

cleanup
exit ${err}
