/* A switch of stacks that only the program itself knows of. */
#ifndef SWITCH_TO_H
#define SWITCH_TO_H

/* Saves what a call keeps, and goes on where another stack pointer was saved. */
void switch_to(void **from, void **to);
__asm__(".text\n.type switch_to, @function\nswitch_to:\n"
        "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov (%rsi), %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
        ".size switch_to, . - switch_to\n");
#endif
