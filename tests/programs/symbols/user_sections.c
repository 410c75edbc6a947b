//#Variants: -O2 | -O0 | -O2 -no-pie | gcc -O2 | -O2 -Wl,--gc-sections -Wl,-z,nostart-stop-gc |
//#    -O2 -fuse-ld=bfd
//#Movable: 3
/* Functions in sections of the user, which find one another through __start_ and __stop_ symbols,
 * and which the assembler has already connected within a section. */
#include "../rounds.h"

#define IN(section_name) __attribute__((section(section_name), noinline, used))
typedef long function(long);
IN("my_code") static long a(long x) { return x + 1; }
IN("my_code") static long b(long x) { return a(x) * 3 + a(x + 1); }
IN("my_code") static long c(long x) { return x <= 0 ? b(x) : c(x - 1) + b(x); }
IN(".text.unlikely.mine") static long d(long x) { return c(x) - b(x); }

__attribute__((section("my_table"), used)) static function *const entries[] = {a, b, c, d};
extern function *const __start_my_table[], *const __stop_my_table[];
extern const char __start_my_code[], __stop_my_code[];

int main(void)
{
    FOR_A_WHILE
    {
        long sum = 0;
        CHECK(__stop_my_table - __start_my_table == 4);
        for (function *const *entry = __start_my_table; entry < __stop_my_table; entry++)
            sum = sum * 7 + (*entry)(9);
        SAME_EVERY_ROUND(sum);
        CHECK((const char *)a >= __start_my_code && (const char *)a < __stop_my_code);
        CHECK((const char *)d < __start_my_code || (const char *)d >= __stop_my_code);
    }
    return 0;
}
