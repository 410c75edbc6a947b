#define NOINLINE __attribute__((noinline))
NOINLINE int interposed(int x)
{
    return x + 1;
}
NOINLINE int calls_interposed(int x)
{
    return interposed(x) * 2;
}
__attribute__((visibility("protected"), noinline)) int kept(int x)
{
    return x + 2;
}
int calls_protected(int x)
{
    return kept(x) * 3;
}
__attribute__((weak)) int weak_here(int x)
{
    return kept(x) * 5;
}
int versioned_old(int x);
int versioned_new(int x);
NOINLINE int versioned_old(int x)
{
    return x + 11;
}
NOINLINE int versioned_new(int x)
{
    return x + 22;
}
__asm__(".symver versioned_old, versioned@OLD");
__asm__(".symver versioned_new, versioned@@NEW");

NOINLINE static int choice(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 7;
}
static int (*choose(void))(int)
{
    return choice;
}
int chosen(int x) __attribute__((ifunc("choose")));
NOINLINE static int original(int x)
{
    return chosen(x) + 1;
}
int alias_of_chosen(int x) __attribute__((alias("original")));
__attribute__((section("users_code"), noinline)) int in_section(int x)
{
    return x ^ kept(x);
}
int tiny(void)
{
    return 3;
}
extern int (*const pointers[4])(int);
int (*const pointers[4])(int) = {chosen, interposed, in_section, weak_here};
