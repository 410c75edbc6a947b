//! What makes measurements better: counters, turns, addresses of our choice, a steady clock.
#![forbid(unsafe_code)]

use std::process::Command;

use nix::sys::personality::{self, Persona};
use perf_event::Builder;
use perf_event::events::Software;

use super::finding::{Area, Finding};
use crate::measure::child::grants_slices;
use crate::measure::counters::Counters;
use crate::measure::machine::advice;
use crate::samples::machine::Machine;

/// All but noise.
pub(super) fn machine(machine: &Machine) -> Vec<Finding> {
    let mut findings = vec![
        software_events(),
        hardware_counters(),
        tool("valgrind", "--metric instructions, simulated-cycles", "apt-get install valgrind"),
        tool("perf", "profiles of moved functions", "apt-get install linux-perf"),
        addresses(),
        slices(),
        governor(machine.governor.as_deref()),
    ];
    findings.extend(surroundings(&advice(machine)));
    findings
}

fn software_events() -> Finding {
    const NAME: &str = "perf events (software)";
    match Builder::new(Software::TASK_CLOCK).build() {
        Ok(_) => Finding::ok(Area::Measuring, NAME, "perf_event_open works"),
        Err(error) => Finding::limited(
            Area::Measuring,
            NAME,
            format!("perf_event_open: {error}"),
            "no profiles: sysctl kernel.perf_event_paranoid=2 or less, and let the container's \
             system call filter pass it",
        ),
    }
}

fn hardware_counters() -> Finding {
    const NAME: &str = "hardware counters";
    match Counters::open() {
        Ok(counters) => Finding::ok(Area::Measuring, NAME, counters.names().join(", ")),
        Err(message) => Finding::limited(
            Area::Measuring,
            NAME,
            message.lines().collect::<Vec<_>>().join(" "),
            "--metric cycles and the like cannot be used; instructions and simulated-cycles by \
             valgrind can",
        ),
    }
}

/// A program that others start.
fn tool(name: &'static str, purpose: &str, install: &str) -> Finding {
    let output = Command::new(name).arg("--version").output();
    match output.ok().filter(|output| output.status.success()) {
        Some(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            Finding::ok(Area::Measuring, name, text.lines().next().unwrap_or(name).to_owned())
        }
        None => Finding::limited(
            Area::Measuring,
            name,
            "does not run",
            format!("only for {purpose}: {install}"),
        ),
    }
}

/// Switches the randomization of address spaces off for this process, and back.
fn addresses() -> Finding {
    const NAME: &str = "addresses by szc (ASLR off)";
    let tried = personality::get()
        .and_then(|own| personality::set(own | Persona::ADDR_NO_RANDOMIZE).map(|_| own));
    match tried.and_then(personality::set) {
        Ok(_) => Finding::ok(Area::Measuring, NAME, "personality can be set"),
        Err(error) => Finding::limited(
            Area::Measuring,
            NAME,
            format!("personality: {error}"),
            "the kernel chooses where stacks and mappings begin (--bases kernel): let the \
             container's system call filter pass personality(2)",
        ),
    }
}

fn slices() -> Finding {
    const NAME: &str = "turns of 3 ms (sched_setattr)";
    if grants_slices() {
        Finding::ok(Area::Measuring, NAME, "the scheduler takes the length of slices")
    } else {
        Finding::limited(
            Area::Measuring,
            NAME,
            "the scheduler has slices of its own length",
            "programs take turns of about 3 ms anyway; other lengths need Linux 6.12",
        )
    }
}

fn governor(governor: Option<&str>) -> Finding {
    const NAME: &str = "governor of the clock";
    match governor {
        Some(name @ ("powersave" | "ondemand" | "conservative")) => Finding::limited(
            Area::Measuring,
            NAME,
            name,
            "cpupower frequency-set -g performance, while measuring",
        ),
        Some(name) => Finding::ok(Area::Measuring, NAME, name),
        None => Finding::ok(Area::Measuring, NAME, "not visible here, as in virtual machines"),
    }
}

/// What else makes runs noisy, each with what to do behind the last colon.
fn surroundings(advice: &[String]) -> Vec<Finding> {
    const NAME: &str = "surroundings";
    // It has a line of its own.
    let others: Vec<&String> = advice.iter().filter(|line| !line.contains("governor")).collect();
    if others.is_empty() {
        return vec![Finding::ok(Area::Measuring, NAME, "quiet: load, steal time, swap, turbo")];
    }
    let finding = |line: &&String| {
        let (found, next) = line.split_once(": ").unwrap_or((line, ""));
        Finding::limited(Area::Measuring, NAME, found, next)
    };
    others.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Status;
    use super::*;

    #[test]
    fn a_slow_clock_is_a_limit_and_an_invisible_one_is_not() {
        assert_eq!(governor(Some("powersave")).status, Status::Limited);
        assert_eq!(governor(Some("performance")).status, Status::Ok);
        assert_eq!(governor(None).status, Status::Ok);
    }

    #[test]
    fn advice_becomes_what_was_found_and_what_to_do() {
        let advice = ["turbo is on: switch it off".to_owned(), "the governor: is slow".to_owned()];
        let found = surroundings(&advice);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].found, "turbo is on");
        assert_eq!(found[0].next.as_deref(), Some("switch it off"));
        assert_eq!(surroundings(&[]).len(), 1);
    }

    #[test]
    fn a_tool_that_is_missing_is_named_with_what_it_is_for() {
        let found = tool("no-such-tool", "plots", "apt-get install plots");
        assert_eq!(found.next.as_deref(), Some("only for plots: apt-get install plots"));
    }

    #[test]
    fn trying_leaves_the_randomization_of_this_process_as_it_was() {
        let before = personality::get().expect("readable");
        let _ = addresses();
        assert_eq!(personality::get().expect("readable"), before);
    }
}
