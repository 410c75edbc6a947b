/* Prints a distance between two functions, two frames and two blocks: each follows from one part of
 * the layout, wherever the kernel's bases are. */
#include "../rounds.h"

static uintptr_t callers[2], frames[2];

/* __builtin_return_address tells of the original. */
NOINLINE void look(int place)
{
    uintptr_t *frame = __builtin_frame_address(0);
    callers[place] = frame[1];
    frames[place] = (uintptr_t)frame;
}

NOINLINE void deeper(void)
{
    volatile char here[96];
    here[0] = 1;
    look(here[0]);
    here[1] = here[0];
}

int main(void)
{
    uintptr_t blocks[2];
    look(0);
    deeper();
    for (int i = 0; i < 2; i++)
        blocks[i] = (uintptr_t)malloc(48);
    printf("%ld %ld %ld\n", (long)(callers[1] - callers[0]), (long)(frames[1] - frames[0]),
           (long)(blocks[1] - blocks[0]));
    return 0;
}
