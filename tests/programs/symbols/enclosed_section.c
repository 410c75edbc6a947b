//#Variants: -O2 | -O2 -flto -Wl,-z,nostart-stop-gc | -O2 -fuse-ld=lld -Wl,-z,nostart-stop-gc |
//#    gcc -O2 -ffunction-sections
//#Flags: -ffunction-sections -fdata-sections -Wl,--gc-sections
/* A registry in a section that only its bounds refer to, as in systemd, libcheck, Unity and
 * kernels. Its entries stay although the linker drops what nobody refers to. */
#include "../rounds.h"

typedef long (*Hook)(long);
#define HOOK(name) __attribute__((used, section("hooks"))) static Hook name##_entry = name

NOINLINE static long twice(long x) { return x * 2; }
HOOK(twice);
NOINLINE static long next(long x) { return x + 1; }
HOOK(next);

extern Hook __start_hooks[] __attribute__((weak)), __stop_hooks[] __attribute__((weak));

int main(void)
{
    CHECK(__stop_hooks - __start_hooks == 2);
    FOR_A_WHILE
    {
        long sum = 0;
        for (Hook *hook = __start_hooks; hook < __stop_hooks; hook++)
            sum += (*hook)(5);
        SAME_EVERY_ROUND(sum);
    }
    return 0;
}
