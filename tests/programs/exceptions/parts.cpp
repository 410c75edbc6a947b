//#Variants: -O2 -fbasic-block-sections=all | -O1 -fbasic-block-sections=all -no-pie -fno-pic |
//#    -O2 -no-pie -fno-pic -mcmodel=large -fuse-ld=bfd
/* Exceptions that land in another section than they are thrown through, with the frame of the
 * first. */
#include "../rounds.h"
#include <stdexcept>
#include <string>

struct Counted {
    static int alive;
    std::string name;
    explicit Counted(const char *text) : name(text) { alive++; }
    ~Counted() { alive--; }
};
int Counted::alive;

NOINLINE static int thrower(int x)
{
    if (x % 3 == 0)
        throw x;
    if (x % 3 == 1)
        throw std::runtime_error("one");
    return x;
}

NOINLINE static int catcher(int x)
{
    Counted first("first, long enough for the heap");
    char text[32];
    try {
        Counted second("second");
        int got = thrower(x);
        snprintf(text, sizeof text, "%d", got);
        return (int)second.name.size() + got;
    } catch (int value) {
        snprintf(text, sizeof text, "int %d", value);
    } catch (const std::exception &error) {
        snprintf(text, sizeof text, "%s %d", error.what(), x);
    }
    return (int)(std::string(text).size() + first.name.size());
}

int main()
{
    int before = catcher(3) + catcher(4) + catcher(5);
    FOR_A_WHILE
    {
        CHECK(catcher(3) + catcher(4) + catcher(5) == before);
        CHECK(Counted::alive == 0);
    }
    printf("%d\n", before);
    return 0;
}
