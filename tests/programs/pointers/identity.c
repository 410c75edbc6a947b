//#Variants: -O2 | -O0 | -O2 -no-pie | -O2 -static | -O2 -fPIC | -flto | gcc -O2 | gcc -O2 -no-pie
//#With: identity_other.c
//#Movable: 4
/* The address of a function is one and the same wherever and whenever it is taken. */
#include "../rounds.h"
#include <string.h>

typedef long function(long);
long shared_function(long);
function *other_address(void);
function *other_static(void);
long other_calls(function *);
int other_compares(function *);

static function *volatile early = shared_function;
static function *const table[] = {shared_function, labs};

NOINLINE static int is_me(void *me);
static int (*volatile me)(void *) = is_me;
NOINLINE static int is_me(void *address) { return address == (void *)is_me && me == is_me; }

int main(void)
{
    function *first = shared_function;
    uintptr_t bits = (uintptr_t)first;
    FOR_A_WHILE
    {
        function *now = shared_function;
        CHECK(first == now && early == now && table[0] == now && other_address() == now);
        CHECK(bits == (uintptr_t)now);
        CHECK(other_compares(now) && !other_compares(other_static()));
        CHECK(is_me((void *)is_me) && me((void *)me));
        CHECK(memcmp(&first, &now, sizeof now) == 0);
        SAME_EVERY_ROUND(first(20) + table[0](1) + early(3) + other_calls(shared_function));
        SAME_EVERY_ROUND(other_static()(5));
    }
    return 0;
}
