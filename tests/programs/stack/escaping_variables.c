//#Variants: -O2 | -O0 | -O1 | -O3 | -Os | -O2 -fno-omit-frame-pointer | -O2 -fstack-protector-all |
//#    -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto | -O2 -Rall -Rstack=per-call |
//#    -O2 -Rall -Rstack=per-function
//#Movable: 15
/* While an activation of a caller lasts, the variables of what it calls lie where they lay:
 * programs note addresses and compare them later, as levels of the stack. */
#include "../rounds.h"
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

/* Keeps an address where clang does not look. */
NOINLINE static void note(void *address)
{
    __asm__ volatile("" : : "r"(address) : "memory");
}

static uintptr_t anything;

#define STILL_AT(address)                                                                          \
    do {                                                                                           \
        static uintptr_t before;                                                                   \
        uintptr_t now = (uintptr_t)(address);                                                      \
        if (before == 0)                                                                           \
            before = now;                                                                          \
        CHECK(now == before);                                                                      \
    } while (0)

/* Tcl's coroutines: is the C stack what it was when the coroutine began? */
NOINLINE static void level(void)
{
    void *coroutine = &anything;
    note(&coroutine);
    STILL_AT(&coroutine);
}

NOINLINE static void level_in_one_branch(int which)
{
    if (which & 1) {
        char bytes[300];
        memset(bytes, which, sizeof bytes);
        note(bytes);
        STILL_AT(bytes);
    } else {
        note(&anything);
    }
}

struct Large {
    long words[20];
};

NOINLINE static struct Large returned(long first)
{
    struct Large large = { { first } };
    note(&large);
    STILL_AT(&large);
    return large;
}

NOINLINE static long by_value(struct Large large)
{
    note(&large);
    STILL_AT(&large);
    return large.words[0];
}

NOINLINE static long seventh(long a, long b, long c, long d, long e, long f, long g)
{
    note(&g);
    STILL_AT(&g);
    return a + b + c + d + e + f + g;
}

NOINLINE static int variadic(int count, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, count);
    note(&list);
    STILL_AT(&list);
    while (count-- > 0)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

NOINLINE static void aligned(void)
{
    _Alignas(64) char line[64];
    note(line);
    STILL_AT(line);
}

NOINLINE static void of_variable_length(int bytes)
{
    char array[bytes];
    note(array);
    STILL_AT(array);
}

NOINLINE static void from_alloca(int bytes)
{
    char *array = alloca((size_t)bytes);
    note(array);
    STILL_AT(array);
}

NOINLINE static void frame(void)
{
    note(&anything);
    STILL_AT(__builtin_frame_address(0));
}

register uintptr_t stack_pointer __asm__("rsp");

NOINLINE static void global_register(void)
{
    note(&anything);
    STILL_AT(stack_pointer);
}

/* A conservative collector: registers and what lies between here and the base. */
static uintptr_t *base;

NOINLINE static int scan(uintptr_t wanted)
{
    jmp_buf registers;
    int found = 0;
    setjmp(registers);
    note(registers);
    STILL_AT(&registers);
    for (volatile uintptr_t *word = (uintptr_t *)&registers; word < base; word++)
        found += *word == wanted;
    return found > 0;
}

/* Handlers that are known by where they lie. */
struct Handler {
    struct Handler *outer;
    jmp_buf back;
};

static struct Handler *innermost;

NOINLINE static void raise_again(int value)
{
    note(&value);
    longjmp(innermost->back, value + 1);
}

NOINLINE static int guarded(int value)
{
    struct Handler own = { .outer = innermost };
    STILL_AT(&own);
    innermost = &own;
    int got = setjmp(own.back);
    if (got == 0)
        raise_again(value);
    CHECK(innermost == &own);
    innermost = own.outer;
    return got;
}

/* `alloca` for compilers that have none: what deeper callers took is given back. */
struct Block {
    struct Block *next;
    char *depth;
};

static struct Block *blocks;

NOINLINE static void *take(size_t bytes)
{
    char probe = 0;
    note(&probe);
    while (blocks && blocks->depth < &probe) {
        struct Block *block = blocks;
        blocks = block->next;
        free(block);
    }
    if (bytes == 0)
        return NULL;
    struct Block *block = malloc(sizeof *block + bytes);
    CHECK(block);
    *block = (struct Block){ blocks, &probe };
    blocks = block;
    return memset(block + 1, 1, bytes);
}

NOINLINE static unsigned take_deeper(int depth)
{
    unsigned char *taken = take(24);
    return taken[3] + (depth > 0 ? take_deeper(depth - 1) : 0u);
}

static void (*volatile through_pointer)(void) = level;

int main(void)
{
    uintptr_t marked[4] = { 0x5a43f0e1d2c3b4a5 };
    int round = 0;
    base = marked + 4;
    note(marked);
    unsigned char *taken = take(16);
    struct Block *own = blocks;
    FOR_A_WHILE {
        level();
        through_pointer();
        level_in_one_branch(round++);
        struct Large large = returned(round % 3);
        CHECK(by_value(large) == round % 3);
        SAME_EVERY_ROUND(seventh(1, 2, 3, 4, 5, 6, 7) + variadic(3, 1, 2, 3));
        aligned();
        of_variable_length(40);
        from_alloca(56);
        frame();
        global_register();
        SAME_EVERY_ROUND(scan(marked[0]));
        SAME_EVERY_ROUND(guarded(4));
        SAME_EVERY_ROUND(take_deeper(3));
        CHECK(take(0) == NULL && blocks == own && taken[15] == 1);
    }
    return 0;
}
