# SPDX-License-Identifier: GPL-2.0-only
# Steps of a series: a file in patches/ to a commit, and a commit to a file.
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
#	STEPS_TREE	the git tree that steps are read from: TREE, or another clone
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

# overlay_lines PATCH: the paths it names, as they stand there.
overlay_lines()
{
	sed -n '/^---$/,/^diff --git/s/^Overlay: //p' "$1"
}

# changed_lines PATCH: the files that its diff changes.
changed_lines()
{
	sed -n 's,^diff --git a/\(.*\) b/\1$,\1,p' "$1"
}

# ---- a file becomes a commit ------------------------------------------------

# read_step PATCH: parse it into STEPS_TMP/{msg,diff} and STEP_*.
# On failure STEP_ERROR says why.
read_step()
{
	local t=$STEPS_TMP

	STEP_ERROR=
	git mailinfo -b --encoding=UTF-8 --no-scissors "$t/body" "$t/diff" \
		< "$1" > "$t/info" 2> "$t/error" ||
		{ STEP_ERROR="not a mail: $(head -n1 "$t/error")"; return 1; }
	STEP_AUTHOR=$(sed -n 's/^Author: //p' "$t/info")
	STEP_EMAIL=$(sed -n 's/^Email: //p' "$t/info")
	STEP_DATE=$(sed -n 's/^Date: //p' "$t/info")
	STEP_SUBJECT=$(sed -n 's/^Subject: //p' "$t/info")
	[ -n "$STEP_AUTHOR" ] && [ -n "$STEP_EMAIL" ] ||
		{ STEP_ERROR="no From: line with name and address"; return 1; }
	[ -n "$STEP_DATE" ] || { STEP_ERROR="no Date: line"; return 1; }
	[ -n "$STEP_SUBJECT" ] || { STEP_ERROR="no Subject: line"; return 1; }
	{
		printf '%s\n' "$STEP_SUBJECT"
		[ ! -s "$t/body" ] || { echo; cat "$t/body"; }
	} | git stripspace > "$t/msg"
	mapfile -t STEP_OVERLAY < <(overlay_lines "$1")
}

# later_changes [ROOT_OF_PATCHES]: fill LATER: of each new file the patches that
# change it after it came in, one a line.
declare -A LATER=()
later_changes()
{
	local file p
	local -A new=()

	LATER=()
	while IFS= read -r file; do
		while IFS= read -r p; do
			[ -z "${new[$p]:-}" ] || LATER[$p]+=$file$'\n'
		done < <(changed_lines "$file")
		while IFS= read -r p; do
			new[$p]=1
		done < <(overlay_lines "$file")
	done < <(patch_files "${1:-}")
}

# later_patches PATH: the lines of LATER, the last patch first.
later_patches()
{
	printf %s "${LATER[$1]:-}" | tac
}

# first_content MODE BLOB PATH: `MODE BLOB` of a file as it came in, if it is BLOB
# after the last step.
first_content()
{
	local file

	export GIT_INDEX_FILE=$STEPS_TMP/first
	tgit read-tree --empty
	tgit update-index --add --cacheinfo "$1,$2,$3"
	while IFS= read -r file; do
		tgit apply --cached --reverse --whitespace=nowarn --include="$3" - \
			< "$file" 2> "$STEPS_TMP/error" || return 1
	done < <(later_patches "$3")
	tgit ls-files -s -- "$3" | cut -d' ' -f1,2
}

