# SPDX-License-Identifier: GPL-2.0
# What the tests of SIMD registers have in common: a folder that does not outlive
# the test, and the perf.data file in it. A failed check sets err; a test ends with
# cleanup and that as its status.

# shellcheck disable=SC2034 # err and perfdata are for the tests
err=0
dir=$(mktemp -d /tmp/__perf_test.simd_regs.XXXXX)
perfdata="${dir}/perf.data"

cleanup() {
  rm -rf "${dir}"
  trap - EXIT TERM INT
}

trap_cleanup() {
  echo "Unexpected signal in ${FUNCNAME[1]}"
  cleanup
  exit 1
}
trap trap_cleanup EXIT TERM INT

# check_same NAME EXPECTED OUTPUT: two files, of which one may be "-".
check_same() {
  if ! diff "$2" "$3" > "${dir}/diff"
  then
    echo "$1 [Failed]"
    cat "${dir}/diff"
    err=1
    return
  fi
  echo "$1 [Success]"
}

# run COMMAND...: it reads ${perfdata} and leaves what it prints in the files output and
# errors. How it ends is in ${status}, and in ${ends}: well; refused, with an error,
# which is a negative number cut to 8 bits; killed, by a signal, which comes right after
# 128; hung, if it takes more than a minute; or unsound, if a sanitizer of this perf
# complains.
run() {
  status=0
  timeout 60 "$@" > "${dir}/output" 2> "${dir}/errors" < "${perfdata}" || status=$?

  ends=refused
  if grep -q -e 'Sanitizer' -e 'runtime error' "${dir}/errors"
  then
    ends=unsound
  elif [ "${status}" -eq 0 ]
  then
    ends=well
  elif [ "${status}" -eq 124 ]
  then
    ends=hung
  elif [ "${status}" -gt 128 ] && [ "${status}" -lt 192 ]
  then
    # shellcheck disable=SC2034 # for the tests
    ends=killed
  fi
}
