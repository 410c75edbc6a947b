/* The other module of models.c. */
__thread long other_zeroed, other_set = 11;
static __thread long hidden[3] = {1, 2, 3};

__attribute__((noinline)) long *other_address(void) { return &other_set; }
__attribute__((noinline)) long other_sum(long x)
{
    hidden[x % 3] += x;
    return hidden[0] + hidden[1] * 2 + hidden[2] * 3;
}
