//#Variants: -O2 -rdynamic | -O0 -rdynamic | gcc -O2 -rdynamic | -O2 -rdynamic -lunwind
/* A program that names the functions on its own stack, in all the ways there are: from a call, from
 * below a call that never returns, and from a handler of a signal that came in the middle of a
 * function. */
#include "../rounds.h"
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <string>
#include <unwind.h>

extern "C" {
NOINLINE int innermost(int how);
NOINLINE int middle(int how);
NOINLINE int outermost(int how);
NOINLINE int never_returned_to(int how);
NOINLINE int is_hit_by_a_signal(int how);
}

static std::string names;
static void name(const char *text) { names += (text ? text : "?") + std::string(" "); }

static void by_backtrace_symbols(void **addresses, int count)
{
    char **texts = backtrace_symbols(addresses, count);
    CHECK(texts);
    for (int i = 0; i < count; i++) {
        char *start = strchr(texts[i], '(');
        char *end = start ? strpbrk(start, "+)") : nullptr;
        name(end && end > start + 1 ? std::string(start + 1, end).c_str() : nullptr);
    }
    free(texts);
}

static void by_dladdr(void **addresses, int count)
{
    for (int i = 0; i < count; i++) {
        Dl_info found;
        int known = dladdr((char *)addresses[i] - 1, &found);
        name(known ? found.dli_sname : nullptr);
        if (known && found.dli_sname && !strcmp(found.dli_sname, "middle"))
            CHECK(found.dli_saddr == (void *)middle);
    }
}

static void by_enclosing_function(void **addresses, int count)
{
    for (int i = 0; i < count; i++) {
        void *function = _Unwind_FindEnclosingFunction(addresses[i]);
        name(function == (void *)innermost ? "innermost" : function == (void *)middle ? "middle"
             : function == (void *)outermost ? "outermost"
             : function == (void *)is_hit_by_a_signal ? "is_hit_by_a_signal" : "another");
    }
}

/* As libraries do that print stacks: what a walk shows must be inside the function it shows. */
struct Walk { void *addresses[64]; int count; };
static _Unwind_Reason_Code shows(struct _Unwind_Context *context, void *argument)
{
    Walk *walk = (Walk *)argument;
    int before = 0;
    uintptr_t at = _Unwind_GetIPInfo(context, &before);
    CHECK(at == _Unwind_GetIP(context));
    if (at == 0)
        return _URC_END_OF_STACK;
    Dl_info found;
    if (dladdr((void *)(at - !before), &found) && found.dli_sname &&
        strcmp(found.dli_sname, "_start"))
        CHECK(found.dli_saddr == (void *)_Unwind_GetRegionStart(context));
    /* An exception in the midst of it. */
    try {
        throw at;
    } catch (uintptr_t thrown) {
        CHECK(thrown == at);
    }
    if (walk->count < 64)
        walk->addresses[walk->count++] = (void *)at;
    return _URC_NO_REASON;
}

NOINLINE static void take(int how)
{
    names.clear();
    void *addresses[64];
    int count = backtrace(addresses, 64);
    CHECK(count > 3);
    void *first[3];
    CHECK(backtrace(first, 3) == 3 && first[1] == addresses[1] && first[2] == addresses[2]);
    CHECK(backtrace(first, 0) == 0);
    if (how == 0)
        return by_backtrace_symbols(addresses, count);
    if (how == 1)
        return by_dladdr(addresses, count);
    if (how == 2)
        return by_enclosing_function(addresses, count);
    Walk walk = {{}, 0};
    _Unwind_Backtrace(shows, &walk);
    CHECK(walk.count == count &&
          memcmp(walk.addresses + 1, addresses + 1, sizeof(void *) * (count - 1)) == 0);
    by_dladdr(walk.addresses, walk.count);
}

static jmp_buf back;
static int wanted;
[[noreturn]] NOINLINE static void jumps(int how)
{
    take(how);
    longjmp(back, 1);
}
static void handler(int) { take(wanted); siglongjmp(back, 1); }

extern "C" {
int innermost(int how) { take(how); return how + 1; }
int middle(int how) { return innermost(how) * 2; }
int outermost(int how) { return middle(how) * 3; }
int never_returned_to(int how) { jumps(how); }
int is_hit_by_a_signal(int how) { wanted = how; __asm__ volatile("ud2"); return how; }
}

/* The frames outside main belong to libc. */
static const char *named()
{
    static std::string own;
    size_t main_at = names.find("main ");
    own = names.substr(0, main_at == std::string::npos ? main_at : main_at + 4);
    return own.c_str();
}

static std::string seen[12];
static void same(int at)
{
    const char *text = named();
    if (seen[at].empty()) {
        seen[at] = text;
        printf("%d: %s\n", at, text);
    }
    if (seen[at] != text) {
        printf("%d was %s and is %s\n", at, seen[at].c_str(), text);
        exit(99);
    }
}

int main()
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGILL, &action, nullptr);
    FOR_A_WHILE
    {
        for (int how = 0; how < 4; how++) {
            outermost(how);
            same(how);
            /* The address behind the call may be another function's, and that is what
             * backtrace_symbols looks up. */
            if (how != 0) {
                if (!sigsetjmp(back, 1))
                    never_returned_to(how);
                same(4 + how);
            }
            if (!sigsetjmp(back, 1))
                is_hit_by_a_signal(how);
            same(8 + how);
        }
    }
    return 0;
}
