//! How a failure leaves the program: one line on stderr and an exit code by class.

#![forbid(unsafe_code)]

use std::fmt::Display;
use std::process::ExitCode;

/// What kind of failure it is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The work failed. The same code as clang's, since build systems see both.
    Failed,
    /// The command line makes no sense.
    Usage,
}

impl Class {
    /// The exit code of the class.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Class::Failed => 1,
            Class::Usage => 2,
        }
    }
}

/// Writes the message, as compilers do, and returns the exit code to leave with. An
/// [`anyhow::Error`] shows its whole chain when formatted with `{:#}`.
#[must_use]
pub fn report(class: Class, message: impl Display) -> ExitCode {
    eprintln!("szc: error: {message:#}");
    ExitCode::from(class.exit_code())
}
