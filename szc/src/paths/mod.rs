//! `szc paths`: which sequences of basic blocks a program executes most often.
//!
//! The program tells of its blocks (`-Rpaths`), its runtime samples subpaths and leaves a file of
//! each process (`szc-paths`). `run` runs it and reads the files, and in between the memory of the
//! processes (`live`, `interim`); `merge` joins the threads, `rows` estimates how often each
//! subpath is executed, `code` reads the instructions of blocks, `places` names them; `text`,
//! `listing`, `export`, `page`, `flame` and `profgen` show that.
#![forbid(unsafe_code)]

mod code;
mod export;
mod flame;
mod interim;
mod listing;
mod live;
mod merge;
mod options;
mod page;
mod places;
mod profgen;
mod rows;
mod run;
mod text;

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};

use self::code::Code;
use self::interim::Interim;
use self::merge::Merged;
pub(crate) use self::options::Options;
use self::places::Places;
use self::run::Ending;
use crate::lab::exit::{EXIT_PROGRAM, EXIT_SIGNAL_BASE, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::lab::output::say;
use crate::lab::subcommand::Subcommand;
use crate::measure::stop::answer_signals;
use crate::samples::io::write_whole;

impl Subcommand for Options {
    const NAME: &'static str = "paths";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        let how = self.how().map_err(Failure::Usage)?;
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let questions = answer_signals().context("cannot handle signals")?;
        let mut report = Report {
            options: &self,
            command_line,
            places: Places::default(),
            code: Code::default(),
        };
        let mut interim = Interim::new(self.every, questions);
        let ending = run::run(&self.command, folder.path(), how, &mut interim, |pid, after| {
            let words = szc_paths::words_of(how.memory_kib);
            report.show(&run::read_now(folder.path(), pid, words)?, Some(after))
        })?;
        let merged = run::read(folder.path())?;
        check(&merged, &self.command)?;
        report.show(&merged, None)?;
        Ok(exit_code(ending))
    }
}

/// Shows what is known.
struct Report<'a> {
    options: &'a Options,
    command_line: Vec<String>,
    places: Places,
    code: Code,
}

impl Report<'_> {
    /// All that was found; `after`: how long the program has run, if it has not ended.
    fn show(&mut self, merged: &Merged, after: Option<Duration>) -> Result<()> {
        let Options { weight, min_length, top, listing, .. } = *self.options;
        let heading = after.map(|after| format!("after {:.1} s: ", after.as_secs_f64()));
        if let Some(heading) = &heading
            && (merged.threads == 0 || merged.is_exact())
        {
            let why = if merged.is_exact() && merged.threads != 0 {
                "exact counts are known at the end"
            } else {
                "no blocks were told of yet, or the memory of the program cannot be read"
            };
            return say(&format!("{heading}{why}\n\n"));
        }
        let rows = rows::rows(merged, weight, min_length, &mut self.code);
        let Options { json, html, .. } = self.options;
        if json.is_some() || html.is_some() {
            let text = export::json(merged, &rows, &mut self.places, &self.command_line, after);
            if let Some(path) = json {
                write_whole(path, "subpaths", text.as_bytes())?;
            }
            if let Some(path) = html {
                let parts = (&mut self.places, &mut self.code);
                let page = page::page(merged, &rows, top, parts, text);
                write_whole(path, "the page", page.as_bytes())?;
            }
        }
        if let Some(path) = self.options.flame.as_ref().filter(|_| after.is_none()) {
            let svg = flame::svg(merged, &rows, &mut self.places, min_length)?;
            write_whole(path, "the picture of subpaths", &svg)?;
        }
        if let Some(path) = self.options.profgen.as_ref().filter(|_| after.is_none()) {
            write_whole(
                path,
                "counts of blocks",
                profgen::text(merged, &mut self.code).as_bytes(),
            )?;
        }
        let mut table = text::table(merged, &rows, &mut self.places, top);
        if listing && after.is_none() {
            let shown = &rows[..rows.len().min(top)];
            table += &listing::listing(merged, shown, &mut self.places, &mut self.code);
        }
        match heading {
            Some(heading) => say(&format!("{heading}{table}\n")),
            None => say(&table),
        }
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
