/* Whether an unwinder finds the frame with this address: what a program in single steps defines
 * (steps.h). */
#ifndef FINDS_H
#define FINDS_H
#include <unwind.h>

struct search {
    void *frame;
    int found;
};
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    if ((void *)_Unwind_GetCFA(context) == search->frame)
        search->found = 1;
    return _URC_NO_REASON;
}
int finds(void *cfa)
{
    struct search search = {cfa, 0};
    _Unwind_Backtrace(look, &search);
    return search.found;
}
#endif
