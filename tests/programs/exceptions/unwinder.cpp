//#Variants: -O2 -rdynamic | -O0 -rdynamic | gcc -O2 -rdynamic
//#Flags: -pthread
/* The unwinder's own interface: backtraces, exceptions of another language, forced unwinding by
 * cancellation and by pthread_exit. */
#include "../rounds.h"
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

static long ended;
struct Guard {
    NOINLINE ~Guard() { __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED); }
};

/* Frames from here to main, by both ways of asking. */
static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *count)
{
    if (_Unwind_GetIP(context) == 0)
        return _URC_END_OF_STACK;
    ++*(int *)count;
    return _URC_NO_REASON;
}
NOINLINE static int frames(int depth)
{
    if (depth > 0) {
        int more = frames(depth - 1);
        __asm__ volatile("");
        return more;
    }
    int counted = 0;
    _Unwind_Backtrace(count_frame, &counted);
    void *addresses[64];
    int traced = backtrace(addresses, 64);
    CHECK(counted == traced);
    return traced;
}

/* An exception that is not of C++. */
static struct _Unwind_Exception foreign;
static int deleted;
static void was_deleted(_Unwind_Reason_Code, struct _Unwind_Exception *) { deleted++; }
NOINLINE static void raises(int depth)
{
    Guard guard;
    if (depth == 0) {
        memset(&foreign, 0, sizeof foreign);
        memcpy(&foreign.exception_class, "ABCDXYZ\0", 8);
        foreign.exception_cleanup = was_deleted;
        _Unwind_RaiseException(&foreign);
        CHECK(!"raised");
    }
    raises(depth - 1);
}

NOINLINE static void leaves(int depth)
{
    Guard guard;
    if (depth == 0)
        pthread_exit((void *)5);
    leaves(depth - 1);
    __asm__ volatile("");
}
static void *exits(void *)
{
    Guard guard;
    try {
        leaves(4);
    } catch (...) {
        Guard seen;
        throw; /* the unwinder insists */
    }
    return nullptr;
}
NOINLINE static void waits(int depth)
{
    Guard guard;
    if (depth == 0)
        for (;;)
            pause();
    waits(depth - 1);
    __asm__ volatile("");
}
static void *is_cancelled(void *)
{
    Guard guard;
    waits(4);
    return nullptr;
}
static long thread(void *(*body)(void *), bool cancel)
{
    pthread_t id;
    void *result;
    CHECK(pthread_create(&id, nullptr, body, nullptr) == 0);
    if (cancel)
        CHECK(pthread_cancel(id) == 0);
    CHECK(pthread_join(id, &result) == 0);
    return (long)result;
}

int main()
{
    FOR_A_WHILE
    {
        int near = frames(0), far = frames(10);
        SAME_EVERY_ROUND(far - near);
        ended = deleted = 0;
        int caught = 0;
        try {
            raises(5);
        } catch (...) {
            caught = 1;
        }
        SAME_EVERY_ROUND(caught * 100 + ended * 10 + deleted);
        ended = 0;
        long result = thread(exits, false);
        SAME_EVERY_ROUND(result * 100 + ended);
        ended = 0;
        /* A thread that is cancelled before it begins has no guards yet. */
        result = thread(is_cancelled, true);
        CHECK(result == (long)PTHREAD_CANCELED && (ended == 0 || ended == 6));
    }
    return 0;
}
