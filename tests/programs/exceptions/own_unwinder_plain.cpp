/* Has an unwinder and a C++ library of its own inside, which nobody else sees or serves. */
#include "own_unwinder.h"
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unwind.h>

void throws(long value)
{
    if (value < 0)
        throw value;
    throw Oops{value};
}

long guarded(callback call, long value)
{
    try {
        return call(value);
    } catch (const Oops &oops) {
        return 1000 + oops.value;
    } catch (long thrown) {
        return 2000 + thrown;
    }
}

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    Walk *walk = (Walk *)argument;
    walk->frames += !walk->found;
    if ((void *)_Unwind_GetCFA(context) == walk->cfa)
        walk->found = 1;
    return _URC_NO_REASON;
}

Walk walked(void *cfa)
{
    Walk walk = {cfa, 0, 0};
    _Unwind_Backtrace(look, &walk);
    return walk;
}

struct Forced {
    _Unwind_Exception header;
    jmp_buf target;
    uintptr_t cfa;
    long result;
};
static thread_local Forced *forced;

static _Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                _Unwind_Exception *, struct _Unwind_Context *context, void *)
{
    if (actions & _UA_END_OF_STACK)
        abort();
    if (_Unwind_GetCFA(context) >= forced->cfa)
        longjmp(forced->target, 1);
    return _URC_NO_REASON;
}

void forces(long result)
{
    forced->result = result;
    memset(&forced->header, 0, sizeof forced->header);
    _Unwind_ForcedUnwind(&forced->header, stop, nullptr);
    abort();
}

long forced_from(callback call, long value)
{
    Forced here, *volatile before = forced;
    here.cfa = (uintptr_t)__builtin_dwarf_cfa();
    forced = &here;
    long result = setjmp(here.target) == 0 ? call(value) : here.result;
    forced = before;
    return result;
}
