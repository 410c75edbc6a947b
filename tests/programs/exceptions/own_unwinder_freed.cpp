//#Variants: -O2 | gcc -O2
//#Flags: -pthread
//#Library: own_unwinder_through.cpp
//#PlainLibrary: libgcc_s_own_unwinder.cpp -static-libgcc -static-libstdc++
//#Attached: 1
// As own_unwinder.cpp, while old copies are freed.
#include "own_unwinder.cpp"
