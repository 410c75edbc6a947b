/* What a step of the stack pointer costs a register that is saved before it and restored behind it,
 * as every frame does with its pad in between. For steps of several sizes, the latency of
 *
 *     push %rbx; step down; step up; pop %rbx; add $1, %rbx
 *     step down; push %rbx; pop %rbx; step up; add $1, %rbx          (and with six nops in front of
 *                                                                    the push)
 *
 * in units of a dependent addition, which is a cycle: the least of several measurements. x86-64
 * only.
 *
 *     cc -O2 tests/campaign/programs/stack-step.c -o stack-step && ./stack-step
 *
 * On processors that rename stores to loads by the stack pointer (AMD Zen 3 and Zen 5), the latency
 * jumps between steps of 248 and 256 bytes; MEASURED.md says what that means for padded frames. */
#include <stdio.h>
#include <time.h>

#define ROUNDS 20000000L
#define REPEATS 9

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Defines a function that takes the seconds of ROUNDS rounds of these instructions. */
#define CHAIN(name, instructions)                                                        \
    static double name(void)                                                             \
    {                                                                                    \
        long rounds = ROUNDS;                                                            \
        double start = now();                                                            \
        __asm__ volatile("1: " instructions "\n sub $1, %0\n jnz 1b"                     \
                         : "+r"(rounds)                                                  \
                         :                                                               \
                         : "rbx", "cc", "memory");                                       \
        return now() - start;                                                            \
    }
#define FRAME(name, down, up)                                                            \
    CHAIN(name, "push %%rbx\n" down "\n" up "\n pop %%rbx\n add $1, %%rbx")

#define FRAME_BELOW(name, down, up)                                                      \
    CHAIN(name, down "\n push %%rbx\n pop %%rbx\n" up "\n add $1, %%rbx")
#define SIX_NOPS "\n .rept 6\n nop\n .endr\n"

CHAIN(eight_additions, ".rept 8\n add $1, %%rbx\n .endr")
FRAME(no_step, "", "")
FRAME(step_8, "sub $8, %%rsp", "add $8, %%rsp")
FRAME(step_120, "sub $120, %%rsp", "add $120, %%rsp")
FRAME(step_248, "sub $248, %%rsp", "add $248, %%rsp")
FRAME(step_256, "sub $256, %%rsp", "add $256, %%rsp")
FRAME(step_1008, "sub $1008, %%rsp", "add $1008, %%rsp")
FRAME(step_4080, "sub $4080, %%rsp", "add $4080, %%rsp")
FRAME(two_steps_248, "sub $248, %%rsp\n sub $248, %%rsp", "add $248, %%rsp\n add $248, %%rsp")
FRAME(lea_120, "lea -120(%%rsp), %%rsp", "lea 120(%%rsp), %%rsp")
FRAME(lea_4080, "lea -4080(%%rsp), %%rsp", "lea 4080(%%rsp), %%rsp")
FRAME_BELOW(below_248, "sub $248, %%rsp", "add $248, %%rsp")
FRAME_BELOW(below_4080, "sub $4080, %%rsp", "add $4080, %%rsp")
FRAME_BELOW(later_248, "sub $248, %%rsp" SIX_NOPS, "add $248, %%rsp")
FRAME_BELOW(later_4080, "sub $4080, %%rsp" SIX_NOPS, "add $4080, %%rsp")

static double least(double (*measure)(void))
{
    double least = measure();
    for (int i = 1; i < REPEATS; i++) {
        double next = measure();
        if (next < least)
            least = next;
    }
    return least;
}

int main(void)
{
    static const struct {
        const char *step;
        double (*measure)(void);
    } steps[] = {
        { "none", no_step },
        { "sub 8", step_8 },
        { "sub 120", step_120 },
        { "sub 248", step_248 },
        { "sub 256", step_256 },
        { "sub 1008", step_1008 },
        { "sub 4080", step_4080 },
        { "sub 248, twice", two_steps_248 },
        { "lea 120", lea_120 },
        { "lea 4080", lea_4080 },
        { "sub 248 before push", below_248 },
        { "sub 4080 before push", below_4080 },
        { "sub 248, nops, push", later_248 },
        { "sub 4080, nops, push", later_4080 },
    };
    double cycle = least(eight_additions) / 8;
    printf("%-21s %s\n", "step", "cycles from push to pop and one addition");
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        printf("%-21s %.1f\n", steps[i].step, least(steps[i].measure) / cycle);
    return 0;
}
