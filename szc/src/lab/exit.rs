//! Exit codes of the subcommands.
#![forbid(unsafe_code)]

/// A verdict was reached, "unresolved" included; a gate passed.
pub const EXIT_VERDICT: u8 = 0;
/// szc itself could not do its work, such as writing a file; a gate failed.
pub const EXIT_INTERNAL: u8 = 1;
/// A gate failed: the same code as any failed check.
pub const EXIT_FAIL: u8 = 1;
/// The command line makes no sense, or a file it names cannot be used.
pub const EXIT_USAGE: u8 = 2;
/// A gate is inconclusive.
pub const EXIT_INCONCLUSIVE: u8 = 3;
/// The measured program failed, or cannot be compared.
pub const EXIT_PROGRAM: u8 = 4;
/// Added to the number of the signal that ended the experiment, as shells do.
pub const EXIT_SIGNAL_BASE: u8 = 128;
