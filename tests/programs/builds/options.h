/* What both modules of options.c share. */
#include "../rounds.h"

typedef double operation(double, double);
uint64_t other_mix(uint64_t, int);
uint64_t other_recursive(unsigned);
operation *other_operation(int);
const char *other_name(operation *);