# index_overlay: add the files of STEP_OVERLAY to the private index.
index_overlay()
{
	local p mode known i ids lines=()

	for p in "${STEP_OVERLAY[@]}"; do
		case /$p/ in
		*/../*|*/./*|*//*|*/.git/*)
			STEP_ERROR="Overlay: $p is not a plain path"
			return 1 ;;
		esac
		[ -f "$STEPS_HOME/$p" ] && [ ! -L "$STEPS_HOME/$p" ] ||
			{ STEP_ERROR="Overlay: $p is not a file of the repository"; return 1; }
	done
	known=$(igit --literal-pathspecs ls-files -- "${STEP_OVERLAY[@]}" | head -n1)
	[ -z "$known" ] ||
		{ STEP_ERROR="Overlay: $known is not new, the tree has it before this step"; return 1; }
	mapfile -t ids < <(printf "$STEPS_HOME/%s\n" "${STEP_OVERLAY[@]}" |
			   tgit hash-object -w --no-filters --stdin-paths)
	for ((i = 0; i < ${#ids[@]}; i++)); do
		mode=100644
		[ ! -x "$STEPS_HOME/${STEP_OVERLAY[i]}" ] || mode=100755
		p=$mode' '${ids[i]}
		if [ -n "${LATER[${STEP_OVERLAY[i]}]:-}" ]; then
			p=$(first_content $p "${STEP_OVERLAY[i]}") || {
				STEP_ERROR="the later changes of ${STEP_OVERLAY[i]} do not fit what the repository has"
				return 1
			}
		fi
		lines+=("$p"$'\t'"${STEP_OVERLAY[i]}")
	done
	printf '%s\n' "${lines[@]}" | igit update-index --add --index-info ||
		{ STEP_ERROR="cannot add its new files"; return 1; }
}

# commit_step PARENT PATCH: one commit; its id in STEP_COMMIT. The private index
# must hold PARENT's tree, and holds the commit's afterwards.
commit_step()
{
	local parent=$1 t=$STEPS_TMP tree

	read_step "$2" || return 1
	if grep -q '^diff --git ' "$t/diff" &&
	   ! igit apply --cached --whitespace=nowarn "$t/diff" 2> "$t/error"; then
		STEP_ERROR="does not apply: $(
			sed -n 's/^error: patch failed: \(.*\):\([0-9]*\)$/\1, hunk at line \2/p
				s/^error: \(.*: \(does not exist\|already exists\).*\)/\1/p' \
				"$t/error" | head -n1)"
		[ "$STEP_ERROR" != "does not apply: " ] ||
			STEP_ERROR+=$(sed 's/^error: //' "$t/error" | head -n1)
		return 1
	fi
	[ ${#STEP_OVERLAY[@]} -eq 0 ] || index_overlay || return 1
	tree=$(igit write-tree) || { STEP_ERROR="git write-tree failed"; return 1; }
	# The dates are the patch's own, so the commit's name repeats.
	STEP_COMMIT=$(GIT_AUTHOR_NAME=$STEP_AUTHOR GIT_AUTHOR_EMAIL=$STEP_EMAIL \
		GIT_AUTHOR_DATE=$STEP_DATE GIT_COMMITTER_NAME=$STEP_AUTHOR \
		GIT_COMMITTER_EMAIL=$STEP_EMAIL GIT_COMMITTER_DATE=$STEP_DATE \
		tgit commit-tree -p "$parent" "$tree" < "$t/msg" 2> "$t/error") ||
		{ STEP_ERROR="no commit: $(head -n1 "$t/error")"; return 1; }
}

# step_key PARENT PATCH: checksum of all that its commit follows from.
step_key()
{
	local p mode

	{
		printf 'parent %s\n' "$1"
		cat "$2"
		overlay_lines "$2" | while IFS= read -r p; do
			mode=
			[ ! -x "$STEPS_HOME/$p" ] || mode=x
			printf 'overlay %s %s\n' "$p" "$mode"
			cat "$STEPS_HOME/$p" 2> /dev/null || :
			later_patches "$p" | xargs -r -d '\n' cat
		done
	} | sha256sum | cut -d' ' -f1
}

# build_chain BASE [ROOT_OF_PATCHES]: commits for all steps on top of BASE.
# CHAIN_FILES and CHAIN_COMMITS list what was built, CHAIN_TIP is the last one
# and CHAIN_KERNEL the last of the kernel's topics. On failure CHAIN_FAILED is the
# patch and STEP_ERROR the reason; what was built until then stays listed.
build_chain()
{
	local parent file k index='' cache=$STEPS_TMP/cache
	local -A known=()

	CHAIN_FILES=() CHAIN_COMMITS=() CHAIN_FAILED=
	parent=$(tgit rev-parse --verify -q "$1^{commit}") ||
		{ STEP_ERROR="the tree has no base $1"; return 1; }
	CHAIN_TIP=$parent CHAIN_KERNEL=$parent
	: > "$cache"
	later_changes "${2:-}"
	# A commit made before from the same input is taken as it is.
	if [ -f "$STEPS_TREE/.git/steps/cache" ]; then
		while read -r k file; do
			known[$k]=$file
		done < "$STEPS_TREE/.git/steps/cache"
	fi
	while IFS= read -r file; do
		k=$(step_key "$parent" "$file")
		STEP_COMMIT=${known[$k]:-}
		if [ -z "$STEP_COMMIT" ] || ! tgit cat-file -e "$STEP_COMMIT" 2> /dev/null; then
			if [ -z "$index" ]; then
				igit read-tree "$parent" || { STEP_ERROR="cannot read $parent"; return 1; }
				index=1
			fi
			commit_step "$parent" "$file" || { CHAIN_FAILED=$file; return 1; }
		else
			# The private index does not hold this commit's tree.
			index=
		fi
		printf '%s %s\n' "$k" "$STEP_COMMIT" >> "$cache"
		parent=$STEP_COMMIT
		CHAIN_FILES+=("$file")
		CHAIN_COMMITS+=("$parent")
		CHAIN_TIP=$parent
		case $(topic_of "$file") in perf*) ;; *) CHAIN_KERNEL=$parent ;; esac
	done < <(patch_files "${2:-}")
	mkdir -p "$STEPS_TREE/.git/steps"
	# Two may check the same patches side by side.
	cp "$cache" "$STEPS_TREE/.git/steps/cache.$$"
	mv "$STEPS_TREE/.git/steps/cache.$$" "$STEPS_TREE/.git/steps/cache"
}

# ---- a commit becomes a file ------------------------------------------------

# new_files COMMIT: what it adds, sorted; changed_files: all else it touches.
new_files()
{
	tgit -c core.quotePath=false diff-tree -r --no-commit-id --no-renames \
		--name-only --diff-filter=A "$1" | sort
}

changed_files()
{
	tgit -c core.quotePath=false diff-tree -r --no-commit-id --no-renames \
		--name-only --diff-filter=a "$1"
}

# step_mail COMMIT: header and text up to the `---`.
step_mail()
{
	tgit log -1 --no-patch --pretty=email --no-mailmap --no-notes \
		--no-show-signature --encoding=UTF-8 "$1" |
		sed "1s/^From [0-9a-f]*/From 0000000000000000000000000000000000000000/"
}

