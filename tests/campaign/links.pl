#!/usr/bin/env perl
# Do the links of a folder of HTML pages lead to files, and to parts of pages, that are there?
# Prints those that do not, each behind its page; exit code 1 if there are any, or no link at all.
#
#   links.pl FOLDER
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find qw(find);

my $folder = $ARGV[0] // die "usage: links.pl FOLDER\n";
my (%parts, @pages, $links, $dead);

sub text {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar <$file>;
}

# The names of the parts of a page.
sub parts {
    my ($path) = @_;
    $parts{$path} //= { map { $_ => 1 } text($path) =~ /\bid="([^"]*)"/g };
    return $parts{$path};
}

find({ no_chdir => 1, wanted => sub { push @pages, $_ if /\.html$/ } }, $folder);
for my $page (sort @pages) {
    my $html = text($page);
    my %seen;
    for my $link ($html =~ /\b(?:href|src)="([^"]*)"/g) {
        next if $link =~ /^[a-z]+:/ || $link eq '' || $seen{$link}++;
        $links++;
        my ($file, $part) = split /#/, $link, 2;
        my $target = $file eq '' ? $page : dirname($page) . "/$file";
        my $there = -e $target;
        $there = parts($target)->{$part}
            if $there && defined $part && $part ne '' && $target =~ /\.html$/;
        next if $there;
        $dead++;
        my $name = substr $page, length($folder) + 1;
        print "$name: $link leads nowhere\n";
    }
}
die "no links in $folder\n" unless $links;
exit($dead ? 1 : 0);
