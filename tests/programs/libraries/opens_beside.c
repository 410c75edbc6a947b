//#Variants: -O2 | -O0 | gcc -O2 | -O2 -fuse-ld=bfd
//#Library: opens_beside_opener.c -ldl
//#Plugin: opens_beside_plugin.c
//#Attached: 2
/* A library opens what lies beside it: the loader looks at who asks. */
#include "../rounds.h"

int open_and_ask(void);
int open_only(void);

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(open_only());
        SAME_EVERY_ROUND(open_and_ask());
        CHECK(open_and_ask() == 42);
    }
    return 0;
}
