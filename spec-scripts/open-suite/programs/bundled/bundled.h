/* Shared by the parts of the bundled program. Every part does deterministic work
 * in proportion to `rounds` and returns a checksum. */
#ifndef BUNDLED_H
#define BUNDLED_H

#include <stddef.h>
#include <stdint.h>

uint32_t next_random(uint32_t *state);

uint64_t run_calculator(unsigned rounds);
uint64_t run_dictionary(unsigned rounds);
uint64_t run_matrix(unsigned rounds);
uint64_t run_puzzle(unsigned rounds);
uint64_t run_sorting(unsigned rounds);

#endif
