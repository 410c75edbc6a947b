#ifndef FIBERS_H
#define FIBERS_H
#include <stdint.h>

/* The only fiber is to run a function. */
void fiber_make(uint64_t (*function)(uint64_t), uint64_t argument);

/* Goes on in the fiber, until it rests or has come back with the function's result; 0 if it rests.
 * */
uint64_t fiber_resume(void);

/* Leaves the fiber. */
void fiber_rest(void);

/* Of the library that is built as the program is. */
uint64_t mixed(uint64_t value);
#endif
