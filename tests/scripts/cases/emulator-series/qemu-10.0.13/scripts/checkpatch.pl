# Finds what the tests put there.
@ARGV = grep(!/^-/, @ARGV);
my $file = "";
while (<>) {
    $file = $1 if /^\+\+\+ b\/(.*)/;
    print "ERROR: three operands\n#1: FILE: $file:1:\n$_\n" if /^\+.*M,y,z/;
    print "ERROR: space required after that ',' (ctx:VxV)\n#1: FILE: target/i386/tcg/decode-new.c.inc:1:\n$_\n" if /^\+.*M,y/;
    print "WARNING: added, moved or deleted file(s), does MAINTAINERS need updating?\n#1: \n$_\n" if /^new file/;
}
