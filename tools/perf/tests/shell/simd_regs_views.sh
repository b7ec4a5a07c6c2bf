#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SIMD registers in JSON, as lanes and by symbol

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh
# shellcheck source=lib/simd_regs_test.sh
. "${shelldir}"/lib/simd_regs_test.sh

# Compare what is in the file "output" with standard input, without indentation.
check() {
  sed 's/^\t*//' > "${dir}/expect"
  check_same "$1" "${dir}/expect" "${dir}/output"
}

# Both sides of a sample, in JSON that others can read.
test_json() {
  rm -f "${dir}/json"
  perf data convert --to-json "${dir}/json" -i "${perfdata}" > /dev/null 2>&1 || true
  "${PYTHON}" - "${dir}/json" > "${dir}/output" <<- EOF
	import json, sys
	for sample in json.load(open(sys.argv[1]))['samples']:
	    print(sorted(sample['iregs']), sample['uregs'])
	    print(sample['iregs']['YMM4'][:26], sample['iregs']['OPMASK0'], sample['iregs']['IP'])
	EOF
  check "data convert --to-json, $1" <<- EOF
	['IP', 'OPMASK0', 'OPMASK1', 'YMM0', 'YMM1', 'YMM2', 'YMM3', 'YMM4'] {'SP': '0x5000'}
	0xc0490fdb0000000000000000 0x0000000000000055 0x401136
	EOF
}

test_script() {
  perf script -F iregs --simd-type="$1" -i "${perfdata}" 2> /dev/null |
    grep -o -e 'YMM[23]:[^ ]*' -e 'OPMASK0:[^ ]*' > "${dir}/output" || true
}

test_dump() {
  perf report -D --simd-type="$1" -i "${perfdata}" 2> /dev/null |
    grep -a -e 'YMM\[[34]\] ' -e 'OPMASK' > "${dir}/output" || true
}

test_lanes() {
  test_script f32
  check "script --simd-type=f32, $1" <<- EOF
	YMM2:f32{2,nan,0,0,0,0,0,0}
	YMM3:f32{inf,1.4013e-45,0,0,0,0,0,0}
	OPMASK0:f32{1,0,1,0,1,0,1,0}
	EOF

  test_script i32,high
  check "script --simd-type=i32,high, $1" <<- EOF
	YMM2:i32{0,0,0,0,0,0,2143289344,1073741824}
	YMM3:i32{0,0,0,0,0,0,1,2139095040}
	OPMASK0:i32{0,1,0,1,0,1,0,1}
	EOF

  test_dump f32
  check "report -D --simd-type=f32, $1" <<- EOF
	.... YMM[3] f32[0]: inf 1.4013e-45 0 0
	.... YMM[3] f32[4]: 0 0 0 0
	.... YMM[4] f32[0]: 0 0 0 0
	.... YMM[4] f32[4]: 0 0 0 -3.1415927
	.... OPMASK[0] f32[0]: 1 0 1 0 1 0 1 0
	.... OPMASK[1] f32[0]: 0 0 0 0 0 0 0 0
	EOF
}

