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
