//#Variants: -O2 | -O0 | -static | -O2 -no-pie | -O2 -fPIC | gcc -O2 | gcc -O2 -no-pie -static
//#With: weak_alias_ifunc_other.c
//#Movable: 4
#include "../rounds.h"

long weak_default(long) __attribute__((weak));
long absent(long) __attribute__((weak));
NOINLINE long weak_default(long x) { return x + 1; }

NOINLINE long original(long x) { return x * 3; }
long another_name(long) __attribute__((alias("original")));
static long hidden_name(long) __attribute__((alias("original")));

static long fast(long x) { return x * 5 + 2; }
static long slow(long x) { return x * 5 + 1; }
long chosen(long x);
static long (*choose(void))(long) { return sizeof(void *) == 8 ? fast : slow; }
long chosen(long x) __attribute__((ifunc("choose")));

long other(long);
extern long (*const other_table[])(long);

int main(void)
{
    long (*volatile pointer)(long) = chosen;
    long (*volatile names[])(long) = {original, another_name, hidden_name};
    FOR_A_WHILE
    {
        CHECK(names[0] == names[1] && names[0] == names[2]);
        CHECK(!absent);
        CHECK(other_table[1] == names[0] && other_table[0] != names[0]);
        SAME_EVERY_ROUND(weak_default(1) + another_name(2) + hidden_name(3));
        SAME_EVERY_ROUND(chosen(7) + pointer(8) + other(9));
    }
    return 0;
}
