#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# The rules of the tiny tree: no added line ends in a blank or has a capital
# letter after a small one. Options are taken as the kernel's script takes them,
# and mean nothing here.
use strict;
use Getopt::Long;
my ($bad, $file, %ignored) = (0, '');
GetOptions(\%ignored, 'q', 'strict', 'show-types', 'summary!', 'ignore=s') or exit 2;

sub report {
	my ($type) = @_;
	print "$type: not here\n#$.: FILE: $file:1:\n$_\n";
	$bad = 1;
}

while (<>) {
	$file = $1 if /^\+\+\+ b\/(.*)/;
	next unless /^\+[^+]/;
	report('ERROR:TRAILING_WHITESPACE') if /[ \t]$/;
	report('CHECK:CAMELCASE') if /[a-z][A-Z]|PRIx64/;
}
exit $bad;
