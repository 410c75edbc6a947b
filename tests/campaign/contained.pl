#!/usr/bin/perl
# Runs the tests of a foreign suite so that nothing of them stays and nothing of them gets out.
#
#   contained.pl SECONDS COMMAND...
#
# The command gets a network of its own that has the loopback alone, if the system gives this user
# one: its ports are free, whatever else runs. After SECONDS, or when the command has ended, all
# processes that it started are ended, also those that left its session. The exit code is the
# command's, 124 if its time was up, 143 if this program was told to end.
use strict;
use warnings;
use POSIX qw(setsid);

# Linux on x86-64, as szc.
use constant { SYS_prctl => 157, SYS_unshare => 272 };
use constant { PR_SET_PDEATHSIG => 1, PR_SET_CHILD_SUBREAPER => 36, CLONE_NEWNET => 0x40000000 };
use constant { AF_INET => 2, SOCK_DGRAM => 2, SIOCSIFFLAGS => 0x8914, IFF_UP => 1 };

my ($seconds, @command) = @ARGV;
die "usage: contained.pl SECONDS COMMAND...\n" unless @command;
# What a process leaves behind becomes a child of this one.
syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 or die "contained.pl: prctl: $!\n";
# If the campaign is ended, so is this.
syscall(SYS_prctl, PR_SET_PDEATHSIG, 15, 0, 0, 0);

sub own_network {
    return unless syscall(SYS_unshare, CLONE_NEWNET) == 0;
    socket(my $any, AF_INET, SOCK_DGRAM, 0) or die "contained.pl: socket: $!\n";
    my $request = pack('a16 s x22', 'lo', IFF_UP);
    ioctl($any, SIOCSIFFLAGS, $request) or die "contained.pl: the loopback does not start: $!\n";
}

sub children {
    my @found;
    for my $file (glob '/proc/[0-9]*/stat') {
        open(my $stat, '<', $file) or next;
        # The name may hold anything; what follows its last bracket does not.
        my $line = <$stat> // next;
        my ($pid) = $line =~ /^(\d+)/;
        my ($parent) = $line =~ /.*\) \S (\d+)/s;
        push @found, $pid if defined $parent && $parent == $$;
    }
    return @found;
}

# The children of those that are ended become children of this one, and are ended in the next turn.
sub end_all {
    while (my @left = children()) {
        kill 'KILL', @left;
        waitpid($_, 0) for @left;
    }
}

my $child = fork() // die "contained.pl: fork: $!\n";
if ($child == 0) {
    # What a shell starts behind itself ignores these, and so would the tests.
    @SIG{qw(INT QUIT)} = ('DEFAULT') x 2;
    setsid();
    own_network();
    exec(@command) or die "contained.pl: $command[0]: $!\n";
}

# perl takes up waitpid again after a signal; only what a handler throws leaves it.
my $status = 0;
my $ended_by = 0;
eval {
    local $SIG{ALRM} = sub { die 124 . "\n" };
    local @SIG{qw(TERM INT HUP)} = (sub { die 143 . "\n" }) x 3;
    alarm $seconds;
    while ((my $pid = waitpid(-1, 0)) > 0) {
        $status = $? if $pid == $child;
        last if $pid == $child;
    }
    alarm 0;
    1;
} or $ended_by = $@ + 0;
end_all();
warn "contained.pl: ended after $seconds s\n" if $ended_by == 124;
exit($ended_by || ($status & 127 ? 128 + ($status & 127) : $status >> 8));
