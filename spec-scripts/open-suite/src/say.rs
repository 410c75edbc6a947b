//! Lines for whoever reads them. A reader that has gone away (`| head`) ends nothing: what was
//! asked for is done, and told by the exit code.
#![forbid(unsafe_code)]

use std::fmt::Arguments;
use std::io::Write;

use szc::lab::output;

/// As for a program that could not be done.
const EXIT_FAILED: i32 = 1;

/// Prints a line to standard output. Where that cannot be written to, such as a full disk, this
/// process ends: with `words` or `source` the lines are the result.
pub fn line(text: Arguments<'_>) {
    if let Err(error) = output::say(&format!("{text}\n")) {
        complaint(format_args!("suite: {error:#}"));
        std::process::exit(EXIT_FAILED);
    }
}

/// Prints a line to standard error.
pub fn complaint(text: Arguments<'_>) {
    // A closed one leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// As `println!`, by [`line()`].
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// As `eprintln!`, by [`complaint`].
macro_rules! complain {
    ($($words:tt)*) => { $crate::say::complaint(format_args!($($words)*)) };
}

pub(crate) use {complain, say};
