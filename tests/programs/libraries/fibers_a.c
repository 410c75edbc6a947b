#include "fibers.h"

static char stack[256 << 10];
static void *fiber, *back;
static uint64_t result;

/* Goes on in the other stack, which is given as a value, as Boost.Context does. */
void fiber_switch(void **from, void *to);
__asm__(".text\n.type fiber_switch, @function\nfiber_switch:\n"
        "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
        ".size fiber_switch, . - fiber_switch\n");

/* The function is in rbx, its argument in rbp. */
void fiber_begin(void);
__asm__("fiber_begin:\n mov %rbp, %rdi\n call *%rbx\n mov %rax, %rdi\n call fiber_end\n");

__attribute__((used, visibility("hidden"))) void fiber_end(uint64_t value) __asm__("fiber_end");
void fiber_end(uint64_t value)
{
    result = value;
    fiber_rest();
}

void fiber_make(uint64_t (*function)(uint64_t), uint64_t argument)
{
    void **top = (void **)(stack + sizeof stack) - 2;
    top[0] = (void *)fiber_begin;
    top[-1] = (void *)function;
    top[-2] = (void *)argument;
    fiber = top - 6;
    result = 0;
}

uint64_t fiber_resume(void)
{
    fiber_switch(&back, fiber);
    return result;
}

void fiber_rest(void) { fiber_switch(&fiber, back); }
