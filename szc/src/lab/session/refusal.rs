//! Why a program cannot be measured, in words: what was found, what is needed, what to do next.
//!
//! Every text about a run has the one command that repeats it, seed included.
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use crate::measure::child::{End, Outcome};
use crate::measure::program::Program;
use crate::samples::Metric;
use crate::samples::design::{Phase, PlannedRun};

/// Lines of stderr that are shown.
const STDERR_LINES: usize = 10;

fn when(run: PlannedRun) -> String {
    match run.phase {
        Phase::WarmUp => "in warm-up".to_owned(),
        Phase::Measured => format!("in block {}", run.block + 1),
    }
}

fn repetition(program: &Program, run: PlannedRun) -> String {
    program.reproduction(&run)
}

/// The program could not be started.
pub(super) fn cannot_start(program: &Program, argv: &[String], error: &io::Error) -> String {
    let next = if argv[0].starts_with('-') {
        "write the options of szc in front of `--`, behind which are commands alone"
    } else {
        "check the path, and quote the whole command: -- './program input' '…'"
    };
    format!(
        "{} cannot be run: {}: {error}\n  needed: a program that can be executed from this folder\
         \n  next: {next}",
        program.title(),
        argv[0],
    )
}

/// The program did not end with exit status 0.
pub(super) fn failure(
    program: &Program,
    run: PlannedRun,
    outcome: &Outcome,
    timeout: Option<Duration>,
) -> String {
    format!(
        "{} {} {} with layout seed {}\n  needed: programs that succeed (exit status 0) in every \
         layout\n  next: repeat this run: {}{}",
        program.title(),
        found(outcome, timeout),
        when(run),
        run.seed,
        repetition(program, run),
        end_of_stderr(outcome),
    )
}

/// A command given with --prepare or --cleanup did not end with exit status 0.
pub(super) fn errand_failed(
    option: &str,
    command: &str,
    outcome: &Outcome,
    timeout: Option<Duration>,
) -> String {
    format!(
        "the command of {option} {}: {command}\n  needed: a command that succeeds (exit status 0) \
         in front of or behind every run\n  next: run it by hand: /bin/sh -c '{}'{}",
        found(outcome, timeout),
        command.replace('\'', r"'\''"),
        end_of_stderr(outcome),
    )
}

/// An instrument has no figure for a run.
pub(super) fn no_figure(program: &Program, run: PlannedRun, reason: &str) -> String {
    format!(
        "{} {} with layout seed {}: {reason}\n  to repeat this run: {}",
        program.title(),
        when(run),
        run.seed,
        repetition(program, run),
    )
}

fn found(outcome: &Outcome, timeout: Option<Duration>) -> String {
    match outcome.end {
        End::Exited(status) => format!("ended with exit status {status}"),
        End::Signalled(signal) => format!("was killed by {}", signal_name(signal)),
        End::TimedOut => format!(
            "was still running after {} s (--timeout) and was killed",
            timeout.unwrap_or_default().as_secs_f64()
        ),
    }
}

fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or_else(|_| format!("signal {signal}"), |known| known.to_string())
}

fn end_of_stderr(outcome: &Outcome) -> String {
    let mut text = String::new();
    let stderr = String::from_utf8_lossy(&outcome.stderr_tail);
    let lines: Vec<&str> = stderr.trim_end().lines().collect();
    if lines.iter().any(|line| !line.trim().is_empty()) {
        text.push_str("\n  the end of its stderr:");
        for line in &lines[lines.len().saturating_sub(STDERR_LINES)..] {
            text.push_str("\n    ");
            text.push_str(line);
        }
    }
    text
}

/// Two runs printed different bytes.
pub(super) fn output_differs(
    programs: &[Program],
    first: PlannedRun,
    second: PlannedRun,
) -> String {
    let title = |run: PlannedRun| programs[run.program].title();
    let repeat = |run: PlannedRun| repetition(&programs[run.program], run);
    let found = if first.program == second.program {
        format!("stdout of {} differs between two runs", title(first))
    } else {
        format!("stdout of {} and {} differs", title(first), title(second))
    };
    format!(
        "{found} ({} and {})\n  needed: programs that do the same work, which identical output \
         shows\n  next: look at the difference of\n    {}\n    {}\n  or, when output may differ \
         (times, addresses), add --no-check-output",
        when(first),
        when(second),
        repeat(first),
        repeat(second),
    )
}

/// Something of a program does not move.
pub(super) fn in_part(program: &Program, reason: &str) -> String {
    format!(
        "{} is randomized only in part: {reason}. The verdict will be about one placement of that \
         code; szc inspect says more about the file",
        program.title()
    )
}

/// The metric that decides is zero.
pub(super) fn too_short(program: &Program, metric: &Metric) -> String {
    let title = program.title();
    match metric {
        Metric::Figure(name) => format!(
            "{title} has no figure called {name}, or it is not positive\n  needed: a metric that \
             is positive in every run\n  next: choose another one with --metric"
        ),
        Metric::Rows | Metric::Row(_) => format!(
            "{title} has no row with a time\n  needed: a harness that measures one benchmark at \
             least\n  next: look at what the command prints, and at --rows"
        ),
        Metric::Cpu | Metric::Wall | Metric::Rss => format!(
            "{title} is too short to measure by {}: the kernel accounts none to it\n  needed: a \
             run of some milliseconds at least, better a second\n  next: give it more work, or add \
             --metric wall",
            metric.title()
        ),
    }
}

/// What to tell of a program whose runs have no random layout.
pub(super) fn one_layout_only(title: &str, reason: &str) -> String {
    format!(
        "{title} is not randomized: {reason}. The verdict will be about one layout only; to make \
         it about the program, build it with CC=szc, and run it without SZC_CODE=0 and the like"
    )
}

/// What to tell of a program that had memory for no further layout.
pub(super) fn budget_used_up(title: &str) -> String {
    format!(
        "{title} used up its code budget, after which its layout stood still: raise \
         SZC_CODE_BUDGET_MIB or SZC_INTERVAL_MS"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_behind_the_commands_is_not_taken_for_a_wrong_path() {
        let said = |command: &str| {
            let program = Program::new(2, None, command).expect("a command");
            cannot_start(&program, &[command.to_owned()], &io::Error::from_raw_os_error(2))
        };
        assert!(said("--seed").contains("in front of `--`"));
        assert!(said("./nothing").contains("check the path"));
    }
}
