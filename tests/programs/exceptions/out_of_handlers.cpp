//#Variants: -O2 | -O0 | gcc -O2 | -O2 -fno-omit-frame-pointer | -O2 -lunwind
/* Exceptions out of handlers of signals that an instruction raised, through the frame that it was
 * raised in. */
#include "../rounds.h"
#include <csignal>
#include <cstring>
#include <unistd.h>

struct Fault { int signal; int depth; };
static long ended;
struct Guard { NOINLINE ~Guard() { ended++; } };

/* An instruction in a function of the test's own, so that the compiler knows its callers may be
 * left from here. */
extern "C" void is_illegal();
extern "C" void reads_nothing();
__asm__(".text\n"
        ".globl is_illegal\n.type is_illegal, @function\n"
        "is_illegal: .cfi_startproc\n ud2\n ret\n .cfi_endproc\n.size is_illegal, .-is_illegal\n"
        ".globl reads_nothing\n.type reads_nothing, @function\n"
        "reads_nothing: .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n xor %eax, %eax\n "
        "mov (%rax), %rbx\n"
        " pop %rbx\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n.size reads_nothing, "
        ".-reads_nothing\n");

static void handler(int signal)
{
    Guard guard;
    throw Fault{signal, 0};
}
NOINLINE static void below(int depth, void (*faults)())
{
    Guard guard;
    if (depth > 0) {
        try {
            below(depth - 1, faults);
        } catch (Fault &fault) {
            fault.depth++;
            throw;
        }
        return;
    }
    faults();
}
NOINLINE static int caught(int depth, void (*faults)())
{
    ended = 0;
    try {
        below(depth, faults);
    } catch (const Fault &fault) {
        CHECK(fault.depth == depth && ended == depth + 2);
        return fault.signal;
    }
    return -1;
}

int main()
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGILL, &action, nullptr);
    /* One of them on a stack of its own. */
    static char stack[65536];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    CHECK(sigaltstack(&alternate, nullptr) == 0);
    action.sa_flags = SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(caught(0, is_illegal));
        SAME_EVERY_ROUND(caught(9, is_illegal));
        SAME_EVERY_ROUND(caught(0, reads_nothing));
        SAME_EVERY_ROUND(caught(9, reads_nothing));
    }
    return 0;
}
