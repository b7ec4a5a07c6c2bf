# SPDX-License-Identifier: GPL-2.0-only
# Steps of a series: what they are, and how commits become files in patches/; chain.sh is
# the way back.
#
# There are two series: the topics of patches/ on Linux, and the emulator's on
# QEMU. SERIES=linux (the default) or SERIES=emulator chooses. patches/topics has
# a line for each topic, `NAME: NEEDED...`, in the order of the chain; NAME is its
# folder, and a name that begins with perf has the perf tool's steps.
#
# Sourced after lib.sh. A step is a mail (From, Date, Subject, text), then
# `---`, then one line `Overlay: path` for each new file, whose content is the
# repository's own file of that path (the emulator's are below emulator/), then
# the diff of the files that existed.
#
# A new file may grow over several steps: the repository has its text as after the
# last of them, and what came in is that with the later hunks taken back.
# All here works on git objects through an index of its own, so that no file of
# a working tree is touched.

# use_series NAME: what all functions here and in tree.sh work on.
#
#	TREE		the working tree that is ours
#	STEPS_TREE	the git tree that steps are read from: TREE, or a clone of it (series)
#	STEPS_HOME	where the new files and the folder patches/ are
#	STEPS_PARTS	the topics in their order, '' for none
#	STEPS_LOCK	the lock of who works on TREE
use_series()
{
	SERIES=$1
	case $SERIES in
	linux)
		TREE=$BUILD/linux STEPS_HOME=$ROOT STEPS_LOCK=tree
		[ -f "$ROOT/patches/topics" ] || die "there is no patches/topics, which names the topics in their order"
		mapfile -t STEPS_PARTS < <(sed -n 's/^\([^#:]*\):.*/\1/p' "$ROOT/patches/topics") ;;
	emulator)
		TREE=$BUILD/emulator/qemu STEPS_HOME=$ROOT/emulator STEPS_LOCK=emulator-tree
		STEPS_PARTS=('') ;;
	*)
		die "SERIES=$SERIES is neither linux nor emulator" ;;
	esac
	STEPS_TREE=$TREE
	STEPS_PATCHES=$STEPS_HOME/patches
	TREE_NAME=${TREE#"$ROOT"/}
	PATCHES_NAME=${STEPS_PATCHES#"$ROOT"/}
}
use_series "${SERIES:-linux}"

# The user's and the system's git settings (hooks, diff options, signing, line
# ends) must not leak into commits and patches.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# How git names the function of a hunk differs among its versions for C files;
# patches must come out the same everywhere.
STEPS_FUNCNAME='!^[ \t]*[A-Za-z_][A-Za-z_0-9]*:[[:space:]]*($|/[/*])
^([A-Za-z_].*)$'

tgit()
{
	git -C "$STEPS_TREE" "$@"
}

# The same with the private index.
igit()
{
	GIT_INDEX_FILE=$STEPS_TMP/index git -C "$STEPS_TREE" "$@"
}

steps_begin()
{
	need_packages git
	temp_dir STEPS_TMP
}

# Path of a step as messages show it.
step_name()
{
	printf '%s\n' "${1#"$ROOT"/}"
}

# patch_files [ROOT_OF_PATCHES]: all steps in their order.
patch_files()
{
	local top=${1:-$STEPS_PATCHES} d f

	for d in "${STEPS_PARTS[@]}"; do
		for f in "$top${d:+/$d}"/*.patch; do
			[ ! -f "$f" ] || printf '%s\n' "$f"
		done
	done
}

# topic_of PATCH: the topic that has it.
topic_of()
{
	local dir=${1%/*}

	[ "${STEPS_PARTS[0]}" = '' ] || printf '%s\n' "${dir##*/}"
}

# topic_tips: for each topic a line with its name and the last of its commits; the tree
# has to be what patches/ gives.
topic_tips()
{
	local i commits files

	mapfile -t commits < <(git -C "$TREE" rev-list --reverse base..HEAD)
	mapfile -t files < <(patch_files)
	for i in "${!files[@]}"; do
		[ "$(topic_of "${files[i]}")" = "$(topic_of "${files[i + 1]:-}")" ] ||
			printf '%s %s\n' "$(topic_of "${files[i]}")" "${commits[i]}"
	done
}

