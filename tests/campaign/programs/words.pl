# Counts words. Usage: perl words.pl [ROUNDS]
my (%count, $seed);
for my $round (1 .. ($ARGV[0] // 40000)) {
    $seed = ($seed * 1103515245 + 12345) % 2147483648;
    my $word = join "", map { chr 97 + ($seed >> $_) % 26 } 3, 7, 11;
    $count{$word}++ if $word =~ /^[a-m]\w+$/;
}
my @sorted = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$_ $count{$_}\n" for @sorted[0 .. 9];
