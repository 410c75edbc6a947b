#ifndef THROWN_H
#define THROWN_H
struct Oops {
    int value;
};
struct Counted {
    static int alive;
    Counted() { alive++; }
    ~Counted() { alive--; }
};
using callback = int (*)(int);
int through_a(callback back, int x);
int through_b(callback back, int x);
#endif
