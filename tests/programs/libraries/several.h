#ifndef SEVERAL_H
#define SEVERAL_H
#include <stddef.h>
#include <stdint.h>
typedef uint64_t function_type(uint64_t);
typedef int compare_type(const void *, const void *);
function_type first_a, first_b, in_program, computed_b;
uint64_t chain_a(function_type *back, uint64_t x);
uint64_t chain_b(function_type *back, uint64_t x);
function_type *switch_a(uint64_t x);
function_type *address_of_a(void);
function_type *address_of_b_in_a(void);
function_type *address_of_program_in_b(void);
void sort_in_b(int *values, size_t count, compare_type *compare);
#endif