# One register as all types of lanes, from the highest on, and as none.
test_types() {
  local type

  for type in i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f64
  do
    perf script -F iregs --simd-type="${type},high" -i "${perfdata}" 2> /dev/null |
      grep -o 'YMM4:[^ ]*' | sed 's/,0[,}].*//' || true
  done > "${dir}/output"
  perf script -F iregs --simd-type=f32 --no-simd-type -i "${perfdata}" 2> /dev/null |
    grep -o 'YMM4:[^ ]*' | sed 's/0*$//' >> "${dir}/output" || true
  check "types of lanes" <<- EOF
	YMM4:i8{-64,73,15,-37
	YMM4:i16{-16311,4059
	YMM4:i32{-1068953637
	YMM4:i64{-4591120911855255552
	YMM4:u8{192,73,15,219
	YMM4:u16{49225,4059
	YMM4:u32{3226013659
	YMM4:u64{13855623161854296064
	YMM4:f16{-2.1426,0.00047946
	YMM4:bf16{-3.141,2.16e-29
	YMM4:f64{-50.123870849609375
	YMM4:0xc0490fdb
	EOF
}

test_options() {
  local status=0

  perf script --simd-type=f33 -i "${perfdata}" > /dev/null 2> "${dir}/errors" || status=$?
  grep -e '^Unknown SIMD type' -e '^SIMD types' "${dir}/errors" | tr ';' '\n' \
    > "${dir}/output" || true
  echo "failed: $((status != 0))" >> "${dir}/output"
  check "an unknown type" <<- EOF
	Unknown SIMD type "f33"
	SIMD types: hex i8 i16 i32 i64 u8 u16 u32 u64 x8 x16 x32 x64 f16 bf16 f32 f64
	 TYPE,high or TYPE,low: the lane that comes first
	failed: 1
	EOF
}

# The script that sums it up is not installed with all perfs.
script=${shelldir}/../../python/simd-regs.py
[ -f "${script}" ] || script=$(perf --exec-path)/python/simd-regs.py

# The table of what is in the file "json", with the columns of the text that is tested.
sum_up() {
  "${PYTHON}" "${script}" --json "${dir}/json" "$@" 2>&1 || true
}

test_by_symbol() {
  sum_up --html "${dir}/html" > "${dir}/output"
  check "by symbol" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256   50.0%   20.0%   20.0%   40.0%   20.0%   20.0%   20.0%  [unknown]
	EOF

  # Nobody has asked for vectors of the user side.
  sum_up --user > "${dir}/output"
  check "by symbol, user side" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	EOF

  # A page that is well-formed and needs nothing from elsewhere.
  "${PYTHON}" - "${dir}/html" > "${dir}/output" <<- EOF
	import html.parser, sys
	void = ('meta', 'rect')
	class Check(html.parser.HTMLParser):
	    open, cells = [], 0
	    def handle_starttag(self, tag, attrs):
	        assert not [a for a in attrs if a[0] in ('src', 'href')], attrs
	        if tag not in void:
	            self.open.append(tag)
	        self.cells += tag == 'td'
	    def handle_endtag(self, tag):
	        assert self.open.pop() == tag, tag
	    def handle_startendtag(self, tag, attrs):
	        assert tag in void, tag
	c = Check()
	c.feed(open(sys.argv[1]).read())
	c.close()
	print(c.open, c.cells)
	EOF
  check "by symbol, as a page" <<- EOF
	[] 11
	EOF
}

# sample SYMBOL SRCLINE REGISTER=VALUE...: as perf data convert writes one, with registers
# of the user side after "uregs".
sample() {
  local side=iregs comma='' reg

  printf '{"callchain": [{"ip": "0x401136"%s%s}]' "${1:+, \"symbol\": \"$1\"}" \
    "${2:+, \"srcline\": \"$2\"}"
  shift 2
  printf ', "iregs": {'
  for reg
  do
    if [ "${reg}" = uregs ]
    then
      printf '}, "uregs": {'
      comma=''
      continue
    fi
    printf '%s"%s": "%s"' "${comma}" "${reg%%=*}" "${reg#*=}"
    comma=', '
  done
  printf '}}'
}

# samples ...: several of them, between "--".
samples() {
  local one=()

  printf '{"samples": ['
  for arg
  do
    if [ "${arg}" = -- ]
    then
      sample "${one[@]}"
      printf ','
      one=()
    else
      one+=("${arg}")
    fi
  done
  sample "${one[@]}"
  printf ']}'
}

# Two lines of a function, and a place that has none.
test_by_line() {
  samples 'mul(int, int)' mul.c:7 IP=0x401136 XMM0=0x3f8000003f8000003f8000003f800000 -- \
    'mul(int, int)' mul.c:8 XMM0=0x00000000000000000000000000000001 -- \
    'mul(int, int)' mul.c:8 XMM0=0x00000000000000000000000000000000 -- \
    '' '' XMM0=0x7f800000000000000000000000000000 -- \
    '' '' IP=0x402000 > "${dir}/json"
  sum_up > "${dir}/output"
  check "by symbol, with and without" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       3       128       -   33.3%   33.3%    0.0%    0.0%    0.0%   33.3%  mul(int, int)
	       1       128       -    0.0%    0.0%    0.0%    0.0%  100.0%    0.0%  [unknown]
	EOF
  sum_up --by line > "${dir}/output"
  check "by line" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  line
	       2       128       -   50.0%    0.0%    0.0%    0.0%    0.0%   50.0%  mul.c:8
	       1       128       -    0.0%    0.0%    0.0%    0.0%  100.0%    0.0%  [unknown]
	       1       128       -    0.0%  100.0%    0.0%    0.0%    0.0%    0.0%  mul.c:7
	EOF
}

# Registers of arm64, with a bit of a predicate for each byte; a half of an XMM register,
# which is none; and lanes that are special as one of the types of 16 bits each, or both.
test_registers() {
  samples zsum sve.c:7 pc=0x401136 "Z0=0x$(printf '%064x' 1)" P0=0x0000000000000011 \
    FFR=0x0000000011111111 uregs sp=0x5000 "Z1=0x$(printf '%064x' 0)" -- \
    half_xmm legacy.c:8 'XMM0[1]=0x7ec0000000000000' > "${dir}/json"
  {
    sum_up
    sum_up --user
  } > "${dir}/output"
  check "by symbol, arm64" <<- EOF
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256   62.5%    0.0%    0.0%    0.0%    0.0%    0.0%  100.0%  zsum
	# lanes are f32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       256       -  100.0%    0.0%    0.0%    0.0%    0.0%    0.0%  zsum
	EOF

  # shellcheck disable=SC2046
  samples half '' pc=0x401136 \
    $(printf 'V%d=0x%032x ' 0 0x7c00 1 0x7e00 2 0x03ff 3 0x7f80 4 0x7fc0 5 0x007f) > "${dir}/json"
  {
    sum_up --type f16
    sum_up --type bf16
  } > "${dir}/output"
  check "by symbol, 16 bits" <<- EOF
	# lanes are f16
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       128       -    0.0%    0.0%    0.0%   50.0%   16.7%   33.3%  half
	# lanes are bf16
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       128       -    0.0%    0.0%    0.0%   16.7%   16.7%   16.7%  half
	EOF
}

# Types without NaN, infinity and denormal numbers, with the names of --simd-type.
test_integers() {
  local type

  samples count '' V0=0x7f800000000000017fc0000000000001 P0=0x0000000000000101 > "${dir}/json"
  for type in u8 i16 x32 u64
  do
    sum_up --type "${type}" --html "${dir}/html"
    grep -o '<td>-</td>' "${dir}/html" | wc -l
  done > "${dir}/output"
  check "by symbol, integers" <<- EOF
	# lanes are u8
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       128   12.5%    0.0%    0.0%    0.0%       -       -       -  count
	3
	# lanes are i16
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       128   25.0%    0.0%    0.0%    0.0%       -       -       -  count
	3
	# lanes are x32
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       128   50.0%    0.0%    0.0%    0.0%       -       -       -  count
	3
	# lanes are u64
	 samples      bits  active    zero    same   upper     nan     inf  denorm  symbol
	       1       128  100.0%    0.0%    0.0%    0.0%       -       -       -  count
	3
	EOF
}

# What the script cannot read.
test_errors() {
  {
    sum_up --by line
    echo '[]' > "${dir}/json"
    sum_up
    echo '{"samples": [{"iregs": {"XMM0": "0x01"}}]}' > "${dir}/json"
    sum_up
    rm "${dir}/json"
    sum_up
  } | sed -e "s,${dir},DIR,g" -e 's/\(--to-json\): .*/\1/' > "${dir}/output"
  check "by symbol, unreadable" <<- EOF
	DIR/json has no source lines: perf data convert --srcline adds them
	DIR/json is not an output of perf data convert --to-json
	DIR/json is not an output of perf data convert --to-json
	Cannot read DIR/json: [Errno 2] No such file or directory: 'DIR/json'
	EOF
}

for order in little big
do
  "${PYTHON}" -B "${shelldir}"/lib/simd_regs_data.py lanes "${order}" "${perfdata}"
  test_json "${order}"
  test_lanes "${order}"
done
test_types
test_options
if [ -f "${script}" ]
then
  test_by_symbol
  test_by_line
  test_registers
  test_integers
  test_errors
else
  echo "by symbol [Skipped no script]"
fi

cleanup
exit ${err}
