//#Variants: -O2 | -O0 | -Os -fstack-protector-all
//#Flags: -pthread
/* How deep recursions of many shapes of frames go.
 *
 *   bytes                       what each call takes of the stack, in bytes, a line for each shape
 *   main SHAPE DEPTH …          a recursion of each of these shapes; prints what they return
 *   STACK_BYTES SHAPE DEPTH …   the same, each on a thread with a stack of this size; 0: the
 *                               default
 *
 * Without arguments each shape goes down a little. */
#include "../rounds.h"
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

static volatile uint64_t step = 1;
static uintptr_t deepest;

NOINLINE static uint64_t end(void)
{
    volatile char here = 1;
    deepest = (uintptr_t)&here;
    return (uint64_t)here;
}

/* What the compiler must keep in memory, or not know. */
#define KEEP(address) __asm__ volatile("" : : "r"(address) : "memory")
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

NOINLINE static uint64_t least(uint64_t depth)
{
    if (depth == 0)
        return end();
    uint64_t below = least(depth - 1);
    OPAQUE(below);
    return below + step;
}

NOINLINE static uint64_t variable(uint64_t depth)
{
    int own = 7;
    if (depth == 0)
        return end();
    KEEP(&own);
    return variable(depth - 1) + (uint64_t)own;
}

#define ARRAY(name, type, count)                                                                   \
    NOINLINE static uint64_t name(uint64_t depth)                                                  \
    {                                                                                              \
        type own[count];                                                                           \
        own[0] = (type)depth;                                                                      \
        if (depth == 0)                                                                            \
            return end();                                                                          \
        KEEP(own);                                                                                 \
        uint64_t below = name(depth - 1);                                                          \
        KEEP(own);                                                                                 \
        return below + (uint64_t)own[depth % 2 * 0];                                               \
    }
ARRAY(bytes_8, unsigned char, 8)
ARRAY(bytes_40, unsigned char, 40)
ARRAY(words_13, uint64_t, 13)
ARRAY(bytes_300, unsigned char, 300)
ARRAY(doubles_3, double, 3)

/* More than one array, and a variable whose address is taken, which a stack protector sorts. */
NOINLINE static uint64_t sorted(uint64_t depth)
{
    unsigned char name[16] = {1};
    uint64_t words[2] = {depth, 2};
    uint64_t taken = 3, plain = depth % 5;
    if (depth == 0)
        return end();
    KEEP(name);
    KEEP(words);
    KEEP(&taken);
    uint64_t below = sorted(depth - 1);
    return below + name[depth % 16] + words[depth % 2] + taken + plain;
}

/* Many values that live across the call: more than there are registers to keep them. */
NOINLINE static uint64_t spilled(uint64_t depth)
{
    uint64_t a = step + depth, b = a * 3, c = a * 5, d = a * 7, e = a * 11, f = a * 13, g = a * 17;
    OPAQUE(a);
    OPAQUE(b);
    OPAQUE(c);
    OPAQUE(d);
    OPAQUE(e);
    OPAQUE(f);
    OPAQUE(g);
    if (depth == 0)
        return end();
    uint64_t below = spilled(depth - 1);
    OPAQUE(below);
    return below + (a ^ b ^ c ^ d ^ e ^ f ^ g);
}

NOINLINE static uint64_t of_eight(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                  uint64_t f, uint64_t g, uint64_t depth)
{
    if (depth == 0)
        return end();
    uint64_t below = of_eight(b, c, d, e, f, g, a, depth - 1);
    OPAQUE(below);
    return below + a;
}
NOINLINE static uint64_t taking_eight(uint64_t depth)
{
    return of_eight(1, 2, 3, 4, 5, 6, 7, depth);
}

/* The callee of the recursion has arguments on the stack, not the recursion itself. */
NOINLINE static uint64_t sum_of_eight(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return (uint64_t)(a + b + c + d + e + f + g + h) + step;
}
NOINLINE static uint64_t passing_eight(uint64_t depth)
{
    if (depth == 0)
        return end();
    uint64_t below = passing_eight(depth - 1);
    OPAQUE(below);
    return below + sum_of_eight(1, 2, 3, 4, 5, 6, 7, (int)(depth % 9));
}

/* The program can read where the labels are. */
NOINLINE static uint64_t labels(uint64_t depth)
{
    static void *const where[] = {&&last, &&further};
    static void *volatile escaped;
    escaped = where[depth % 2];
    goto *where[depth != 0];
last:
    return end();
further: {
    uint64_t below = labels(depth - 1);
    return below + step + (escaped == NULL);
}
}

NOINLINE static uint64_t cases(uint64_t depth)
{
    uint64_t below;
    if (depth == 0)
        return end();
    switch (depth % 9) {
    case 0: below = cases(depth - 1) * 3; break;
    case 1: below = cases(depth - 1) + 2; break;
    case 2: below = cases(depth - 1) + step; break;
    case 3: below = cases(depth - 1) ^ 9; break;
    case 4: below = cases(depth - 1) - step; break;
    case 5: below = cases(depth - 1) * 5; break;
    default: below = cases(depth - 1) + 7; break;
    }
    OPAQUE(below);
    return below;
}

