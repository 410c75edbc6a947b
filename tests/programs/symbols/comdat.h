// What both modules of comdat.cpp define.
#include "../rounds.h"

struct Shape {
    virtual ~Shape() = default;
    virtual long area() const = 0;
};
struct Named {
    virtual ~Named() = default;
    virtual const char *name() const = 0;
};
/* Calls through Named need a thunk. */
struct Square : Shape, Named {
    long side;
    explicit Square(long side) : side(side) {}
    long area() const override { return side * side; }
    const char *name() const override { return "square"; }
};
struct Circle : Named, Shape {
    long radius;
    explicit Circle(long radius) : radius(radius) {}
    long area() const override { return 3 * radius * radius; }
    const char *name() const override { return "circle"; }
};
template <typename T> NOINLINE T scaled(T x) { return x * (T)sizeof(T); }
NOINLINE inline long &shared_counter()
{
    static long counter = 7;
    return counter;
}
Shape *other_shape();
int (*other_address())(int);
