#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SIMD registers in hostile perf.data files

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

make_data="${shelldir}/lib/simd_regs_hostile.py"
native=$("${PYTHON}" -c 'import sys; print(sys.byteorder)')

failed() {
  echo "$1 [Failed: $2]"
  cat "${dir}/errors"
  err=1
}

# refuses NAME MESSAGE COMMAND...: an error that says where and what, after the
# good sample, and nothing worse.
refuses() {
  local name=$1 message=$2

  shift 2
  run "$@"
  if [ "${ends}" != refused ]
  then
    failed "${name}" "${ends}, status ${status}"
  elif [ "$(grep -c -F -e "${message}" "${dir}/errors")" -ne 1 ]
  then
    failed "${name}" "not once: ${message}"
  elif ! grep -q "at offset 0x[0-9a-f]*: can't parse [A-Z_]* ([0-9]*)" "${dir}/errors"
  then
    failed "${name}" "no offset in the file"
  fi
}

# The good sample has been read.
has_good_sample() {
  grep -q "$2" "${dir}/output" || failed "$1" "no good sample"
}

test_case() {
  local case=$1 order message

  for order in little big
  do
    message=$("${PYTHON}" -B "${make_data}" "${case}" "${order}" pipe "${perfdata}")
    # From a pipe perf takes words of two halves as if they were in its own order.
    if [ "${case#raw-}" = "${case}" ] || [ "${order}" = "${native}" ]
    then
      refuses "script -i -, ${case} ${order}" "${message}" perf script -F ip -i -
      has_good_sample "script -i -, ${case} ${order}" 401136
    fi

    message=$("${PYTHON}" -B "${make_data}" "${case}" "${order}" file "${perfdata}")
    refuses "script, ${case} ${order}" "${message}" perf script -F ip -i "${perfdata}"
    has_good_sample "script, ${case} ${order}" 401136
    refuses "report -D, ${case} ${order}" "${message}" perf report -D -i "${perfdata}"
    has_good_sample "report -D, ${case} ${order}" ': 0x401136 period'
    refuses "inject, ${case} ${order}" "${message}" \
      perf inject -i "${perfdata}" -o "${dir}/inject"
  done
}

for case in $("${PYTHON}" -B "${make_data}" list)
do
  before=${err}
  err=0
  test_case "${case}"
  if [ "${err}" -eq 0 ]
  then
    echo "${case} [Success]"
    err=${before}
  fi
done

cleanup
exit ${err}
