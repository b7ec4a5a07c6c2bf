# SPDX-License-Identifier: GPL-2.0-only
# In the guest: guest.sh record ARCH makes files and what is read from them;
# guest.sh read ARCH reads those of another machine again.
#
# perf's own workload keeps 0x51d0 << 48 | register << 32 | word in each word.
set -eu -o pipefail

fail()
{
	echo "error: $*"
	exit 1
}

# read_file NAME: the registers of all samples, as both commands have them.
read_file()
{
	perf report -D -i "$1.data" 2> err | grep -E '^\.\.\.|PERF_RECORD_SAMPLE' > "$1.dump" ||
		{ cat err; fail "perf report cannot read $1"; }
	perf script -i "$1.data" -F tid,time,event,ip,iregs,uregs > "$1.script" 2> err ||
		{ cat err; fail "perf script cannot read $1"; }
	[ -s "$1.dump" ] && [ -s "$1.script" ] || fail "nothing to read in $1"
}

# record NAME WORD OPTION...: WORD must be in a sample, with its name.
record()
{
	local name=$1 word=$2

	shift 2
	perf record -q -e cpu-clock -c 20000000 -o "$name.data" "$@" -- perf test -w simdregs 1
	read_file "$name"
	grep -qE "^\.\.\.\. $word\$" "$name.dump" || fail "$name has no $word"
	echo "ok $name: $(wc -l < "$name.script") samples, with $word"
}

case $1,$2 in
record,x86_64)
	record gpr 'AX +0x[0-9a-f]{16}' -Iax,bx,ip,sp --user-regs=ax,ip
	record wide 'YMM\[15\]\[3\] 0x51d0000f00000003' -Iax,ip,ymm --user-regs=ip,ymm0-3
	record narrow 'XMM\[15\]\[1\] 0x51d0000f00000001' -Ixmm --user-regs=ip,xmm ;;
record,arm64)
	record gpr 'x0 +0x[0-9a-f]{16}' -Ix0,x1,pc,sp --user-regs=x0,pc
	record wide '[VZ]\[31\]\[1\] 0x51d0001f00000001' -Ix0,pc,z,p,ffr --user-regs=pc,vg,z0-3
	record narrow 'V\[31\]\[1\] 0x51d0001f00000001' -Iv --user-regs=pc,v ;;
read,*)
	tar xf "$2.tar"
	for file in *.data; do
		name=${file%.data}
		mkdir -p there
		mv "$name.dump" "$name.script" there
		read_file "$name"
		for text in dump script; do
			diff "there/$name.$text" "$name.$text" > differ ||
				{ head -n 20 differ; fail "$name of $2 reads differently here"; }
		done
		echo "ok $name of $2: $(wc -l < "$name.script") samples read the same"
	done ;;
esac
[ "$1" != record ] || tar cf "$2.tar" ./*.data ./*.dump ./*.script
