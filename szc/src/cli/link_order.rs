//! `szc link-order`: another compiler, whose links get their objects in another order.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::ffi::OsString;
use std::process::ExitCode;

use super::answer::printed;
use crate::drive;
use crate::error::{Class, report};

const USAGE: &str = "\
szc link-order CC ARGS…: runs the compiler CC, with the objects of a link in another order

The order is that of SZC_LINK_ORDER: a seed, alphabetical, or given (as is). Libraries, archives
and start files stay where they are. szc itself reads that variable, too.

Examples:
  SZC_LINK_ORDER=7 make CC='szc link-order gcc'
  SZC_LINK_ORDER=alphabetical szc link-order g++ -O2 *.o -o program
";

/// Runs `szc link-order` with the arguments behind it.
pub(super) fn command(args: &[OsString]) -> ExitCode {
    match args {
        [] => report(Class::Usage, "a compiler is needed: szc link-order gcc -O2 a.o b.o -o ab"),
        [word] if word == "--help" || word == "-h" => printed(USAGE),
        _ => {
            let Err::<Infallible, _>(error) = drive::drive_other(args.to_vec());
            report(Class::Failed, error)
        }
    }
}