# write_step COMMIT: the text of its patch file.
write_step()
{
	step_mail "$1"
	echo ---
	new_files "$1" | sed 's/^/Overlay: /'
	echo
	tgit -c "diff.cpp.xfuncname=$STEPS_FUNCNAME" diff-tree -p --full-index --binary \
		--no-commit-id --no-renames --no-ext-diff --no-textconv --no-color \
		-U3 --src-prefix=a/ --dst-prefix=b/ --diff-filter=a "$1"
}

# step_slug COMMIT: its subject as a file name has it.
step_slug()
{
	printf '%.52s\n' "$(tgit log -1 --format=%f "$1")"
}

# step_file_name NUMBER COMMIT
step_file_name()
{
	printf '%04d-%s.patch\n' "$1" "$(step_slug "$2")"
}

# is_perf_step COMMIT: does it touch nothing but tools/ outside tools/testing/?
is_perf_step()
{
	tgit diff-tree -r --no-commit-id --no-renames --name-only "$1" |
		awk '!/^tools\// || /^tools\/testing\// { other = 1 } END { exit other }'
}

# kernel_part BASE TIP: the last commit of the kernel series, which ends with
# the last one that is not a perf step.
kernel_part()
{
	local c

	for c in $(tgit rev-list "$1..$2"); do
		is_perf_step "$c" || { printf '%s\n' "$c"; return; }
	done
	tgit rev-parse "$1^{commit}"
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
