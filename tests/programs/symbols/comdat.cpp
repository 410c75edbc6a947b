//#Variants: -O2 | -O0 | -O2 -ffunction-sections -Wl,--gc-sections |
//#    -O2 -Wl,--icf=all -fuse-ld=lld | -O2 -Wl,--icf=safe -ffunction-sections -fuse-ld=lld |
//#    -static | -flto | gcc -O2 | -O2 -fuse-ld=bfd
//#With: comdat_other.cpp
//#Movable: 4
/* Inline functions, templates and vtables exist in two modules and once in the program. */
#include "comdat.h"

int main()
{
    FOR_A_WHILE
    {
        Square square(4);
        Circle circle(5);
        Shape *shapes[] = {&square, &circle, other_shape()};
        long sum = 0;
        for (Shape *shape : shapes)
            sum = sum * 10 + shape->area();
        SAME_EVERY_ROUND(sum);
        CHECK(other_address() == &scaled<int>);
        CHECK(&scaled<int> == &scaled<int>);
        SAME_EVERY_ROUND(scaled<int>(3) + scaled<long>(4) + shared_counter());
        shared_counter() = 7;
        Named *named = &square;
        SAME_EVERY_ROUND((unsigned char)named->name()[0]);
        CHECK(dynamic_cast<Square *>(named) == &square && !dynamic_cast<Circle *>(named));
        long (Shape::*member)() const = &Shape::area;
        SAME_EVERY_ROUND((circle.*member)());
    }
    return 0;
}
