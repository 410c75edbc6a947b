//! What programs do while their layout changes, and what is seen of them from outside.

mod debugger;
mod heap;
mod heap_randomness;
mod idle_and_forked;
mod libraries;
mod library_attaching;
mod profilers;
mod randomness;
mod reclaim;
mod recursion;
mod runtime;
mod stack;
mod symbols;
mod valgrind;
