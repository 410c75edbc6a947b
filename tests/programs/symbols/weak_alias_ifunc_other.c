/* The other module of weak_alias_ifunc.c: its strong definition replaces the weak one. */
long weak_default(long x) { return x + 100; }
long chosen(long x);
long original(long x);
long (*const other_table[])(long) = {chosen, original};
__attribute__((noinline)) long other(long x)
{
    return chosen(x) + weak_default(x) + other_table[1](x);
}
