//#Variants: -O2 | -O0 | -O2 -DOUTSIDE | gcc -O2 | -O2 -no-pie | -O2 -static
//#Movable: 4
//#Epochs: 10
/* A fiber that calls nothing but functions which run on the thread's own stack as well, so that
 * none of its calls is the first one in a layout. It is left alone inside them for many layouts,
 * then goes on. It is begun by assembly that belongs to no function; with OUTSIDE, so is what
 * switches stacks. */
#include "../rounds.h"
#include <sys/mman.h>

#ifdef OUTSIDE
#define KIND
#define SIZE
#else
#define KIND ".type switch_to, @function\n"
#define SIZE ".size switch_to, . - switch_to\n"
#endif

/* Saves what a call keeps, and goes on where another stack pointer was saved. */
void switch_to(void **from, void **to);
__asm__(".text\n" KIND "switch_to:\n"
        "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov (%rsi), %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n" SIZE);

void begin(void);
__asm__("begin:\n mov %rbx, %rdi\n mov $20, %esi\n call deep\n mov %rax, result(%rip)\n"
        "lea fiber(%rip), %rdi\n lea back(%rip), %rsi\n call switch_to\n ud2\n");

void *fiber, *back;
uint64_t result;
static int on_fiber;

NOINLINE static void rest(void)
{
    if (on_fiber)
        switch_to(&fiber, &back);
}

NOINLINE uint64_t deep(uint64_t value, unsigned depth)
{
    if (depth == 0)
        rest();
    else
        value += deep(value * 3 + depth, depth - 1);
    __asm__ volatile("" : "+r"(value));
    return value ^ depth;
}

static void resume(void)
{
    on_fiber = 1;
    switch_to(&back, &fiber);
    on_fiber = 0;
}

int main(void)
{
    size_t bytes = 256 << 10;
    char *stack = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FOR_MS(20) { SAME_EVERY_ROUND(deep(0, 20)); }
    for (uint64_t turn = 1; turn < 4; turn++) {
        /* What switch_to pops, the last of it into rbx, and where it returns to. */
        void **top = (void **)(stack + bytes) - 2;
        top[0] = (void *)begin;
        top[-1] = (void *)turn;
        fiber = top - 6;
        uint64_t expected = deep(turn, 20);
        resume();
        FOR_MS(60) { CHECK(deep(turn, 20) == expected); }
        resume();
        CHECK(result == expected);
    }
    puts("all came back");
    return 0;
}
