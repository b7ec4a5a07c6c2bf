# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: guest.sh KERNEL records with both perfs, then reads all
# files that there are with both. Files with SIMD registers are for ours only.
set -eu -o pipefail

kernel=$1
declare -A PERF=([base]=/root/perf-base [ours]=/usr/bin/perf)

# Registers: some GPRs, all vectors, a few of them, narrow ones.
case $(uname -m) in
aarch64) GPRS=x0,x1,x2,pc,sp GPR=x0 IP=pc ALL=z,p,ffr FEW=z0-3 NARROW=v ;;
*) GPRS=ax,bx,cx,ip,sp GPR=ax IP=ip ALL=ymm FEW=ymm0-3 NARROW=xmm ;;
esac

fail()
{
	echo "error: $*"
	exit 1
}

# record PERF NAME OPTION...
record()
{
	local perf=$1 file=$kernel-$1-$2.data

	shift 2
	"${PERF[$perf]}" record -q -e cpu-clock -c 500000 -o "$file" "$@" -- \
		bash -c 'for i in {1..20000}; do :; done' ||
		fail "$perf perf cannot record in the $kernel kernel: $*"
}

# read_with PERF FILE: all ways of reading work and complain about nothing. Samples
# are left in PERF.script, and with their registers or period in PERF.fields.
read_with()
{
	local perf=$1 file=$2 way fields=+iregs,+uregs

	[[ $file != *-plain.data ]] || fields=+period
	"${PERF[$perf]}" script -i "$file" -F comm,tid,time,event,ip > "$perf.script" 2> err ||
		{ cat err; fail "$perf perf cannot read $file"; }
	for way in 'report -D' 'report --stdio' "script -F $fields"; do
		# shellcheck disable=SC2086 # words of a command
		"${PERF[$perf]}" $way -i "$file" > out 2>> err ||
			{ cat err; fail "$perf perf cannot do '$way' with $file"; }
		[ -s out ] || fail "$perf perf prints nothing for '$way' with $file"
	done
	mv out "$perf.fields"
	if grep -iE 'error|invalid|malformed|corrupt|out of (range|bounds)|bad ' err; then
		fail "$perf perf complains about $file"
	fi
}

# refuses FILE: perf takes no file whose attr has more than it knows; the base's
# must say so, not crash.
refuses()
{
	local status=0

	"${PERF[base]}" script -i "$1" > base.script 2> err || status=$?
	if [ $status -eq 0 ] || { [ $status -gt 128 ] && [ $status -lt 255 ]; } || ! grep -q 'incompatible file format' err; then
		cat err
		fail "the base's perf ends with $status on $1, which it cannot know"
	fi
}

[ ! -f files.tar ] || tar xf files.tar
for perf in base ours; do
	record $perf plain
	record $perf gpr -I$GPRS --user-regs=$GPR,$IP
done
if [ "$kernel" = ours ]; then
	record ours simd -I$GPR,$IP,$ALL --user-regs=$IP
	record ours both -I$GPR,$FEW --user-regs=$IP,$NARROW
else
	# An old kernel: a clear message that names the reason.
	if "${PERF[ours]}" record -e cpu-clock -I$FEW -o none true > err 2>&1; then
		fail "our perf says it recorded $FEW in a kernel that cannot"
	fi
	cat err
	if grep -q 'Invalid argument' err || [ ! -s err ]; then
		fail "our perf does not say that the kernel cannot sample $FEW"
	fi
fi
for file in *.data; do
	if [[ $file == *-simd.data || $file == *-both.data ]]; then
		refuses "$file"
		read_with ours "$file"
		echo "ok $file: $(wc -l < ours.script) samples, refused by the base's perf"
		continue
	fi
	for perf in base ours; do
		read_with $perf "$file"
	done
	[ -s base.script ] || fail "$file has no samples"
	cmp base.script ours.script || fail "the two perfs read different samples from $file"
	cmp base.fields ours.fields || fail "the two perfs read other fields from $file"
	echo "ok $file: $(wc -l < ours.script) samples, the same by both"
done
tar cf files.tar *.data
