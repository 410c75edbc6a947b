#!/usr/bin/env perl
# duet.pl PAIRS 'A' 'B': runs two commands at once, A on processor 0 and B on 1, in turn the other
# way round; prints the wall seconds of A and of B, a pair a line (Bulej and others 2020, "Duet
# benchmarking"). Their output is thrown away; ends with 1 if one fails.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($pairs, @commands) = @ARGV;
for my $pair (1 .. $pairs) {
    my (%of, @start, @seconds);
    for my $which (0, 1) {
        my $processor = ($which + $pair) % 2;
        $start[$which] = clock_gettime(CLOCK_MONOTONIC);
        my $child = fork // die "fork: $!\n";
        if (!$child) {
            open STDOUT, ">", "/dev/null" or POSIX::_exit(127);
            exec "exec taskset -c $processor $commands[$which]" or POSIX::_exit(127);
        }
        $of{$child} = $which;
    }
    while (%of) {
        my $child = waitpid -1, 0;
        my $which = delete $of{$child};
        $seconds[$which] = clock_gettime(CLOCK_MONOTONIC) - $start[$which];
        die "'$commands[$which]' ended with $?\n" if $?;
    }
    printf "%.6f\t%.6f\n", @seconds;
}