NOINLINE static uint64_t jumping(uint64_t depth)
{
    jmp_buf back;
    if (depth == 0)
        return end();
    if (setjmp(back) != 0)
        return 0;
    return jumping(depth - 1) + step;
}

struct four {
    uint64_t words[4];
};
NOINLINE static struct four of_four(uint64_t depth)
{
    struct four result = {{1}};
    if (depth == 0) {
        result.words[1] = end();
        return result;
    }
    result = of_four(depth - 1);
    result.words[0] += step;
    return result;
}
NOINLINE static uint64_t structure(uint64_t depth) { return of_four(depth).words[0]; }

NOINLINE static double halves(uint64_t depth)
{
    if (depth == 0)
        return (double)end();
    return halves(depth - 1) * 0.5 + (double)step;
}
NOINLINE static uint64_t floating(uint64_t depth) { return (uint64_t)(halves(depth) * 1e6); }

NOINLINE static uint64_t variadic(uint64_t depth, ...)
{
    va_list more;
    va_start(more, depth);
    uint64_t own = va_arg(more, uint64_t);
    va_end(more);
    if (depth == 0)
        return end();
    return variadic(depth - 1, own + 1) + own % 3;
}
NOINLINE static uint64_t any_number(uint64_t depth) { return variadic(depth, (uint64_t)1); }

NOINLINE static uint64_t sized_here(uint64_t depth)
{
    unsigned char own[step + depth % 40];
    own[0] = 5;
    if (depth == 0)
        return end();
    KEEP(own);
    return sized_here(depth - 1) + own[0];
}

NOINLINE static uint64_t aligned(uint64_t depth)
{
    _Alignas(64) unsigned char own[64];
    own[0] = 5;
    if (depth == 0)
        return end();
    KEEP(own);
    return aligned(depth - 1) + own[0];
}

NOINLINE static uint64_t returning(uint64_t depth)
{
    if (depth == 0)
        return end();
    uint64_t below = returning(depth - 1);
    OPAQUE(below);
    return below + (__builtin_return_address(0) != NULL);
}

typedef float vector __attribute__((vector_size(16)));
NOINLINE static uint64_t element(uint64_t depth)
{
    vector own = {1, 2, 3, (float)(depth % 7)};
    if (depth == 0)
        return end();
    uint64_t below = element(depth - 1);
    OPAQUE(below);
    return below + (uint64_t)own[depth % 4];
}

/* Two functions in turn, one of which is left early. */
static uint64_t odd(uint64_t depth);
NOINLINE static uint64_t even(uint64_t depth)
{
    if (depth == 0)
        return end();
    uint64_t below = odd(depth - 1);
    return below + step;
}
NOINLINE static uint64_t odd(uint64_t depth)
{
    if (depth == 0)
        return end();
    unsigned char own[24];
    own[3] = 1;
    KEEP(own);
    return even(depth - 1) + own[3];
}

static const struct {
    const char *name;
    uint64_t (*down)(uint64_t);
} shapes[] = {
    {"least", least},
    {"variable", variable},
    {"bytes_8", bytes_8},
    {"bytes_40", bytes_40},
    {"words_13", words_13},
    {"bytes_300", bytes_300},
    {"doubles_3", doubles_3},
    {"sorted", sorted},
    {"spilled", spilled},
    {"taking_eight", taking_eight},
    {"passing_eight", passing_eight},
    {"labels", labels},
    {"cases", cases},
    {"jumping", jumping},
    {"structure", structure},
    {"floating", floating},
    {"any_number", any_number},
    {"sized_here", sized_here},
    {"aligned", aligned},
    {"returning", returning},
    {"element", element},
    {"even", even},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], CALLS = 7200 };

struct task {
    uint64_t (*down)(uint64_t);
    uint64_t depth, result;
};
static void *carry_out(void *argument)
{
    struct task *task = argument;
    task->result = task->down(task->depth);
    return NULL;
}

static void on_a_thread(struct task *task, uint64_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(stack_bytes == 0 || pthread_attr_setstacksize(&attributes, stack_bytes) == 0);
    CHECK(pthread_create(&thread, &attributes, carry_out, task) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(int count, char **words)
{
    if (count == 1) {
        FOR_A_WHILE
        {
            uint64_t sum = 0;
            for (int i = 0; i < SHAPES; i++)
                sum = sum * 31 + shapes[i].down(40);
            SAME_EVERY_ROUND(sum);
        }
        return 0;
    }
    if (count == 2) {
        for (int i = 0; i < SHAPES; i++) {
            shapes[i].down(0);
            uintptr_t highest = deepest;
            shapes[i].down(CALLS);
            printf("%s %.1f\n", shapes[i].name, (double)(highest - deepest) / CALLS);
        }
        return 0;
    }
    for (int word = 2; word + 1 < count; word += 2) {
        struct task task = {.depth = strtoull(words[word + 1], NULL, 10)};
        for (int i = 0; i < SHAPES; i++)
            if (strcmp(words[word], shapes[i].name) == 0)
                task.down = shapes[i].down;
        CHECK(task.down != NULL);
        printf("%s ", words[word]);
        fflush(stdout);
        if (strcmp(words[1], "main") == 0)
            carry_out(&task);
        else
            on_a_thread(&task, strtoull(words[1], NULL, 10));
        printf("%llu\n", (unsigned long long)task.result);
    }
    return 0;
}
