/* Allocates one buffer, as printf does. */
#include <stdio.h>

int main(void)
{
    puts("nothing");
    return 0;
}
