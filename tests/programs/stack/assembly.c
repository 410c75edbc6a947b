//#Variants: -O0 | -O1 | -O2 | -O3 | -Os | -Oz | -O2 -g | -O2 -fno-omit-frame-pointer |
//#    -O2 -fstack-protector-strong | -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    -O0 -fstack-clash-protection | -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto |
//#    -O2 -flto=thin | -O2 -fcf-protection=full
//#Movable: 2
/* Inline assembly that uses the stack or takes registers that a frame may want. */
#include "../rounds.h"
#include <cpuid.h>
#include <string.h>

NOINLINE static uint64_t mixed(uint64_t value)
{
    __asm__ volatile("" : "+r"(value)::"memory");
    return value * 0x9e3779b97f4a7c15u >> 7;
}

NOINLINE static uint64_t pushes(uint64_t value)
{
    uint64_t local[3] = {value, mixed(value), 3}, flags;
    __asm__ volatile("pushq %1\n\tpushfq\n\taddq $8, (%%rsp)\n\tpopq %0\n\tpopq %1"
                     : "=&r"(flags), "+m"(local[1])::"memory");
    __asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
    return local[0] + mixed(local[1]) + local[2] + (flags & 2);
}

NOINLINE static uint64_t calls(uint64_t value)
{
    uint64_t result = mixed(value);
    __asm__ volatile("call 1f\n\tjmp 2f\n1:\taddq $5, %0\n\tret\n2:" : "+r"(result)::"memory");
    return mixed(result);
}

NOINLINE static uint64_t takes_base(unsigned value)
{
    _Alignas(64) unsigned char bytes[64];
    unsigned char variable[1 + value % 8];
    unsigned a, b = 0, c, d;
    memset(bytes, (int)value, sizeof bytes);
    memset(variable, 1, sizeof variable);
    __cpuid(0, a, b, c, d);
    uint64_t named = mixed((uint64_t)b ^ c ^ d) == mixed((uint64_t)d ^ c ^ b);
    return named + bytes[value % 64] + variable[0] + (uintptr_t)bytes % 64;
}

NOINLINE static uint64_t takes_frame(uint64_t value)
{
    uint64_t result = mixed(value);
    __asm__ volatile("lea 1(%0), %%r12\n\tlea 2(%%r12), %%r13\n\tmov %%r13, %0"
                     : "+r"(result)::"r12", "r13", "r14", "r15", "rbx");
    return mixed(result);
}

NOINLINE static uint64_t takes_many(uint64_t value)
{
    uint64_t a = mixed(value), b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6;
    __asm__ volatile(
        "add %1, %0\n\tadd %2, %1\n\tadd %3, %2\n\tadd %4, %3\n\tadd %5, %4\n\tadd %6, %5"
        : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g)
        : "r"(value), "r"(value + 1), "r"(value + 2), "r"(value + 3));
    return mixed(a ^ b ^ c ^ d ^ e ^ f ^ g);
}

NOINLINE static uint64_t where(void)
{
    uint64_t pointer, top = mixed(1);
    __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
    return pointer % 16 + (pointer < (uintptr_t)__builtin_frame_address(0) + 16) + top % 2;
}

__attribute__((naked, noinline)) static uint64_t bare(uint64_t value __attribute__((unused)))
{
    __asm__("leaq 7(%rdi,%rdi), %rax\n\tret");
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(pushes(11));
        SAME_EVERY_ROUND(calls(12));
        SAME_EVERY_ROUND(takes_base(13));
        SAME_EVERY_ROUND(takes_frame(14));
        SAME_EVERY_ROUND(takes_many(15));
        SAME_EVERY_ROUND(where() & ~(uint64_t)15);
        SAME_EVERY_ROUND(bare(16));
    }
    return 0;
}
