#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# The one rule of the tiny tree: no added line ends in a blank. Options are taken
# as the kernel's script takes them, and mean nothing here.
use strict;
use Getopt::Long;
my ($bad, %ignored) = (0);
GetOptions(\%ignored, 'q', 'strict', 'show-types', 'summary!', 'ignore=s') or exit 2;
while (<>) {
	next unless /^\+.*[ \t]$/;
	print "ERROR:TRAILING_WHITESPACE: line $.\n";
	$bad = 1;
}
exit $bad;
