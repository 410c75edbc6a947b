/* Walks with an unwinder of its own. */
#include <unwind.h>

struct search {
    void *cfa;
    int found;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    if ((void *)_Unwind_GetCFA(context) == search->cfa)
        search->found = 1;
    return _URC_NO_REASON;
}

int finds(void *cfa)
{
    struct search search = {cfa, 0};
    _Unwind_Backtrace(look, &search);
    return search.found;
}
