# SPDX-License-Identifier: GPL-2.0-only
# What TAB offers at the end of a line: complete.sh PERF-COMPLETION LINE...
. "$1"
shift

complete_line()
{
	local cur cword prev words

	read -ra words <<< "$1"
	[[ $1 != *' ' ]] || words+=('')
	cword=$((${#words[@]} - 1))
	cur=${words[cword]}
	prev=${words[cword - 1]}
	COMPREPLY=()
	__perf_main
	echo "$1: ${COMPREPLY[*]}"
}

for line; do
	complete_line "$line"
done
