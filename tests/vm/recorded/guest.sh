# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: records the program in each way, and leaves what perf prints of
# that in the folder out: NAME.script, NAME.dump and, with $JSON, NAME.json. What has to
# be the same as another recording, and not only right, is called OTHER=NAME.
set -eu -o pipefail

case $(uname -m) in
x86_64) VECTORS=YMM INTR=bx,ip,ymm USER=ymm0-3 PROGRAM='--class ymm --mode syscall' ;;
aarch64) VECTORS=Z INTR=x1,pc,z,p,ffr USER=z0-3 PROGRAM='--class z' ;;
esac
PROGRAM="simd_regs_load $PROGRAM --seed 7 --seconds 1"
# A few hundred samples: all of them are printed many times.
RECORD="perf record -q -e cpu-clock -c 5000000 -I$INTR --user-regs=$USER"

# What is printed goes into files that a failure leaves in the guest.
fail()
{
	[ ! -s errors ] || cat errors >&2
	echo "error: $*" >&2
	exit 1
}

# run WHAT CMD...: with what it says in the file errors.
run()
{
	local what=$1

	shift
	"$@" 2> errors || fail "$what: status $?"
}

# Only lines that name a sample or its registers.
registers_of_dump()
{
	grep -a -E '^\.\.\.\. |^\.\.\. (user|intr) regs|PERF_RECORD_SAMPLE'
}

# show NAME FILE: as perf script and perf report -D print it.
show()
{
	run "perf script -i $2" perf script -F iregs,uregs -i "$2" > "out/$1.script"
	run "perf report -D -i $2" perf report -D -i "$2" > dump
	registers_of_dump < dump > "out/$1.dump" || fail "no samples in the dump of $2"
}

# The same from standard input.
show_pipe()
{
	run "perf script -i - < $2" perf script -F iregs,uregs -i - < "$2" > "out/$1.script"
	run "perf report -D -i - < $2" perf report -D -i - < "$2" > dump
	registers_of_dump < dump > "out/$1.dump" || fail "no samples in the dump of $2"
}

json()
{
	[ -z "$JSON" ] || run "to JSON: $2" perf data convert --to-json "out/$1.json" -i "$2" > /dev/null
}

is_compressed()
{
	perf report --header-only -i "$1" 2> errors | grep -q 'compressed : Zstd' ||
		fail "$1 is not compressed"
}

test_file()
{
	run "record" $RECORD -o plain.data -- $PROGRAM --print > out/printed
	show plain plain.data
	json plain=plain plain.data
	run "inject" perf inject -b -i plain.data -o inject.data
	show plain=inject inject.data
	run "inject to a pipe" perf inject -b -i plain.data -o - > inject.pipe
	show_pipe plain=inject-to-pipe inject.pipe
}

test_compressed()
{
	run "record -z" $RECORD -z -o zstd.data -- $PROGRAM
	show zstd zstd.data
	is_compressed zstd.data
	json zstd=zstd zstd.data
	run "inject of -z" perf inject -b -i zstd.data -o zstd-inject.data
	show zstd=zstd-inject zstd-inject.data
}

# Each of several files can be read by itself. One that was begun as the program ended
# may have no sample; check.py counts those of all.
test_switch_output()
{
	local file n=0

	run "record --switch-output" $RECORD -c 2000000 -m 16 --switch-output=64K -o switch.data -- $PROGRAM
	for file in switch.data.*; do
		run "perf script -i $file" perf script -F iregs,uregs -i "$file" > script
		[ -s script ] || continue
		n=$((n + 1))
		show "switch-$n" "$file"
	done
	[ $n -ge 2 ] || fail "--switch-output has written $n files with samples"
}

test_folder()
{
	run "record --threads" $RECORD --threads=cpu -o threads.data -- $PROGRAM
	[ -d threads.data ] || fail "--threads has not written a folder"
	show threads threads.data
	json threads=threads threads.data
	run "record --threads -z" $RECORD --threads=cpu -z -o threads-z.data -- $PROGRAM
	show threads-zstd threads-z.data
	is_compressed threads-z.data
	# What threads have written into files of their own becomes one.
	run "inject of a folder" perf inject -b -i threads.data -o inject-threads.data
	show threads=threads-inject inject-threads.data
	run "inject of a compressed folder" perf inject -b -i threads-z.data -o inject-threads-z.data
	show threads-zstd=threads-zstd-inject inject-threads-z.data
}

test_pipe()
{
	$RECORD -o - -- $PROGRAM 2> errors | cat > pipe || fail "record to a pipe"
	show_pipe pipe pipe
	perf inject -b -i - -o - < pipe 2> errors | cat > inject-pipe || fail "inject in a pipe"
	show_pipe pipe=pipe-inject inject-pipe
	run "inject from a pipe" perf inject -b -i - -o pipe.data < pipe
	show pipe=pipe-inject-to-file pipe.data
	$RECORD -z -o - -- $PROGRAM 2> errors | cat > pipe-z || fail "record -z to a pipe"
	show_pipe pipe-zstd pipe-z
	# That it is compressed is not told in a pipe; known values make it far smaller.
	[ "$(stat -c %s pipe-z)" -lt $(($(stat -c %s pipe) / 2)) ] || fail "-z to a pipe is not smaller"
}

# named HOME: how many samples of the program are in a function that has a name.
named()
{
	HOME=$1 perf script --dsos simd_regs_load -F ip,sym -i plain.data > symbols 2> errors ||
		fail "perf script with the home $1"
	[ -s symbols ] || fail "no sample of the program with the home $1"
	grep -c -v -F '[unknown]' symbols || :
}

# What perf archive packs is unpacked where the program and its build-id cache are not
# there, and there gives names to its functions; the registers are what they were.
test_archive()
{
	mkdir elsewhere
	run "archive" perf archive plain.data > /dev/null
	[ -s plain.data.tar.bz2 ] || fail "perf archive has written nothing"
	mv "$(type -P simd_regs_load)" gone
	[ "$(named "$PWD/elsewhere")" -eq 0 ] || fail "there are names without the program"
	HOME=$PWD/elsewhere perf archive --unpack plain.data.tar.bz2 > errors 2>&1 || fail "perf archive --unpack"
	[ "$(named "$PWD/elsewhere")" -gt 0 ] || fail "the archive gives no names"
	HOME=$PWD/elsewhere perf script -F iregs,uregs -i plain.data > out/plain=archive.script
	mv gone /root/simd_regs_load
}

mkdir out
# Lists end with a status of their own.
available=$({ perf record -I? 2>&1 || :; } | grep 'available registers')
[[ $available == *" $VECTORS"* ]] || fail "no $VECTORS here: $available"
test_file
test_compressed
test_switch_output
test_folder
test_pipe
test_archive
tar cf out.tar out
