//! What the user is told when a build is randomized less than was asked for.

use std::fmt::Display;

/// Prints a warning.
pub(super) fn warn(text: impl Display) {
    eprintln!("szc: warning: {text}");
}

/// Says that code will not move, and why.
pub(super) fn code_is_off(reason: impl Display) {
    warn(format_args!("code randomization is off: {reason}"));
}
