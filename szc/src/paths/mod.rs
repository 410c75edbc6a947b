//! `szc paths`: which sequences of basic blocks a program executes most often.
//!
//! The program tells of its blocks (`-Rpaths`), its runtime samples subpaths and leaves a file of
//! each process (`szc-paths`). `run` runs it and reads the files, `merge` joins the threads, `rows`
//! estimates how often each subpath is executed and names its places, `text` and `export` show
//! that.
#![forbid(unsafe_code)]

mod export;
mod merge;
mod options;
mod places;
mod rows;
mod run;
mod text;

use std::fs;

use anyhow::{Context as _, anyhow};

use self::merge::Merged;
pub(crate) use self::options::Options;
use self::places::Places;
use self::run::Ending;
use crate::lab::exit::{EXIT_PROGRAM, EXIT_SIGNAL_BASE, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::lab::output::say;
use crate::lab::subcommand::Subcommand;

impl Subcommand for Options {
    const NAME: &'static str = "paths";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let how = self.how().map_err(Failure::Usage)?;
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let ending = run::run(&self.command, folder.path(), how)?;
        let merged = run::read(folder.path())?;
        check(&merged, &self.command)?;
        let mut places = Places::default();
        let rows = rows::rows(&merged, self.weight, self.min_length);
        if let Some(path) = &self.json {
            let json = export::json(&merged, &rows, &mut places, &command_line);
            fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
        }
        say(&text::table(&merged, &rows, &mut places, self.top))?;
        Ok(exit_code(ending))
    }
}

/// Whether there is anything to show.
fn check(merged: &Merged, command: &[String]) -> Result<(), Failure> {
    let program = command.first().map(String::as_str).unwrap_or_default();
    if merged.programs.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "{program} left no profile: either szc did not build it, or it ended by a signal that \
             cannot be caught. Build it with `szc -Rpaths`"
        )));
    }
    if merged.threads == 0 {
        return Err(Failure::Usage(anyhow!(
            "{} tells of no blocks: build it with `szc -Rpaths` (code for shared libraries, and \
             objects of other compilers, tell of none)",
            merged.programs.join(", ")
        )));
    }
    if merged.is_exact() && merged.lost != 0 {
        return Err(Failure::Usage(anyhow!(
            "{} subpaths found no room, so the counts would not be exact: give more --memory, or a \
             smaller --max-length",
            merged.lost
        )));
    }
    Ok(())
}

fn exit_code(ending: Ending) -> u8 {
    match ending {
        Ending::Returned(0) => EXIT_VERDICT,
        Ending::Returned(code) => {
            eprintln!("szc: the program returned {code}");
            EXIT_PROGRAM
        }
        Ending::Killed(signal) => {
            eprintln!("szc: the program was killed by signal {signal}");
            EXIT_PROGRAM
        }
        Ending::Asked(signal) => EXIT_SIGNAL_BASE + u8::try_from(signal).unwrap_or_default(),
    }
}
