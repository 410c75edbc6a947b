//! The compiler driver beside clang: what a user or a build system can tell apart, and what
//! it must not be able to.

mod against_clang;
mod build_systems;
mod doctor;
mod linkers;
mod links;
mod option_table;
