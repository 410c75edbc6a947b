//#Variants: -O2 | -O0 | -O2 -stdlib=libc++ | -O2 -static | gcc -O2 | -O2 -lunwind
//#Signal: 6
//#Epochs: 0
/* An exception that meets `noexcept` ends the program through the terminate handler, which still
 * sees it, and before any destructor behind the border has run. */
#include "../rounds.h"
#include <cstring>
#include <exception>
#include <stdexcept>

struct Loud {
    const char *name;
    NOINLINE ~Loud() { puts(name); }
};
NOINLINE static void throws(int depth)
{
    if (depth == 0)
        throw std::runtime_error("too far");
    throws(depth - 1);
    __asm__ volatile("");
}
NOINLINE static void border(int depth) noexcept { throws(depth); }
NOINLINE static void outside(int depth)
{
    Loud loud{"never said"};
    border(depth);
}
NOINLINE static long work(long x) { return (x * 7 + 1) % 1009; }

int main()
{
    std::set_terminate([] {
        try {
            throw;
        } catch (const std::runtime_error &error) {
            puts(error.what());
            fflush(stdout);
        }
        abort();
    });
    long x = 1;
    FOR_MS(20) x = work(x);
    try {
        outside(5 + (x > 2000));
    } catch (...) {
        puts("caught beyond the border");
    }
    return 0;
}
