//#Variants: -O2 -flto -fvisibility=hidden -fsanitize=cfi -fno-sanitize-ignorelist |
//#    -O2 -fsanitize=kcfi
/* Checks of indirect calls: jump tables of functions, hashes before entries. */
#include "../rounds.h"

struct Base { virtual ~Base() = default; virtual long value(long x) const { return x; } };
struct Left : Base { long value(long x) const override { return x * 2; } };
struct Right : Base { long value(long x) const override { return x + 9; } };
static long one(long x) { return x + 1; }
static long two(long x) { return x * 2; }
static long three(long x) { return x ^ 3; }
static long (*volatile functions[])(long) = {one, two, three};

int main()
{
    Left left;
    Right right;
    Base *volatile bases[] = {&left, &right};
    FOR_A_WHILE
    {
        long sum = 1;
        for (int i = 0; i < 600; i++)
            sum = (functions[i % 3](sum) + bases[i % 2]->value(sum)) % 1000003;
        SAME_EVERY_ROUND(sum);
    }
    return 0;
}
