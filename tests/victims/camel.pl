#!/usr/bin/perl
# perl makes the calls.
if (open(my $file, '<', '/etc/passwd')) {
    my $line = <$file>;
    print defined $line ? "read ok\n" : "read: " . ($! + 0) . "\n";
} else {
    print "open: " . ($! + 0) . "\n";
}
print "mkdir: ", (mkdir("made") ? "ok" : $! + 0), "\n";
