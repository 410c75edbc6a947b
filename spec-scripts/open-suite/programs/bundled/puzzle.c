/* All solutions of the queens puzzle by recursion, and the longest chain of the
 * Collatz sequence by mutual calls. */
#include "bundled.h"

static uint64_t place_queens(unsigned size, unsigned row, uint32_t columns, uint32_t left,
                             uint32_t right)
{
    uint64_t solutions = 0;
    if (row == size)
        return 1;
    for (uint32_t free = ~(columns | left | right) & ((1u << size) - 1); free; free &= free - 1) {
        uint32_t queen = free & (0u - free);
        solutions +=
            place_queens(size, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

static unsigned chain(uint64_t n);

__attribute__((noinline)) static unsigned chain_odd(uint64_t n)
{
    return n == 1 ? 1 : 1 + chain(3 * n + 1);
}

__attribute__((noinline)) static unsigned chain_even(uint64_t n)
{
    return 1 + chain(n / 2);
}

static unsigned chain(uint64_t n)
{
    return n % 2 ? chain_odd(n) : chain_even(n);
}

uint64_t run_puzzle(unsigned rounds)
{
    uint64_t solutions = 0, longest = 0;
    for (unsigned round = 0; round < rounds; round++)
        solutions += place_queens(6 + round % 4, 0, 0, 0, 0);
    for (unsigned n = 1; n < rounds * 300; n++) {
        unsigned length = chain(n);
        if (length > longest)
            longest = length;
    }
    return solutions * 1000 + longest;
}
