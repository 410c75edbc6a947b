// The other module of comdat.cpp.
#include "comdat.h"

Shape *other_shape()
{
    static Square square(scaled<int>(2));
    return &square;
}
int (*other_address())(int) { return &scaled<int>; }
