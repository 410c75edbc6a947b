/* Looks at its callers, and calls the program. */
__attribute__((noinline)) const void *who_calls_library(void)
{
    return __builtin_return_address(0);
}

__attribute__((noinline)) const void *calls_back(const void *(*program)(void))
{
    const void *address = program();
    __asm__ volatile("");
    return address;
}
