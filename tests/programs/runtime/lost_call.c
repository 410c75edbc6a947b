// A call that reaches the runtime's resolver from a place that is no stub: the runtime cannot know
// what was meant, and its entry is damaged for all it knows. With an argument, SIGABRT is ignored
// and blocked before.
#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    puts("before");
    fflush(stdout);
    if (argc > 1) {
        sigset_t abort_only;
        sigemptyset(&abort_only);
        sigaddset(&abort_only, SIGABRT);
        signal(SIGABRT, SIG_IGN);
        sigprocmask(SIG_BLOCK, &abort_only, NULL);
    }
    // As a stub does: over the red zone, then into the resolver.
    __asm__ volatile("lea -128(%rsp), %rsp\n\tcall szc_rt_resolve");
    puts("behind");
    return 0;
}
