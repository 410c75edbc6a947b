//! What programs see of this library: functions of libc that it stands in front of, and those that
//! coz.h looks for.
//!
//! A thread pays its delays before it may block and before it may wake another one; a thread that
//! was woken by another one has been delayed as that one was. Source: Curtsinger, 2016, tables 5.1
//! and 5.2; what newer libraries have of the same kind; and the futexes that Rust's std and others
//! wait by without libc's locks.

// The harness of a test is not to be delayed.
#![cfg(not(test))]

mod coz;
mod ends;
mod futex;
mod outside;
mod signals;
mod threads;
mod waits;

/// Runs [`crate::attach::begin`] before the program and [`crate::attach::end`] behind it.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = crate::attach::begin;
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = crate::attach::end;
