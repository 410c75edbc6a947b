//#Variants: -O2 | -O0 | -O2 -fno-omit-frame-pointer | -O2 -flto | -O2 -fstack-protector-all
//#Flags: -pthread
/* Programs that end a recursion by the distance of addresses, as interpreters, parsers and data
 * bases do: what they allow themselves suffices as it does without pads. Each way takes 40 to 80
 * percent of its limit. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#define KEEP(address) __asm__ volatile("" : : "r"(address) : "memory")

/* A parser: nested brackets, and an address in main as the start (QuickJS: 256 KiB). */
static char *base;
static size_t allowed = 256 << 10;
static const char *next;

NOINLINE static int list(void);
NOINLINE static int value(void)
{
    char here;
    if (base - &here > (long)allowed)
        return -1;
    return *next == '(' ? list() : (next++, 1);
}
NOINLINE static int list(void)
{
    int sum = 1;
    for (next++; *next != ')';) {
        int inner = value();
        if (inner < 0)
            return -1;
        sum += inner;
    }
    next++;
    return sum;
}
static int nested(int levels)
{
    static char text[32768];
    memset(text, '(', (size_t)levels);
    text[levels] = 'x';
    memset(text + levels + 1, ')', (size_t)levels);
    text[2 * levels + 1] = '\0';
    next = text;
    return value();
}

/* A function of its own that looks at the depth, as PostgreSQL's does: 100 kB at least. */
static char *top;
static long max_stack_depth = 100 * 1024L;
NOINLINE static int stack_is_too_deep(void)
{
    char here;
    long depth = top - &here;
    if (depth < 0)
        depth = -depth;
    return depth > max_stack_depth && top != NULL;
}
NOINLINE static uint64_t expression(uint64_t depth)
{
    if (stack_is_too_deep())
        return UINT64_MAX;
    uint64_t own[12];
    own[depth % 12] = depth;
    KEEP(own);
    if (depth == 0)
        return 1;
    uint64_t below = expression(depth - 1);
    KEEP(own);
    return below == UINT64_MAX ? below : below + own[depth % 12];
}

/* Three functions in turn, called through pointers; the limit is an address (JavaScriptCore). */
struct machine {
    uintptr_t stack_limit;
    uint64_t (*operations[3])(struct machine *, uint64_t);
};
#define OPERATION(name, words, operator)                                                           \
    NOINLINE static uint64_t name(struct machine *machine, uint64_t depth)                         \
    {                                                                                              \
        volatile uint64_t own[words];                                                              \
        if ((uintptr_t)__builtin_frame_address(0) < machine->stack_limit)                          \
            return UINT64_MAX;                                                                     \
        own[depth % words] = depth;                                                                \
        if (depth == 0)                                                                            \
            return 7;                                                                              \
        uint64_t below = machine->operations[depth % 3](machine, depth - 1);                       \
        return below == UINT64_MAX ? below : below operator own[depth % words] % 5;                \
    }
OPERATION(add, 4, +)
OPERATION(mix, 9, ^)
OPERATION(call, 20, +)
static uint64_t interpret(uint64_t depth, size_t bytes)
{
    char here;
    struct machine machine = {(uintptr_t)&here - bytes, {add, mix, call}};
    return machine.operations[0](&machine, depth);
}

/* Down to a share of what the system gives (Ruby, clang): 80 percent of the limit less a margin. */
NOINLINE static uint64_t counted(uint64_t depth, uintptr_t limit)
{
    volatile char own[100];
    if ((uintptr_t)own < limit)
        return UINT64_MAX;
    own[depth % 100] = 1;
    if (depth == 0)
        return 0;
    uint64_t below = counted(depth - 1, limit);
    return below == UINT64_MAX ? below : below + (unsigned char)own[depth % 100];
}
enum { COUNTED_BYTES = 176 };
NOINLINE static uint64_t as_deep_as_the_limit_allows(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    uint64_t bytes = limit.rlim_cur < 8 << 20 ? limit.rlim_cur : 8 << 20;
    char here;
    uint64_t usable = bytes - (256 << 10);
    return counted(usable / 10 * 8 / COUNTED_BYTES, (uintptr_t)&here - usable) != UINT64_MAX;
}

static void *on_thread(void *argument)
{
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &lowest, &bytes) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    size_t asked = *(size_t *)argument;
    char here;
    /* By what libc says, and by what the thread was made with. */
    CHECK(counted(asked / 10 * 6 / COUNTED_BYTES, (uintptr_t)lowest + (16 << 10)) != UINT64_MAX);
    uintptr_t limit = (uintptr_t)&here - asked;
    return (void *)(uintptr_t)(counted(asked / 10 * 6 / COUNTED_BYTES, limit) != UINT64_MAX);
}
static uint64_t in_thread(size_t asked)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, asked) == 0);
    CHECK(pthread_create(&thread, &attributes, on_thread, &asked) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    return (uint64_t)result;
}

int main(void)
{
    char here;
    base = top = &here;
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(nested(3200));
        SAME_EVERY_ROUND(expression(440));
        SAME_EVERY_ROUND(interpret(1200, 256 << 10));
        SAME_EVERY_ROUND(as_deep_as_the_limit_allows());
        SAME_EVERY_ROUND(in_thread(512 << 10));
        SAME_EVERY_ROUND(in_thread(2 << 20));
        /* And the limits are there. */
        CHECK(nested(12000) == -1 && expression(20000) == UINT64_MAX);
        CHECK(interpret(20000, 256 << 10) == UINT64_MAX);
    }
    return 0;
}
