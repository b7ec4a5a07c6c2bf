# SPDX-License-Identifier: GPL-2.0-only
# The copies of kernel headers below tools/: which there are, what they must be.
#
# Sourced after steps.sh.

# copied_headers BASE TIP: headers changed between the two that perf keeps a
# copy of, by the list of its own check-headers.sh.
copied_headers()
{
	local list f

	list=$(tgit show "$1:tools/perf/check-headers.sh" 2> /dev/null) || return 0
	tgit diff-tree -r --no-renames --diff-filter=M --name-only "$1" "$2" -- '*.h' |
		while IFS= read -r f; do
			grep -qE "^[[:space:]]*(check )?\"?${f//./\\.}(\"|[[:space:]]|\$)" <<< "$list" &&
			tgit cat-file -e "$1:tools/$f" 2> /dev/null || continue
			printf '%s\n' "$f"
		done
}

# generated_copy BASE TIP HEADER: the blob that tools/HEADER must be. Where check-headers.sh
# allows differences, only what changes between the two is copied.
generated_copy()
{
	local base=$1 tip=$2 f=$3

	if [ "$(tgit rev-parse "$base:$f")" = "$(tgit rev-parse "$base:tools/$f")" ] ||
	   tgit show "$base:tools/perf/check-headers.sh" | grep -qE "^[[:space:]]*\"${f//./\\.}\"\$"; then
		tgit rev-parse "$tip:$f"
		return
	fi
	igit read-tree "$base" || return 1
	tgit diff-tree -p --full-index --no-renames --no-ext-diff "$base" "$tip" -- "$f" |
		igit apply --cached --directory=tools - 2> /dev/null || return 1
	igit ls-files -s -- "tools/$f" | awk '{ print $2 }'
}
