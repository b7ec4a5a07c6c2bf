# SPDX-License-Identifier: GPL-2.0-only
# What a case's `cmd` may use. Run as: bash case.sh CMD, in the case's repository.

# try CMD...: show the command, its output and, unless it is 0, its status.
try()
{
	local rc=0

	echo "\$ $*"
	"$@" 2>&1 || rc=$?
	[ $rc -eq 0 ] || echo "status $rc"
}

# quiet CMD...: only that it works matters; if it does not, all is shown.
quiet()
{
	local out

	out=$("$@" 2>&1) || { printf '%s\n' "$out"; echo "failed: $*"; exit 1; }
}

tree()
{
	git -C build/linux "$@"
}

# commit_in_tree SUBJECT: as a user commits by hand, with text and sign-off.
commit_in_tree()
{
	tree add -A
	GIT_COMMITTER_DATE=2026-03-01T12:00:00Z \
	tree -c user.name=Ann -c user.email=ann@example.org commit -q \
		--date='2026-03-01T12:00:00Z' -m "$1" -m "Because it is needed." \
		-m "Signed-off-by: Ann <ann@example.org>"
}

# fake NAME: a program of this name, from stdin, that hides the real one.
fake()
{
	cat > "$BIN/$1"
	chmod +x "$BIN/$1"
}

# set_base NAME VALUE: change a line of base.mk.
set_base()
{
	sed -i "s|^$1=.*|$1=$2|" base.mk
}

# broken WHAT CMD...: change the repository by CMD, check, and change it back.
broken()
{
	echo
	echo "== $1"
	shift
	cp -a . ../saved
	"$@"
	scripts/check-patches 2>&1 | grep -v '^ok '
	[ "${PIPESTATUS[0]}" -ne 0 ] || echo "NOT NOTICED"
	find . -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	find ../saved -mindepth 1 -maxdepth 1 ! -name build -exec mv -t . {} +
	rm -rf ../saved
}

# make_deb VERSION: a linux-source package of the tiny tree; sets DEB_SHA256.
make_deb()
{
	local root=../deb

	rm -rf "$root"
	mkdir -p "$root/DEBIAN" "$root/usr/src"
	printf '%s\n' 'Package: linux-source-7.3' "Version: $1" 'Architecture: all' \
		'Maintainer: nobody <nobody@example.org>' 'Description: the tiny tree' \
		> "$root/DEBIAN/control"
	tar -cJf "$root/usr/src/linux-source-7.3.tar.xz" -C .. tiny
	quiet dpkg-deb --root-owner-group --build "$root" "../linux-source-7.3_$1_all.deb"
	DEB_SHA256=$(sha256sum "../linux-source-7.3_$1_all.deb" | cut -d' ' -f1)
}

# fake_archive unreachable | gone | has VERSION SHA256: in place of apt-private.
fake_archive()
{
	cat > scripts/apt-private << END
#!/bin/sh
[ $1 != unreachable ] || exit 7
[ $1 = has ] || exit 0
case \$1 in
versions) echo "${2:-} ${3:-} linux-source-7.3_${2:-}_all.deb" ;;
download)
	[ -e ../linux-source-7.3_${2:-}_all.deb ] || exit 7
	mkdir -p build/dl/${3:-}
	cp ../linux-source-7.3_${2:-}_all.deb build/dl/${3:-}
	echo build/dl/${3:-}/linux-source-7.3_${2:-}_all.deb ;;
esac
END
}

# shellcheck source=/dev/null
. "$1"
