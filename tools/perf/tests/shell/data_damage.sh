#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Damaged perf.data files

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

make_data="${shelldir}/lib/data_damage.py"

# refuses COMMAND...: it reads ${perfdata}, says ${message} and ends with an error,
# which is a negative number cut to 8 bits. Signals come right after 128.
refuses() {
  local status=0

  "$@" > "${dir}/output" 2> "${dir}/errors" < "${perfdata}" || status=$?

  if [ "${status}" -eq 0 ] || { [ "${status}" -gt 128 ] && [ "${status}" -lt 192 ]; }
  then
    echo "$*, ${case} ${order} [Failed: status ${status}]"
  elif ! grep -q -F -e "${message}" "${dir}/errors"
  then
    echo "$*, ${case} ${order} [Failed: not said: ${message}]"
  elif grep -q -e 'Sanitizer' -e 'runtime error' "${dir}/errors"
  then
    echo "$*, ${case} ${order} [Failed: sanitizer]"
  else
    return 0
  fi
  cat "${dir}/errors"
  bad=1
}

for case in $("${PYTHON}" -B "${make_data}" list)
do
  bad=0
  for order in little big
  do
    message=$("${PYTHON}" -B "${make_data}" "${case}" "${order}" "${perfdata}")
    if [ "${case#pipe-}" != "${case}" ]
    then
      refuses perf script -F ip -i -
      refuses perf report -D -i -
    else
      refuses perf script -F ip -i "${perfdata}"
      refuses perf report -D -i "${perfdata}"
      refuses perf inject -i "${perfdata}" -o "${dir}/inject"
    fi
  done
  if [ "${bad}" -eq 0 ]
  then
    echo "${case} [Success]"
  else
    err=1
  fi
done

cleanup
exit ${err}
