//! Runs commands by turns, as `szc compare` does: all of them are under way at once on one
//! processor, which the scheduler gives to each for some milliseconds (`szc/src/measure/turns.rs`).
//! For campaigns that compare what is no experiment of szc's, such as a build.
//!
//! Time that passes during the turns of others passes for a command's clocks: with n commands an
//! interval of the runtime (`SZC_INTERVAL_MS`) has to be n times as long to come as often in CPU
//! time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use szc::measure::child::{End, Invocation, Outcome, usable_cpus};
use szc::measure::lane::{LOG_VARIABLE, Lane, Ran, Start, round};
use szc::measure::stop::stop_on_signals;
use szc::measure::turns::Turns;
use szc_stats::random::Draws;

/// Runs commands by turns and writes the CPU time of each (user and system, in ms), one a line.
#[derive(Parser)]
#[command(name = "by-turns")]
struct Options {
    /// How long a turn is
    #[arg(long, default_value = "3ms", value_parser = turn)]
    turn: Duration,
    /// What the order in which they start follows from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Commands: files with one word a line. What a command says on standard error is left beside
    /// its file, in FILE.stderr
    #[arg(required = true)]
    commands: Vec<PathBuf>,
}

fn turn(text: &str) -> Result<Duration, String> {
    match Turns::parse(text)? {
        Turns::Of(turn) => Ok(turn),
        Turns::Auto | Turns::Off => Err("the length of a turn such as 3ms is needed".to_owned()),
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let stop = stop_on_signals().context("cannot handle signals")?;
    let commands: Vec<Vec<String>> =
        options.commands.iter().map(|file| words(file)).collect::<Result<_>>()?;
    let cpu = usable_cpus().context("cannot ask for the CPUs of this process")?.last().copied();
    let mut order: Vec<usize> = (0..commands.len()).collect();
    Draws::new(options.seed).shuffle(&mut order);
    let start = |place: &usize| Start {
        invocation: Invocation {
            cpu,
            slice: Some(options.turn),
            ..Invocation::new(&commands[*place])
        },
        variables: vec![(LOG_VARIABLE.to_owned(), "/dev/null".into())],
    };
    let starts: Vec<Start<'_>> = order.iter().map(start).collect();
    let ran = round(&mut Lane::several(starts.len(), &[])?, &starts, stop)?;
    let mut ended: Vec<(usize, Ran)> = order.into_iter().zip(ran).collect();
    // A command that was ended because another one failed is not the one to report.
    ended.sort_by_key(|(place, ran)| (ran.was_abandoned, *place));
    let outcomes: Vec<&Outcome> = ended
        .iter()
        .map(|(place, ran)| succeeded(&options.commands[*place], ran))
        .collect::<Result<_>>()?;
    for outcome in outcomes {
        println!("{}", (outcome.usage.user_us + outcome.usage.sys_us) as f64 / 1e3);
    }
    Ok(())
}

/// The words of a command.
fn words(file: &Path) -> Result<Vec<String>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    ensure!(!words.is_empty(), "{}: no command; a file has one word a line", file.display());
    Ok(words)
}

/// How a command ended, whose standard error is left beside its file.
fn succeeded<'a>(file: &Path, ran: &'a Ran) -> Result<&'a Outcome> {
    let outcome = match &ran.outcome {
        Ok(outcome) => outcome,
        Err(error) => bail!("{}: cannot run {}: {error}", file.display(), ran.argv[0]),
    };
    let mut said = file.as_os_str().to_owned();
    said.push(".stderr");
    fs::write(&said, &outcome.stderr_tail)
        .with_context(|| format!("cannot write {}", said.display()))?;
    let text = String::from_utf8_lossy(&outcome.stderr_tail);
    ensure!(
        outcome.end == End::Exited(0),
        "{}: {:?}; it said: {}",
        file.display(),
        outcome.end,
        text.lines().last().unwrap_or("nothing")
    );
    Ok(outcome)
}
