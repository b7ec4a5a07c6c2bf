# SPDX-License-Identifier: GPL-2.0-only
# The working tree of a series: what is in it, and moving it without loss.
#
# Sourced after steps.sh, whose SERIES says which: build/linux or
# build/emulator/qemu. The tree has the tag `base` (the import) and the branch
# `series`; that of Linux the tag `kernel-tip` after the kernel's topics. Below its .git,
# steps/import says where the base came from, steps/applied what the series was
# made to, and from what; refs/steps/known is the newest commit that patches/ holds.

# tree_exists: with a base. One that git cannot read may have work in it: nothing may take
# it for absent, unless FORCE=1 says so.
tree_exists()
{
	[ -e "$TREE/.git" ] || return 1
	! tgit rev-parse -q --verify base > /dev/null || return 0
	[ -n "${FORCE:-}" ] ||
		die "git finds no tag base in $TREE_NAME, whose work would be lost" "" \
		    "see why (git -C ${TREE#"$PWD"/} rev-parse base), or FORCE=1 to drop all of it"
	return 1
}

# tree_note NAME: print a note kept in the tree; tree_note NAME TEXT: keep one.
tree_note()
{
	local f=$TREE/.git/steps/$1

	if [ $# -gt 1 ]; then
		mkdir -p "${f%/*}"
		printf '%s\n' "$2" > "$f"
	elif [ -f "$f" ]; then
		cat "$f"
	fi
}

set_kernel_tip()
{
	[ "$SERIES" != linux ] || tgit tag -f kernel-tip "$1" > /dev/null
}

# uncommitted [NEW_TIP]: paths whose content is neither HEAD's nor NEW_TIP's,
# and files git does not track where NEW_TIP has others; without NEW_TIP all
# that git neither tracks nor ignores. What is as in NEW_TIP already is put into
# the index, so that switching leaves it alone.
uncommitted()
{
	local new=${1:-} p want have

	tgit update-index -q --refresh > /dev/null || :
	{
		tgit diff-index -z --name-only HEAD
		tgit diff-index -z --name-only --cached HEAD
		if [ -n "$new" ]; then
			tgit diff-tree -r -z --no-renames --name-only --diff-filter=A HEAD "$new"
		else
			tgit ls-files -z -o --exclude-standard
		fi
	} | sort -zu | while IFS= read -r -d '' p; do
		have='' want=''
		[ ! -f "$TREE/$p" ] || have=$(tgit hash-object --no-filters -- "$p")
		[ -z "$new" ] || want=$(tgit rev-parse -q --verify "$new:$p") || want=
		if [ -n "$new" ] && [ "$have" = "$want" ]; then
			tgit update-index --add --remove -- "$p"
		elif [ -n "$have" ] || tgit cat-file -e "HEAD:$p" 2> /dev/null; then
			printf '%s\n' "$p"
		fi
	done
}

# refuse_loss [NEW_TIP]: stop if moving to NEW_TIP, or removing the tree, would lose
# work; with FORCE=1 go on, and keep the commits under refs/saved/ of a tree that stays.
refuse_loss()
{
	local commits known files saved d

	for d in rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD; do
		[ ! -e "$TREE/.git/$d" ] || [ -n "${FORCE:-}" ] ||
			die "a git operation is unfinished in $TREE_NAME ($d)" "" \
			    "finish or abort it there, or FORCE=1"
	done
	# Those of the user's branches that patches/ does not hold.
	known=$(tgit rev-parse -q --verify refs/steps/known) || known=base
	commits=$(tgit rev-list HEAD --branches --not base "$known" ${1:+"$1"})
	files=$(uncommitted "${1:-}")
	if [ -n "$commits" ]; then
		[ -n "${FORCE:-}" ] ||
			die "$TREE_NAME has $(wc -l <<< "$commits") commit(s) that $PATCHES_NAME/ does not hold" "" \
			    "make refresh to keep them, or FORCE=1 to drop them"
		if [ $# -gt 0 ]; then
			saved=refs/saved/$(date -u +%Y%m%d-%H%M%S)
			tgit update-ref "$saved" "$(tgit rev-parse HEAD)"
			say "the old tip stays in $TREE_NAME as $saved"
		fi
	fi
	[ -z "$files" ] || [ -n "${FORCE:-}" ] ||
		die "$TREE_NAME has changes that are not committed: $(
			head -n5 <<< "$files" | paste -sd' ')$(
			[ "$(wc -l <<< "$files")" -le 5 ] || echo ' ...')" "" \
		    "commit them there and make refresh, or FORCE=1 to drop them"
}

# switch_tree NEW_TIP: bring index, files and branch there. Only files whose
# content differs are written, so that builds stay incremental.
switch_tree()
{
	local new=$1

	refuse_loss "$new"
	if [ -n "${FORCE:-}" ]; then
		tgit read-tree --reset -u "$new"
	else
		tgit read-tree -m -u HEAD "$new"
	fi
	tgit update-ref refs/heads/series "$new"
	tgit symbolic-ref HEAD refs/heads/series
}
