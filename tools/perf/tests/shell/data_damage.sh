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
native=$("${PYTHON}" -c 'import sys; print(sys.byteorder)')

# expect_end COMMAND...: it prints ${message} and ends as ${wanted}.
expect_end() {
  run "$@"
  if [ "${ends}" != "${wanted}" ]
  then
    echo "$*, ${case} ${order} [Failed: ${ends}, status ${status}]"
  elif [ "${message}" ] && ! grep -q -F -e "${message}" "${dir}/errors"
  then
    echo "$*, ${case} ${order} [Failed: message missing: ${message}]"
  else
    return 0
  fi
  cat "${dir}/errors"
  bad=1
}

# expect_no_crash COMMAND...: it ends well or with an error, and in time.
expect_no_crash() {
  run "$@"
  if [ "${status}" -eq 124 ] || { [ "${ends}" != well ] && [ "${ends}" != refused ]; }
  then
    echo "$*, ${case} ${order} [Failed: ${ends}, status ${status}]"
    cat "${dir}/errors"
    bad=1
  fi
}

for case in $("${PYTHON}" -B "${make_data}" list)
do
  bad=0
  wanted=refused
  [ "${case#*-skipped-}" = "${case}" ] || wanted=well
  orders='little big'
  [ "${case#*-native-}" = "${case}" ] || orders=${native}
  for order in ${orders}
  do
    message=$("${PYTHON}" -B "${make_data}" "${case}" "${order}" "${perfdata}")
    from=${perfdata}
    [ "${case#pipe-}" = "${case}" ] || from=-
    if [ "${case#pipe-stat-}" != "${case}" ]
    then
      expect_end perf stat report -i -
      continue
    elif [ "${case#*-timed-}" != "${case}" ]
    then
      expect_end timeout 60 perf script --time 1,2 -F ip -i "${from}"
      continue
    fi
    expect_end perf script -F ip -i "${from}"
    [ "${case#*-decoded-}" = "${case}" ] || continue
    expect_end perf report -D -i "${from}"
    expect_end perf report --stdio -i "${from}"
    if [ "${from}" = - ]
    then
      # It copies records that it doesn't look at.
      expect_no_crash timeout 60 perf inject -i - -o "${dir}/inject"
    else
      expect_end perf inject -i "${from}" -o "${dir}/inject"
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
