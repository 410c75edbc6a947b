// What does the first call of a function cost? Calls 2,048 functions of some 100 bytes twice and
// prints the difference between the two rounds, in nanoseconds a function. Without randomization
// that is the cost of cold caches alone.
#include <stdio.h>
#include <time.h>

volatile int table[64];

#define ONE(n)                                                                                     \
    __attribute__((noinline)) static int f##n(int x) {                                             \
        table[n & 63] += x;                                                                        \
        for (int i = 0; i < 3; i++) table[(x + i) & 63] ^= i * (n + 3);                            \
        if (x == -1) printf("%d\n", n);                                                            \
        return table[x & 63] + n;                                                                  \
    }
#define CALL(n) sum += f##n(sum & 63);
#define LIST2(m, n) m(n##0) m(n##1)
#define LIST4(m, n) LIST2(m, n##0) LIST2(m, n##1)
#define LIST8(m, n) LIST4(m, n##0) LIST4(m, n##1)
#define LIST16(m, n) LIST8(m, n##0) LIST8(m, n##1)
#define LIST32(m, n) LIST16(m, n##0) LIST16(m, n##1)
#define LIST64(m, n) LIST32(m, n##0) LIST32(m, n##1)
#define LIST128(m, n) LIST64(m, n##0) LIST64(m, n##1)
#define LIST256(m, n) LIST128(m, n##0) LIST128(m, n##1)
#define LIST512(m, n) LIST256(m, n##0) LIST256(m, n##1)
#define LIST1024(m, n) LIST512(m, n##0) LIST512(m, n##1)
// Binary digits make the names; as C constants they are binary, too.
#define LIST(m) LIST1024(m, 0b0) LIST1024(m, 0b1)

LIST(ONE)

static int round_of_calls(void) {
    int sum = 0;
    LIST(CALL)
    return sum;
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(void) {
    double start = now_ns();
    int sum = round_of_calls();
    double middle = now_ns();
    sum += round_of_calls();
    double end = now_ns();
    printf("%.0f\n", ((middle - start) - (end - middle)) / 2048);
    return sum == 42;
}
