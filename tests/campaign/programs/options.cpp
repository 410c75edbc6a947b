/* What compilers make of it depends on their options: a computed goto, switches, exceptions with
 * landing pads out of the way, virtual calls, callbacks of libc, early ways out, threads,
 * thread-local variables, frames from nothing to a page. Runs for some milliseconds and prints
 * sums that depend on no address. */
#include <pthread.h>
#include <stdexcept>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

NOINLINE static long helper(long x) { return (x * 31 + 7) % 65521; }

NOINLINE static void note(char *text, size_t bytes, long value)
{
    snprintf(text, bytes, "%ld", value);
}

NOINLINE static long by_labels(const unsigned char *code, long rounds)
{
    static void *const labels[] = {&&add, &&call, &&twice, &&flip, &&back, &&end};
    const unsigned char *pc = code;
    char text[24];
    long value = 1;
#define NEXT goto *labels[*pc++]
    NEXT;
add: value += 3; NEXT;
call: value = helper(value); NEXT;
twice: value = value * 2 % 1000003; NEXT;
flip: value ^= 0x3f; NEXT;
back: if (--rounds) pc = code; NEXT;
end: note(text, sizeof text, value); return value + (long)strlen(text);
}

NOINLINE static long by_cases(int which, long value)
{
    char text[40];
    if (value < 0)
        return -1;
    switch (which) {
    case 0: note(text, sizeof text, value + 1); break;
    case 1: note(text, sizeof text, helper(value)); break;
    case 2: return helper(value) + 2;
    case 3: note(text, 4, value); break;
    case 4: note(text, sizeof text, value * 7); value++; break;
    case 5: return helper(helper(value));
    case 6: memset(text, 'a', 9), text[9] = 0; break;
    case 7: throw std::runtime_error("seven");
    default: return which;
    }
    return value + (long)strlen(text);
}

struct Shape {
    virtual ~Shape() = default;
    virtual long area(long x) const = 0;
};
struct Square : Shape { long area(long x) const override { return helper(x) * x; } };
struct Circle : Shape { long area(long x) const override { return helper(x + 3) * 3; } };

NOINLINE static long unwound(int x)
{
    std::string name("a name that does not fit into the object itself");
    std::vector<long> values(5, x);
    try {
        values.push_back(by_cases(x % 9, x));
        if (x % 5 == 0)
            throw x;
    } catch (const std::exception &error) {
        return (long)strlen(error.what()) + (long)name.size();
    } catch (int value) {
        values.push_back(value * 2);
    }
    long sum = (long)name.size();
    for (long value : values)
        sum += value;
    return sum;
}

extern "C" NOINLINE int order(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (helper(x) > helper(y)) - (helper(x) < helper(y));
}

NOINLINE static long sorted(unsigned seed)
{
    int values[100];
    for (int &value : values)
        value = (int)((seed = seed * 1103515245u + 12345u) >> 16 & 1023);
    qsort(values, 100, sizeof values[0], order);
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += values[i] * (i + 1l);
    return sum;
}

NOINLINE static long deep(long n, const char *text)
{
    char copy[1200];
    if (n == 0)
        return (long)strlen(text);
    snprintf(copy, sizeof copy, "%s%ld", text, n % 10);
    return deep(n - 1, copy) + copy[n % 3];
}

NOINLINE static long variable(long n)
{
    char *text = (char *)__builtin_alloca((size_t)n + 8);
    note(text, (size_t)n + 8, n * 3);
    return (long)strlen(text) + text[0];
}

NOINLINE static double many(int a, int b, int c, int d, int e, int f, int g, int h, double i,
                            long j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + i + (double)helper(j);
}

static thread_local long own = 1;

NOINLINE static long round_of(int i)
{
    static const unsigned char code[] = {0, 1, 2, 3, 1, 1, 0, 2, 4, 5};
    static Square square;
    static Circle circle;
    const Shape *shapes[] = {&square, &circle};
    long sum = by_labels(code, i % 7 + 1) + unwound(i) + sorted((unsigned)i) + deep(i % 12, "x") +
               variable(i % 50 + 8);
    for (int which = 0; which < 7; which++)
        sum += by_cases(which, i) * (which + 1);
    sum += shapes[i % 2]->area(i) + (long)many(i, 2, 3, 4, 5, 6, 7, 8, 9.5, i);
    own = (own * 31 + sum) % 1000003;
    return own;
}

static void *work(void *from)
{
    long sum = 0;
    for (int i = 0; i < 300; i++)
        sum = (sum * 7 + round_of(i + (int)(intptr_t)from)) % 1000000007;
    return (void *)(intptr_t)sum;
}

int main()
{
    pthread_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        if (pthread_create(&threads[i], nullptr, work, (void *)(i * 100)))
            return 2;
    printf("%ld", (long)(intptr_t)work((void *)50));
    for (pthread_t thread : threads) {
        void *sum = nullptr;
        pthread_join(thread, &sum);
        printf(" %ld", (long)(intptr_t)sum);
    }
    puts("");
    return 0;
}
