#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf record of SIMD registers

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

seconds=${SIMD_REGS_SECONDS:-1}

skip() {
  echo "Skip: $1"
  cleanup
  exit 2
}

fail() {
  echo "$1 [Failed] $2"
  err=1
}

# The event that every machine has. The rate is one that emulators keep up with.
record() {
  perf record -e cpu-clock -F 997 -o "${perfdata}" "$@" > /dev/null 2> "${dir}/errors"
}

# Compare the registers of samples with what the workload keeps in them.
#
# Input: lines of perf script with the sample's IP and registers, those of the
# side in question last. Word q of register r is 51d000RR0000000Q, so that the
# whole register is a number that starts with its highest word.
#
# Prints how many samples were right, wrong and had no SIMD registers.
check_values() {
  awk -v class="$1" -v first="$2" -v last="$3" -v qwords="$4" '
    function expected(reg,  q, value) {
      value = ""
      for (q = qwords - 1; q >= 0; q--)
        value = value sprintf("51d0%04x%08x", reg, q)
      return class reg ":0x" value
    }
    BEGIN {
      for (reg = first; reg <= last; reg++)
        all = all (all == "" ? "" : " ") expected(reg)
      right = wrong = absent = 0
    }
    {
      at = match($0, class "[0-9]+:0x")
      if (!at) {
        absent++
        next
      }
      found = substr($0, at)
      sub(/ +$/, "", found)
      if (found == all)
        right++
      else if (!wrong++)
        print "wrong: " $0 > "/dev/stderr"
    }
    END { print right, wrong, absent }
  '
}

# $1 what, $2 "right wrong absent"
judge() {
  local right wrong absent

  read -r right wrong absent <<< "$2"
  if [ "${wrong}" -gt 0 ]
  then
    fail "$1" "${wrong} samples have wrong values, ${right} right ones, ${absent} none"
  elif [ "${right}" -lt 10 ]
  then
    fail "$1" "${right} samples have values, ${absent} none"
  else
    echo "$1 [Success] ${right} samples right, ${absent} without SIMD registers"
  fi
}

# Samples in the loop that has all values in place.
in_loop() {
  perf script -i "${perfdata}" -F ip,sym,"$1" 2> /dev/null |
    grep -w simdregs_loop || true
}

test_intr_side() {
  if ! record -I"${name}" perf test -w simdregs "${seconds}"
  then
    fail "intr registers" "$(tail -3 "${dir}/errors")"
    return
  fi
  judge "intr registers" "$(in_loop iregs | check_values "${class}" 0 "${last}" "${qwords}")"
}

test_user_side() {
  if ! record --user-regs="${name}" perf test -w simdregs "${seconds}"
  then
    fail "user registers" "$(tail -3 "${dir}/errors")"
    return
  fi
  judge "user registers" "$(in_loop uregs | check_values "${class}" 0 "${last}" "${qwords}")"
}

# A part of a class, a different one on each side.
test_subset() {
  if ! record -I"${name}4-6" --user-regs="${name}2,${name}3,${pc}" \
       perf test -w simdregs "${seconds}"
  then
    fail "some registers" "$(tail -3 "${dir}/errors")"
    return
  fi
  judge "some registers, intr" "$(in_loop iregs | check_values "${class}" 4 6 "${qwords}")"
  judge "some registers, user" "$(in_loop uregs | check_values "${class}" 2 3 "${qwords}")"
}

# User registers of samples that are taken in the kernel, when the loop is in a
# system call. The loop is where the user IP of the sample is.
test_kernel_hits() {
  local range total

  if ! record --user-regs="${name},${pc}" perf test -w simdregs "${seconds}" syscall
  then
    fail "kernel hits" "$(tail -3 "${dir}/errors")"
    return
  fi
  range=$(in_loop uregs | awk '{ print $1 }' | sort -u)
  perf script -i "${perfdata}" -F ip,sym,uregs 2> /dev/null | grep -vw simdregs_loop |
    awk -v pc="${pc}" -v range="${range}" '
      BEGIN {
        n = split(range, ips, "\n")
        for (i = 1; i <= n; i++)
          loop["0x" ips[i]] = 1
      }
      {
        for (i = 1; i <= NF; i++)
          if (split($i, reg, ":") == 2 && tolower(reg[1]) == pc && (reg[2] in loop))
            print
      }' > "${dir}/hits"
  total=$(wc -l < "${dir}/hits")
  if [ "${total}" -lt 10 ]
  then
    echo "kernel hits [Skipped] ${total} samples in system calls of the loop"
    return
  fi
  judge "kernel hits" "$(check_values "${class}" 0 "${last}" "${qwords}" < "${dir}/hits")"
}

