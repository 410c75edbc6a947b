/* A name among whose code nobody looks for switches of stacks: an unwinder's last step looks like
 * one. */
#include "own_unwinder_plain.cpp"
