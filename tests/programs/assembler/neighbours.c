//#Variants: -O2 | -O2 -no-pie | gcc -O2 | -static | -O2 -fuse-ld=bfd
//#With: neighbours.s
/* Functions written by hand that share a section: see neighbours.s. */
#include "../rounds.h"

long calls_neighbour(long), jumps_short(long), neighbour(long), tail(long), loops_to_entry(long),
    first_is_long(long), reads_constant(void), reads_after_itself(void), falls_into(long),
    fallen_into(long), indirect(long), into_the_middle(long), has_middle(long), pointer_call(long),
    no_size(long);

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(calls_neighbour(10));
        SAME_EVERY_ROUND(jumps_short(3) + neighbour(5));
        SAME_EVERY_ROUND(tail(7));
        SAME_EVERY_ROUND(loops_to_entry(100));
        SAME_EVERY_ROUND(first_is_long(0));
        SAME_EVERY_ROUND(reads_constant() + reads_after_itself());
        SAME_EVERY_ROUND(falls_into(1) + fallen_into(2));
        SAME_EVERY_ROUND(indirect(2));
        SAME_EVERY_ROUND(into_the_middle(20) + has_middle(1));
        SAME_EVERY_ROUND(pointer_call(6));
        SAME_EVERY_ROUND(no_size(8));
    }
    return 0;
}
