//! From samples to the tables of the page: one file a table, each made from the samples alone.
//!
//! Nothing is computed here but what the statistics of szc return: tests, intervals, medians, and
//! the analysis of variance are `szc_stats`, verdicts those of `szc compare`.
#![forbid(unsafe_code)]

mod counts;
mod heap;
mod levels;
mod normality;
mod page;
mod ratios;
mod row;
mod sizes;
mod table;
#[cfg(test)]
mod tests;
mod variance;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use szc::samples::{Metric, io};

use self::row::Row;
use super::record::Archive;
use super::step::{ALL, LINK_ORDER, NONE, Step};
use crate::say::say;
use crate::suite::Program;

/// Configurations of the overhead, as in figure 4.6.
const RANDOMIZED: [&str; 3] = ["code", "code+stack", ALL];

/// Writes the tables that the page has places for, and the pictures beside the samples.
///
/// # Errors
/// When samples cannot be read, or the page cannot be written or has no place for any table.
pub fn write(archive: &Archive, programs: &[&Program], page: &Path) -> Result<()> {
    let mut text =
        fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let steps: Vec<&Step> =
        Step::all().iter().filter(|step| page::has_place(&text, &step.name())).collect();
    if steps.is_empty() {
        bail!("cannot use {}: no line of it is `<!-- begin STEP -->`", page.display());
    }
    for step in steps {
        let section = section(archive, *step, programs, page)?;
        text = page::replaced(&text, &step.name(), &section)
            .with_context(|| format!("cannot use {}", page.display()))?;
    }
    io::write_whole(page, "results", text.as_bytes())?;
    say!("{}", page.display());
    Ok(())
}

fn section(archive: &Archive, step: Step, programs: &[&Program], page: &Path) -> Result<String> {
    let rows = || -> Result<Vec<Row>> {
        let row = |program: &&Program| {
            let state = archive.state(step, program.name())?;
            Ok(Row { program: program.name().to_owned(), state })
        };
        programs.iter().map(row).collect()
    };
    Ok(match step {
        Step::Normality => {
            let rows = rows()?;
            let picture = archive.place(step, "qq.svg");
            let mut text = normality::section(&rows);
            if let Some(plot) = normality::picture(&rows) {
                io::write_whole(&picture, "a picture", plot.as_bytes())?;
                text.push_str(&format!(
                    "\n![{}]({})\n",
                    normality::CAPTION,
                    page::link(page, &picture)
                ));
            }
            text
        }
        Step::Variance => variance::section(&rows()?),
        Step::Overhead => overhead(&rows()?),
        Step::Levels => levels::section(&rows()?),
        Step::Epochs => {
            let rows = rows()?;
            let columns = [ALL, "100 ms", "20 ms"];
            let table = ratios::table(&rows, NONE, &columns, &Metric::Cpu);
            table::origin(&rows) + &table
        }
        Step::Memory => {
            let rows = rows()?;
            let unit = &ratios::MIB;
            table::origin(&rows)
                + &ratios::table_with_reference(&rows, NONE, &RANDOMIZED, &Metric::Rss, unit)
        }
        Step::Counts => {
            let row = |program: &&Program| -> Result<counts::Counted> {
                let failure = fs::read_to_string(archive.failure(step, program.name())).ok();
                let counts = super::counts::results(archive, program.name())?;
                Ok(counts::Counted { program: program.name().to_owned(), counts, failure })
            };
            counts::section(&programs.iter().map(row).collect::<Result<Vec<_>>>()?)
        }
        Step::SizeAndBuildTime => sizes::section(&rows()?),
        Step::HeapRandomness => heap::section(super::heap::results(archive)?.as_ref()),
    })
}

fn overhead(rows: &[Row]) -> String {
    let columns = [&RANDOMIZED[..], &[LINK_ORDER]].concat();
    format!(
        "{}Against the same build without randomization (`-Rnone`):\n\n{}\nAgainst that build in \
         random link order:\n\n{}",
        table::origin(rows),
        ratios::table(rows, NONE, &columns, &Metric::Cpu),
        ratios::table(rows, LINK_ORDER, &RANDOMIZED, &Metric::Cpu),
    )
}