# The long form shows the same numbers.
test_dump() {
  local word lines

  record -I"${name}" perf test -w simdregs "${seconds}" || true
  word=$(printf '%s %s[%d][%d] 0x51d0%04x%08x' '....' "${class}" "${last}" \
         $((qwords - 1)) "${last}" $((qwords - 1)))
  perf report -D -i "${perfdata}" > "${dir}/dump" 2> /dev/null
  lines=$(grep -a -c -F "${word}" "${dir}/dump" || true)
  if [ "${lines}" -lt 10 ]
  then
    fail "report -D" "${lines} times \"${word}\""
  elif ! grep -a -q "regs: mask 0x.* ABI .*-bit SIMD" "${dir}/dump" ||
       ! grep -a -q "SIMD ABI nr_vectors $((last + 1)) vector_qwords ${qwords} " "${dir}/dump"
  then
    fail "report -D" "header lines are missing"
  else
    echo "report -D [Success]"
  fi
}

# No detour: what perf inject reads from one pipe and writes to another.
test_pipe() {
  perf record -q -e cpu-clock -F 997 -I"${name}" -o - \
    perf test -w simdregs "${seconds}" 2> /dev/null |
    perf inject -b -i - -o - 2> /dev/null > "${perfdata}"
  judge "pipe" "$(in_loop iregs | check_values "${class}" 0 "${last}" "${qwords}")"
}

# General purpose registers alone make the attr that they always made.
test_gprs_alone() {
  if ! record -vv -I"${pc}" --user-regs="${pc}" true || grep -q 'sample_simd' "${dir}/errors"
  then
    fail "GPRs alone" "$(grep sample_simd "${dir}/errors")"
    return
  fi
  record -vv -I"${pc},${name}0" true || true
  if ! grep -q 'sample_simd_regs_enabled *1' "${dir}/errors" ||
     ! grep -q 'sample_simd_vec_reg_intr *0x1$' "${dir}/errors" ||
     ! perf evlist -v -i "${perfdata}" | grep -q 'sample_simd_vec_reg_intr: 0x1\b'
  then
    fail "attr" "the SIMD fields are not shown"
    return
  fi
  echo "attr [Success]"
}

test_bad_names() {
  local name

  for name in simd0 "${class}99" "${class}3-1" "${class}0-" ''
  do
    if record -I"${pc},${name}" true
    then
      fail "bad names" "\"${name}\" is accepted"
      return
    elif ! grep -q "Cannot sample register \"${name}\": " "${dir}/errors" ||
         ! grep -q "available registers: " "${dir}/errors"
    then
      fail "bad names" "\"${name}\" is refused without a reason"
      return
    fi
  done
  echo "bad names [Success]"
}

available=$(perf record -I\? 2>&1 | grep 'available registers:' || true)

# What the workload fills: see tests/workloads/simdregs.c.
case $(uname -m) in
x86_64)
  pc=ip
  if grep -qw avx /proc/cpuinfo
  then
    class=YMM qwords=4
  else
    class=XMM qwords=2
  fi
  last=15
  ;;
aarch64)
  pc=pc class=V qwords=2 last=31
  ;;
*)
  skip "no workload for $(uname -m)"
  ;;
esac
name=${class,,}

case ${available} in
*" ${class}0-${last}"*)
  ;;
*)
  skip "this kernel cannot sample ${class} registers: ${available}"
  ;;
esac

test_intr_side
test_user_side
test_subset
test_kernel_hits
test_dump
test_pipe
test_gprs_alone
test_bad_names

cleanup
exit ${err}
