//#Signal: 6
//#Movable: 0
//#Epochs: 0
/* A second free of a block ends the program. */
#include <stdlib.h>

int main(void)
{
    void *volatile block = malloc(100);
    free(block);
    free(block);
    return 0;
}
