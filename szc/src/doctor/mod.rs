//! `szc doctor`: what works on this machine, what does not, and what to do about it.
#![forbid(unsafe_code)]

mod building;
mod cgroup;
mod finding;
mod measuring;
mod noise;
mod running;
mod text;

use anyhow::Context;
use clap::Parser;
use serde::Serialize;

use crate::lab::exit::{EXIT_INTERNAL, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::lab::output::say;
use crate::lab::subcommand::Subcommand;
use crate::measure::machine::current;
use crate::samples::machine::Machine;
use crate::version;
use finding::{Finding, Status};

/// Options of `szc doctor`.
#[derive(Debug, Parser)]
#[command(
    name = "szc doctor",
    bin_name = "szc doctor",
    no_binary_name = true,
    about = "Says what works on this machine, what does not, and what to do",
    long_about = "Says what works on this machine, what does not, and what to do: the parts that \
                  builds need, what the kernel lets programs do, and what makes measurements \
                  better. It builds a small program in a folder for temporary files, and compares \
                  it with itself for ten seconds.",
    after_help = "Examples:\n  szc doctor\n  szc doctor --quick --json > doctor.json    for a \
                  report of an error\n\nExit status: 0 programs can be built and move; 1 \
                  something is missing for that."
)]
pub(crate) struct Options {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Leave out the comparison of ten seconds
    #[arg(long)]
    quick: bool,
}

/// What --json prints.
#[derive(Serialize)]
struct Report<'a> {
    szc_version: &'static str,
    commit: Option<&'static str>,
    machine: &'a Machine,
    findings: &'a [Finding],
}

impl Subcommand for Options {
    const NAME: &'static str = "doctor";

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        let machine = current();
        let findings = examine(&machine, self.quick)?;
        if self.json {
            let report = Report {
                szc_version: version::NUMBER,
                commit: version::COMMIT,
                machine: &machine,
                findings: &findings,
            };
            let json = serde_json::to_string_pretty(&report).context("cannot write JSON")?;
            say(&(json + "\n"))?;
        } else {
            say(&text::text(&machine, &findings))?;
        }
        let is_missing = findings.iter().any(|finding| finding.status == Status::Missing);
        Ok(if is_missing { EXIT_INTERNAL } else { EXIT_VERDICT })
    }
}

fn examine(machine: &Machine, quick: bool) -> anyhow::Result<Vec<Finding>> {
    let szc = std::env::current_exe().context("cannot tell where the running szc lies")?;
    let folder = tempfile::Builder::new()
        .prefix("szc-doctor-")
        .tempdir()
        .context("cannot make a folder for temporary files; TMPDIR may name a better place")?;
    let mut findings = building::parts();
    let program = building::program(&szc, folder.path());
    let is_built = program.status == Status::Ok;
    findings.push(program);
    findings.extend(running::kernel());
    findings.extend(measuring::machine(machine));
    findings.extend(cgroup::control_group());
    if is_built && !quick {
        let program = folder.path().join("words").display().to_string();
        findings.push(noise::floor(&szc, &program, folder.path()));
    }
    Ok(findings)
}