# topics_below TOPIC...: these and all that they need, in the order of the chain.
topics_below()
{
	local i n t
	local -A wanted=()

	for t; do
		wanted[$t]=1
	done
	# A topic needs only what comes before it.
	for ((i = ${#STEPS_PARTS[@]} - 1; i >= 0; i--)); do
		t=${STEPS_PARTS[i]}
		[ -n "$t" ] && [ -n "${wanted[$t]:-}" ] || continue
		for n in $(sed -n "s/^$t://p" "$STEPS_PATCHES/topics"); do
			wanted[$n]=1
		done
	done
	for t in "${STEPS_PARTS[@]}"; do
		[ -n "$t" ] && [ -z "${wanted[$t]:-}" ] || printf '%s\n' "$t"
	done
}

# cover_name TOPIC: the path of its cover letter: a subject, an empty line, a text.
cover_name()
{
	printf '%s\n' "$PATCHES_NAME${1:+/$1}/cover-letter.txt"
}

# cover_problem TOPIC: what is wrong with it.
cover_problem()
{
	awk 'NR == 1 && /./ { s = 1 } NR == 2 && /./ { s = 0 } NR > 2 && /./ { t = 1 }
		END { exit !(s && t) }' "$ROOT/$(cover_name "$1")" 2> /dev/null ||
		echo "is not a subject, an empty line and a text"
}

# step_paths PATCH...: a line for each file that they name, with tabs between: `overlay`
# or `change`, the patch, the path.
step_paths()
{
	[ $# -eq 0 ] || awk -v OFS='\t' '
		FNR == 1 { head = 0 }
		/^---$/ { head = 1 }
		/^diff --git / {
			head = 0
			# a/PATH b/PATH
			path = substr($0, 14, (length($0) - 16) / 2)
			if ($0 == "diff --git a/" path " b/" path)
				print "change", FILENAME, path
		}
		head && sub(/^Overlay: /, "") { print "overlay", FILENAME, $0 }' "$@"
}

# ---- a commit becomes a file ------------------------------------------------

# new_files COMMIT...: what they add, sorted: lines of a commit and a path.
new_files()
{
	[ $# -eq 0 ] || printf '%s\n' "$@" |
		tgit -c core.quotePath=false diff-tree --stdin --always -r --no-renames --name-only --diff-filter=A |
		awk '/^[0-9a-f]+$/ && length >= 40 { commit = $0; next } { print commit, $0 }'
}

# step_mails COMMIT...: header and text up to the `---` of each, with a NUL between.
step_mails()
{
	printf '%s\n' "$@" | tgit log --stdin --no-walk=unsorted -z --no-patch --pretty=email --no-mailmap \
		--no-notes --no-show-signature --encoding=UTF-8 |
		sed -z '1,$s/^From [0-9a-f]*/From 0000000000000000000000000000000000000000/'
}

# write_steps DIR COMMIT...: the texts of their patch files in DIR, called by their ids.
write_steps()
{
	local dir=$1 c line mails i=0

	shift
	[ $# -gt 0 ] || return 0
	mkdir -p "$dir"
	mapfile -d '' -t mails < <(step_mails "$@")
	for c; do
		printf '%s\n---\n' "${mails[i]%$'\n'}" > "$dir/$c"
		i=$((i + 1))
	done
	while read -r c line; do
		printf 'Overlay: %s\n' "$line" >> "$dir/$c"
	done < <(new_files "$@")
	for c; do
		{
			echo
			tgit -c "diff.cpp.xfuncname=$STEPS_FUNCNAME" diff-tree -p --full-index --binary \
				--no-commit-id --no-renames --no-ext-diff --no-textconv --no-color \
				-U3 --src-prefix=a/ --dst-prefix=b/ --diff-filter=a "$c"
		} >> "$dir/$c"
	done
}

# step_slugs COMMIT...: a line for each, its subject as a file name has it.
step_slugs()
{
	[ $# -eq 0 ] || printf '%s\n' "$@" | tgit log --stdin --no-walk=unsorted --format=%f | cut -c1-52
}

# kernel_part BASE TIP: the last commit of the kernel series, which ends with the last one
# that touches anything but tools/, or tools/testing/.
kernel_part()
{
	local c

	c=$(tgit log --format='commit %H' --name-only --no-renames "$1..$2" |
		awk '/^commit / { c = $2; next }
		     !found && NF && (!/^tools\// || /^tools\/testing\//) { found = 1; print c }')
	tgit rev-parse "${c:-$1}^{commit}"
}

# complete_patches DIR RANGE [OPTION...]: mailable patches, new files included,
# the same for the same commits whichever git and whenever.
complete_patches()
{
	local dir=$1 range=$2

	shift 2
	tgit -c "diff.cpp.xfuncname=$STEPS_FUNCNAME" -c log.mailmap=false \
		format-patch -q -o "$dir" --zero-commit --full-index --no-renames --no-signature \
		--no-ext-diff --no-base --no-thread --no-notes "$@" "$range"
}
