#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SIMD registers in Python's module perf

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

# The module that belongs to this perf, if there is one.
module_dir=$(dirname "$(command -v perf)")/python
[ ! -d "${module_dir}" ] || export PYTHONPATH=${module_dir}
if ! "${PYTHON}" -c 'import perf; perf.session' > /dev/null 2>&1
then
  echo "[Skipped: no module perf]"
  cleanup
  exit 2
fi

# Compare what is in the file "output" with standard input. Lines that are continued
# have the indentation in them.
check() {
  tr -d '\t' > "${dir}/expect"
  check_same "$1" "${dir}/expect" "${dir}/output"
}

# The masks of the event, and registers: their size, the first and the last word.
cat > "${dir}/registers.py" <<- EOF
	import sys
	import perf

	def sample(event):
	    evsel = event.evsel
	    print('%#x' % event.sample_ip, evsel.sample_simd_regs_enabled,
	          evsel.sample_simd_vec_reg_qwords, '%#x' % evsel.sample_simd_vec_reg_intr,
	          '%#x' % evsel.sample_simd_pred_reg_user, '%#x' % evsel.sample_regs_user)
	    for side in 'simd_iregs', 'simd_uregs':
	        regs = getattr(event, side)
	        print(side, 'none' if regs is None else ' '.join(
	            '%s:%d:%s:%s' % (name, len(data), data[:8].hex(), data[-8:].hex())
	            for name, data in list(regs.items())[-3:]))

	perf.session(perf.data(sys.argv[1]), sample=sample).process_events()
EOF

# $1 case, $2 byte order
run_script() {
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_data.py "$1" "$2" "${perfdata}"
  "${PYTHON}" "${dir}/registers.py" "${perfdata}" > "${dir}/output" 2> "${dir}/errors" || {
    echo "module, $1 $2 [Failed]"
    cat "${dir}/errors"
    err=1
  }
}

test_samples() {
  run_script x86 "$1"
  check "samples, x86 $1" <<- EOF
	0x401136 1 8 0x80010004 0x2 0x10001000000
	simd_iregs ZMM2:64:000000000000c07e:070000000000c07e \
	ZMM16:64:001000000000c07e:071000000000c07e OPMASK7:8:000000000000ed94:000000000000ed94
	simd_uregs OPMASK1:8:000000000000ed94:000000000000ed94
	0x401136 1 8 0x80010004 0x2 0x10001000000
	simd_iregs none
	simd_uregs none
	EOF

  run_script arm64 "$1"
  check "samples, arm64 $1" <<- EOF
	0x401136 1 8 0x80000001 0x0 0x80000000
	simd_iregs Z31:32:001000000000c07e:031000000000c07e \
	P15:8:000000000000ed94:000000000000ed94 FFR:8:001000000000ed94:001000000000ed94
	simd_uregs Z1:32:000000000000c07e:030000000000c07e
	0x401136 1 8 0x80000001 0x0 0x80000000
	simd_iregs V0:16:000000000000c07e:010000000000c07e V31:16:001000000000c07e:011000000000c07e
	simd_uregs V1:16:000000000000c07e:010000000000c07e
	EOF

  # More than 4 KiB.
  run_script mainline "$1"
  check "large samples, $1" <<- EOF
	0x401136 1 8 0xffffffff 0xff 0x1ffffff01ff
	simd_iregs OPMASK5:8:005000000000ed94:005000000000ed94 \
	OPMASK6:8:006000000000ed94:006000000000ed94 OPMASK7:8:007000000000ed94:007000000000ed94
	simd_uregs OPMASK5:8:005000000000ed94:005000000000ed94 \
	OPMASK6:8:006000000000ed94:006000000000ed94 OPMASK7:8:007000000000ed94:007000000000ed94
	EOF
}

test_attr() {
  "${PYTHON}" - > "${dir}/output" 2> "${dir}/errors" <<- EOF || true
	import perf
	evsel = perf.evsel()
	fields = ['sample_regs_intr', 'sample_regs_user', 'sample_simd_regs_enabled']
	fields += ['sample_simd_%s_reg_%s' % (kind, what)
	           for kind in ('vec', 'pred') for what in ('qwords', 'intr', 'user')]
	for nr, field in enumerate(fields):
	    setattr(evsel, field, 0x1001 + nr)
	print(*[hex(getattr(evsel, field)) for field in fields], evsel.size >= 176)
	evsel.sample_simd_vec_reg_user = 0xffffffffffffffff
	print(hex(evsel.sample_simd_vec_reg_user), hex(evsel.sample_simd_vec_reg_intr))
	for field, value in (('sample_simd_pred_reg_intr', 1 << 32),
	                     ('sample_simd_regs_enabled', -1)):
	    try:
	        setattr(evsel, field, value)
	        print(field, value)
	    except OverflowError:
	        print(field, 'overflow')
	EOF
  check "attr" <<- EOF
	0x1001 0x1002 0x1003 0x1004 0x1005 0x1006 0x1007 0x1008 0x1009 True
	0xffffffffffffffff 0x1005
	sample_simd_pred_reg_intr overflow
	sample_simd_regs_enabled overflow
	EOF
}

# The script that sums it up is not installed with all perfs.
script=${shelldir}/../../python/simd-regs.py
[ -f "${script}" ] || script=$(perf --exec-path)/python/simd-regs.py

sum_up() {
  "${PYTHON}" "${script}" "$@" 2> "${dir}/errors" || cat "${dir}/errors"
}

# It sees the same with the module as in JSON.
test_by_symbol() {
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_data.py lanes "$1" "${perfdata}"
  rm -f "${dir}/json"
  perf data convert --to-json "${dir}/json" -i "${perfdata}" > /dev/null 2>&1 || true

  # What is no number or infinite as a float need not be as a half of a double.
  {
    sum_up "${perfdata}" --html "${dir}/1.html"
    sum_up "${perfdata}" --type f64
    sum_up "${perfdata}" --by line
    sum_up "${perfdata}" --user
  } > "${dir}/output"
  check "by symbol, $1" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  [unknown]
	# lanes are f64
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256   50.0%   20.0%   20.0%   40.0%    0.0%    0.0%   20.0%  [unknown]
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  line
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  [unknown]
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	EOF
  sum_up --json "${dir}/json" --html "${dir}/2.html" > /dev/null
  check_same "by symbol, as a page, $1" "${dir}/2.html" "${dir}/1.html"
}

# The source line of a sample in a program that can be loaded anywhere.
test_by_line() {
  if ! cc --version > /dev/null 2>&1
  then
    echo "by line [Skipped no compiler]"
    return
  fi

  # All of a page and more is the code of a line.
  {
    printf 'volatile int x;\n\nvoid f(void)\n{\n'
    printf 'x = %d; ' {1..1000}
    printf '\n}\n'
  } > "${dir}/prog.c"
  cc -g -O0 -shared -fPIC -nostdlib -o "${dir}/prog" "${dir}/prog.c"
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_data.py lanes little "${perfdata}" "${dir}/prog" 0x1000
  rm -f "${dir}/json"
  perf data convert --to-json "${dir}/json" --srcline -i "${perfdata}" > /dev/null 2>&1 || true
  {
    sum_up "${perfdata}" --by line
    sum_up --json "${dir}/json" --by line
  } > "${dir}/output"
  check "by line" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  line
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  prog.c:5
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  line
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  prog.c:5
	EOF
}

for order in little big
do
  test_samples "${order}"
done
test_attr
if [ -f "${script}" ]
then
  test_by_symbol little
  test_by_symbol big
  test_by_line
else
  echo "by symbol [Skipped no script]"
fi

cleanup
exit ${err}
