//! Decides before the first run whether an experiment chooses where addresses begin.
#![forbid(unsafe_code)]

use crate::measure::child::{self, End, Invocation};
use crate::measure::program::Program;
use crate::measure::stop::Stop;
use crate::samples::design::{Addresses, Bases};

/// What is possible of the bases that are wanted, and why not all of it.
pub(super) fn possible(wanted: Bases, programs: &[Program]) -> (Bases, Option<String>) {
    if wanted == Bases::Kernel {
        return (wanted, None);
    }
    if let Some(program) = programs.iter().find(|program| program.via_shell) {
        let reason = format!(
            "a shell executes {}, so where its addresses begin is left to the kernel, and \
             intervals are wider: give a command that needs no shell",
            program.title()
        );
        return (Bases::Kernel, Some(reason));
    }
    let works = |mapping_pages| {
        let argv = ["true".to_owned()];
        let addresses = Some(Addresses { mapping_pages, lowered_bytes: 0 });
        let outcome =
            child::run(&Invocation { addresses, ..Invocation::new(&argv) }, &Stop::new())?;
        match outcome.end {
            End::Exited(0) => Ok(()),
            end => Err(std::io::Error::other(format!("{end:?}"))),
        }
    };
    let refused = |what: &str, error: std::io::Error| {
        Some(format!("{what} ({error}): intervals are wider, or about fewer places"))
    };
    if wanted == Bases::Drawn {
        match works(Some(0)) {
            Ok(()) => return (Bases::Drawn, None),
            Err(error) if works(None).is_ok() => {
                return (
                    Bases::Stack,
                    refused("where mappings begin is the same in all runs", error),
                );
            }
            Err(_) => {}
        }
    }
    match works(None) {
        Ok(()) => (Bases::Stack, None),
        Err(error) => {
            (Bases::Kernel, refused("address space randomization cannot be switched off", error))
        }
    }
}
