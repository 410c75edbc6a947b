//#Variants: -O2 | -static
//#Epochs: 0
/* The program forbids itself to make memory executable (PR_SET_MDWE, Linux 6.3): whether there are
 * further layouts or not, it and its children go on. */
#include "deeper.h"
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET_MDWE 65
#define REFUSE_EXEC_GAIN 1

NOINLINE static uint64_t first_in_child(uint64_t x) { return deeper(x, 3) ^ 5; }

int main(void)
{
    uint64_t expected = deeper(5, 9);
    /* Older kernels know nothing of it, and then nothing is forbidden. */
    prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0);
    FOR_A_WHILE SAME_EVERY_ROUND(deeper(7, 4));
    for (int round = 0; round < 5; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            FOR_MS(10) CHECK(deeper(5, 9) == expected);
            _exit(first_in_child(3) == (deeper(3, 3) ^ 5) ? 9 : 1);
        }
        FOR_MS(5) CHECK(deeper(5, 9) == expected);
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        printf("child %d: %x\n", round, (unsigned)status);
    }
    return 0;
}
