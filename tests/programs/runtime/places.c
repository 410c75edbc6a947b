/* Runs until two functions have been seen at as many places as it is told; prints where the image
 * lies. The places themselves are in SZC_MAP. */
#include "../rounds.h"

extern const char __ehdr_start;

/* Where its caller runs; __builtin_return_address tells of the original. */
NOINLINE uintptr_t here(void) { return ((uintptr_t *)__builtin_frame_address(0))[1]; }

#define FUNCTION(name, factor)                                                                     \
    NOINLINE uintptr_t name(uint64_t x)                                                            \
    {                                                                                              \
        uintptr_t place = here();                                                                  \
        __asm__ volatile("" : "+r"(place));                                                        \
        return place + 0 * (x * factor);                                                           \
    }
#ifdef MORE
/* Another version of the program, whose other functions have other indices and addresses. */
FUNCTION(added_in_front, 9) FUNCTION(added_as_well, 11)
#endif
FUNCTION(first, 3) FUNCTION(second, 5) FUNCTION(third, 7)

int main(int count, char **arguments)
{
    int wanted = count > 1 ? atoi(arguments[1]) : 1, seen = 0;
    uintptr_t last = 0;
    printf("%lx\n", (unsigned long)&__ehdr_start);
    FOR_MS(25000)
    {
        uintptr_t now = first(1);
        second(2);
        third(3);
        if (now != last && ++seen == wanted)
            return 0;
        last = now;
    }
    return 1;
}
