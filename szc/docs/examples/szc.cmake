# A toolchain file of CMake: szc compiles and links, the system stays the host's own.
#
#   cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=/path/to/szc.cmake
set(CMAKE_C_COMPILER szc)
set(CMAKE_CXX_COMPILER szc++)
