# SPDX-License-Identifier: GPL-2.0-only
# Files in patches/ become commits. Sourced after steps.sh.
#
# All commits of a chain are made by one fast-import from what git apply leaves in an
# index with the few files that the series touches. A commit that was made before from
# the same patch, files and parent is taken as it is (.git/steps/cache).

# read_paths PATCH...: what step_paths() says of them, as arrays: TOUCHED has the paths;
# OVERLAYS and CHANGES of each patch its own, and LATER of each new file the patches that
# change it after it came in, one a line.
declare -A TOUCHED=() OVERLAYS=() CHANGES=() LATER=()
read_paths()
{
	local kind file path
	local -A new=()

	TOUCHED=() OVERLAYS=() CHANGES=() LATER=()
	while IFS=$'\t' read -r kind file path; do
		case /$path/ in
		*/../*|*//*) ;;		# refused when its step is made
		*) TOUCHED[$path]=1 ;;
		esac
		if [ "$kind" = overlay ]; then
			OVERLAYS[$file]+=$path$'\n'
			new[$path]=1
		else
			CHANGES[$file]+=$path$'\n'
			[ -z "${new[$path]:-}" ] || LATER[$path]+=$file$'\n'
		fi
	done < <(step_paths "$@")
}

# read_step PATCH: parse it into STEPS_TMP/{msg,diff} and STEP_*; read_paths() must have
# seen it. On failure STEP_ERROR says why.
read_step()
{
	local t=$STEPS_TMP line

	STEP_ERROR='' STEP_AUTHOR='' STEP_EMAIL='' STEP_DATE='' STEP_SUBJECT=''
	git mailinfo -b --encoding=UTF-8 --no-scissors "$t/body" "$t/diff" \
		< "$1" > "$t/info" 2> "$t/error" ||
		{ STEP_ERROR="not a mail: $(head -n1 "$t/error")"; return 1; }
	while IFS= read -r line; do
		case $line in
		'Author: '*) STEP_AUTHOR=${line#*: } ;;
		'Email: '*) STEP_EMAIL=${line#*: } ;;
		'Date: '*) STEP_DATE=${line#*: } ;;
		'Subject: '*) STEP_SUBJECT=${line#*: } ;;
		esac
	done < "$t/info"
	[ -n "$STEP_AUTHOR" ] && [ -n "$STEP_EMAIL" ] ||
		{ STEP_ERROR="no From: line with name and address"; return 1; }
	[ -n "$STEP_DATE" ] || { STEP_ERROR="no Date: line"; return 1; }
	[ -n "$STEP_SUBJECT" ] || { STEP_ERROR="no Subject: line"; return 1; }
	printf '%s\n\n' "$STEP_SUBJECT" > "$t/text"
	[ ! -s "$t/body" ] || cat "$t/body" >> "$t/text"
	git stripspace < "$t/text" > "$t/msg"
	mapfile -t STEP_OVERLAY < <(printf %s "${OVERLAYS[$1]:-}")
	mapfile -t STEP_CHANGED < <(printf %s "${CHANGES[$1]:-}")
}

# first_content MODE BLOB PATH: `MODE BLOB` of a file as it came in, if it is BLOB
# after the last step.
first_content()
{
	local file

	export GIT_INDEX_FILE=$STEPS_TMP/first
	tgit read-tree --empty
	tgit update-index --add --cacheinfo "$1,$2,$3"
	# The last patch first.
	while IFS= read -r file; do
		tgit apply --cached --reverse --whitespace=nowarn --include="$3" - \
			< "$file" 2> "$STEPS_TMP/error" || return 1
	done < <(printf %s "${LATER[$3]}" | tac)
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

# index_touched COMMIT: the private index has its files of TOUCHED, and no other: git would
# read and write all names of a tree for each step.
index_touched()
{
	igit read-tree --empty
	[ ${#TOUCHED[@]} -eq 0 ] ||
		tgit --literal-pathspecs ls-tree -r -z "$1" -- "${!TOUCHED[@]}" | igit update-index -z --index-info
}

# begin_commits PARENT: commit_step() puts commits on top of it from now on.
#
# What a step changes goes into its parent's tree by fast-import.
begin_commits()
{
	index_touched "$1" || return 1
	if [ -z "${IMPORT_PID:-}" ]; then
		IMPORT_REF=refs/steps/import.$$
		mkfifo "$STEPS_TMP/commands" "$STEPS_TMP/ids"
		tgit fast-import --quiet --force --done --date-format=rfc2822 \
			< "$STEPS_TMP/commands" > "$STEPS_TMP/ids" 2> "$STEPS_TMP/import" &
		IMPORT_PID=$!
		exec {IMPORT_TO}> "$STEPS_TMP/commands" {IMPORT_FROM}< "$STEPS_TMP/ids"
	fi
	printf 'reset %s\nfrom %s\n\n' "$IMPORT_REF" "$1" >&$IMPORT_TO
}

# end_commits: git has them.
end_commits()
{
	local rc=0

	[ -n "${IMPORT_PID:-}" ] || return 0
	# It may have ended already, and writing to it would end this.
	(echo 'done' >&$IMPORT_TO) 2> /dev/null || :
	exec {IMPORT_TO}>&- {IMPORT_FROM}<&-
	wait "$IMPORT_PID" || { rc=1; rm -f "$STEPS_TREE"/.git/fast_import_crash_*; }
	rm "$STEPS_TMP/commands" "$STEPS_TMP/ids"
	IMPORT_PID=
	tgit update-ref -d "$IMPORT_REF"
	return $rc
}

# commit_step PATCH: one commit on top of the last; its id in STEP_COMMIT.
commit_step()
{
	local t=$STEPS_TMP paths

	read_step "$1" || return 1
	paths=(${STEP_OVERLAY[@]+"${STEP_OVERLAY[@]}"} ${STEP_CHANGED[@]+"${STEP_CHANGED[@]}"})
	if [ ${#STEP_CHANGED[@]} -gt 0 ] &&
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
	# The dates are the patch's own, so the commit's name repeats.
	{
		printf '%s\n' "commit $IMPORT_REF" 'mark :1' \
			"author $STEP_AUTHOR <$STEP_EMAIL> $STEP_DATE" \
			"committer $STEP_AUTHOR <$STEP_EMAIL> $STEP_DATE" 'data << end of the text'
		cat "$t/msg"
		echo ' end of the text'
		if [ ${#paths[@]} -gt 0 ]; then
			printf 'D %s\n' "${paths[@]}"
			igit --literal-pathspecs ls-files -s -- "${paths[@]}" |
				sed 's/^\([0-7]*\) \([0-9a-f]*\) 0\t/M \1 \2 /'
		fi
		printf '\n%s\n' 'get-mark :1'
	} >&$IMPORT_TO
	STEP_COMMIT=
	read -r STEP_COMMIT <&$IMPORT_FROM || :
	[ -n "$STEP_COMMIT" ] || { STEP_ERROR="no commit: $(sed -n 's/^fatal: //p' "$t/import")"; return 1; }
}

# step_keys PATCH...: for each the checksums of all that its commit follows from but for
# its parent, in STEP_KEYS; read_paths() must have seen them.
step_keys()
{
	local file p later key new
	local -A sums=()

	STEP_KEYS=()
	[ $# -gt 0 ] || return 0
	mapfile -t new < <(printf %s "${OVERLAYS[@]}")
	while read -r key p; do
		sums[$p]=$key
	done < <(printf '%s\n' "$@" "${new[@]/#/$STEPS_HOME/}" | xargs -d '\n' sha256sum -- 2> /dev/null)
	for file; do
		key=${sums[$file]}
		while IFS= read -r p; do
			[ -n "$p" ] || continue
			[ ! -x "$STEPS_HOME/$p" ] || key+=,x
			key+=,${sums[$STEPS_HOME/$p]:-}
			while IFS= read -r later; do
				key+=,${later:+${sums[$later]}}
			done <<< "${LATER[$p]:-}"
		done <<< "${OVERLAYS[$file]:-}"
		STEP_KEYS+=("$key")
	done
}

# build_chain BASE [ROOT_OF_PATCHES]: commits for all steps on top of BASE.
# CHAIN_FILES and CHAIN_COMMITS list what was built, CHAIN_TIP is the last one
# and CHAIN_KERNEL the last of the kernel's topics. On failure CHAIN_FAILED is the
# patch and STEP_ERROR the reason; what was built until then stays listed.
build_chain()
{
	local parent file dir files i c at='' rc=0 cache=$STEPS_TREE/.git/steps/cache
	local -A known=()

	CHAIN_FILES=() CHAIN_COMMITS=() CHAIN_FAILED=
	parent=$(tgit rev-parse --verify -q "$1^{commit}") ||
		{ STEP_ERROR="the tree has no base $1"; return 1; }
	CHAIN_TIP=$parent CHAIN_KERNEL=$parent
	mapfile -t files < <(patch_files "${2:-}")
	read_paths ${files[@]+"${files[@]}"}
	step_keys ${files[@]+"${files[@]}"}
	# A commit made before from the same input is taken as it is.
	if [ -f "$cache" ]; then
		while read -r i c; do
			known[$i]=$c
		done < <(awk 'NF == 2 { print $2, $1 }' "$cache" |
			tgit cat-file --batch-check='%(rest) %(objectname) %(objecttype)' |
			sed -n 's/ commit$//p')
	fi
	: > "$STEPS_TMP/cache"
	for i in "${!files[@]}"; do
		file=${files[i]}
		STEP_COMMIT=${known[$parent,${STEP_KEYS[i]}]:-}
		if [ -z "$STEP_COMMIT" ]; then
			# The last one may not have been made here.
			[ "$at" = "$parent" ] || begin_commits "$parent" ||
				{ STEP_ERROR="cannot read $parent"; rc=1; break; }
			commit_step "$file" || { CHAIN_FAILED=$file; rc=1; break; }
			at=$STEP_COMMIT
		fi
		printf '%s,%s %s\n' "$parent" "${STEP_KEYS[i]}" "$STEP_COMMIT" >> "$STEPS_TMP/cache"
		parent=$STEP_COMMIT
		CHAIN_FILES+=("$file")
		CHAIN_COMMITS+=("$parent")
		CHAIN_TIP=$parent
		dir=${file%/*}
		[[ ${dir##*/} == perf* ]] || CHAIN_KERNEL=$parent
	done
	end_commits || [ $rc -ne 0 ] ||
		{ STEP_ERROR="git fast-import failed: $(tail -n 1 "$STEPS_TMP/import")"; rc=1; }
	[ $rc -eq 0 ] || return 1
	# What was made aside does not stay.
	[ -z "${GIT_OBJECT_DIRECTORY:-}" ] || return 0
	# Two may check the same patches side by side.
	mkdir -p "${cache%/*}"
	cp "$STEPS_TMP/cache" "$cache.$$"
	mv "$cache.$$" "$cache"
}
