/* The library of bounded_in_library.c: 1000 levels take 110 to 130 KiB. */
__attribute__((noinline)) int levels_of(int levels, const char *base, long bytes)
{
    volatile char own[90];
    own[levels % 90] = 1;
    if (base - (const char *)own > bytes)
        return -100000;
    return levels == 0 ? 0 : levels_of(levels - 1, base, bytes) + own[levels % 90];
}
