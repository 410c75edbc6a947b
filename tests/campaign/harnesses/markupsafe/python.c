// A Python that szc builds, so that extensions which szc built move in it.
#include <Python.h>

int main(int count, char **arguments)
{
    return Py_BytesMain(count, arguments);
}
