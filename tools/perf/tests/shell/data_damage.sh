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

# minds COMMAND...: it says ${message} and ends as ${wanted}.
minds() {
  run "$@"
  if [ "${ends}" != "${wanted}" ]
  then
    echo "$*, ${case} ${order} [Failed: ${ends}, status ${status}]"
  elif [ "${message}" ] && ! grep -q -F -e "${message}" "${dir}/errors"
  then
    echo "$*, ${case} ${order} [Failed: not said: ${message}]"
  else
    return 0
  fi
  cat "${dir}/errors"
  bad=1
}

# copies COMMAND...: it ends well or with an error, and in time.
copies() {
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
    minds perf script -F ip -i "${from}"
    [ "${case#*-decoded-}" = "${case}" ] || continue
    minds perf report -D -i "${from}"
    minds perf report --stdio -i "${from}"
    if [ "${from}" = - ]
    then
      # It copies records that it doesn't look at.
      copies timeout 60 perf inject -i - -o "${dir}/inject"
    else
      minds perf inject -i "${from}" -o "${dir}/inject"
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
