# SPDX-License-Identifier: GPL-2.0-only
# Files in patches/ become commits. Sourced after steps.sh.
#
# All commits of a chain are made by one fast-import from what git apply leaves in an
# index with the few files that the series touches.

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

# commit_step PATCH MARK: one commit on top of the last, as fast-import reads it.
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
	printf '%s\n' "commit $IMPORT_REF" "mark :$2" \
		"author $STEP_AUTHOR <$STEP_EMAIL> $STEP_DATE" \
		"committer $STEP_AUTHOR <$STEP_EMAIL> $STEP_DATE" 'data << end of the text'
	cat "$t/msg"
	echo ' end of the text'
	[ ${#paths[@]} -gt 0 ] || return 0
	printf 'D %s\n' "${paths[@]}"
	igit --literal-pathspecs ls-files -s -- "${paths[@]}" |
		sed 's/^\([0-7]*\) \([0-9a-f]*\) 0\t/M \1 \2 /'
}

# build_chain BASE [ROOT_OF_PATCHES]: commits for all steps on top of BASE.
# CHAIN_FILES and CHAIN_COMMITS list what was built, CHAIN_TIP is the last one
# and CHAIN_KERNEL the last of the kernel's topics. On failure CHAIN_FAILED is the
# patch and STEP_ERROR the reason; what was built until then stays listed.
build_chain()
{
	local files i dir rc=0 commands=$STEPS_TMP/commands marks=$STEPS_TMP/marks

	CHAIN_FILES=() CHAIN_COMMITS=() CHAIN_FAILED=
	CHAIN_TIP=$(tgit rev-parse --verify -q "$1^{commit}") ||
		{ STEP_ERROR="the tree has no base $1"; return 1; }
	CHAIN_KERNEL=$CHAIN_TIP IMPORT_REF=refs/steps/import.$$
	mapfile -t files < <(patch_files "${2:-}")
	read_paths ${files[@]+"${files[@]}"}
	index_touched "$CHAIN_TIP" || { STEP_ERROR="cannot read $CHAIN_TIP"; return 1; }
	printf 'reset %s\nfrom %s\n\n' "$IMPORT_REF" "$CHAIN_TIP" > "$commands"
	for i in "${!files[@]}"; do
		commit_step "${files[i]}" $((i + 1)) >> "$commands" || { CHAIN_FAILED=${files[i]} rc=1; break; }
	done
	: > "$marks"
	# It has made the commits before one that it refuses.
	tgit fast-import --quiet --force --date-format=rfc2822 --export-marks="$marks" \
		< "$commands" 2> "$STEPS_TMP/import" || rc=2
	tgit update-ref -d "$IMPORT_REF"
	mapfile -t CHAIN_COMMITS < <(sed 's/.* //' "$marks")
	CHAIN_FILES=("${files[@]:0:${#CHAIN_COMMITS[@]}}")
	for i in "${!CHAIN_FILES[@]}"; do
		CHAIN_TIP=${CHAIN_COMMITS[i]}
		dir=${CHAIN_FILES[i]%/*}
		[[ ${dir##*/} == perf* ]] || CHAIN_KERNEL=$CHAIN_TIP
	done
	if [ $rc -eq 2 ]; then
		rm -f "$STEPS_TREE"/.git/fast_import_crash_*
		CHAIN_FAILED=${files[${#CHAIN_COMMITS[@]}]:-}
		STEP_ERROR="no commit: $(sed -n 's/^fatal: //p' "$STEPS_TMP/import")"
	fi
	return $rc
}
