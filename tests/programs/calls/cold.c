//#With: cold_callee.ll
/* The convention in which a callee keeps every register (LLVM's coldcc): callers have values in all
 * of them. */
#include "../rounds.h"

uint64_t keeps_much_in_registers(uint64_t rounds);

int main(void)
{
    FOR_A_WHILE SAME_EVERY_ROUND(keeps_much_in_registers(2000));
    return 0;
}
