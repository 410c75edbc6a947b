//! The value of `--metric`: which metric decides, and which instruments it takes.
#![forbid(unsafe_code)]

use crate::measure::counters::{Event, HardwareCounters};
use crate::measure::harness::Harness;
use crate::measure::instrument::Instrument;
use crate::measure::user_figure::{self, Pattern};
use crate::measure::valgrind::{self, Simulation};
use crate::samples::Metric;

/// Metrics by name, for messages and completion; besides there is [`USER_PREFIX`].
pub const NAMES: [&str; 9] = [
    "cpu",
    "wall",
    "rss",
    "instructions",
    "simulated-cycles",
    "cycles",
    "retired-instructions",
    "cache-misses",
    "branch-misses",
];

/// In front of a regular expression for a figure that the program prints.
pub const USER_PREFIX: &str = "user:";

/// In front of the format of a harness, and of a colon and a regular expression for its rows: what
/// `--harness` and `--rows` say.
pub const HARNESS_PREFIX: &str = "harness:";

/// What a value of `--metric` asks for.
enum Choice {
    Kernel(Metric),
    Counter(Event),
    Simulation(Simulation),
    User(Pattern),
    Harness(Harness),
}

/// Reads the value of `--metric`. Hardware counters are read in every run of any metric that does
/// not take a simulator, on machines that have them.
///
/// # Errors
/// What is wrong with it, and what can be given instead; or why this machine cannot measure it.
pub fn choose(text: &str) -> Result<(Metric, Vec<Box<dyn Instrument>>), String> {
    let counters = || -> Vec<Box<dyn Instrument>> {
        let found = HardwareCounters::new(None).ok();
        found.into_iter().map(|counters| Box::new(counters) as Box<dyn Instrument>).collect()
    };
    let figure = |name: &str| Metric::Figure(name.to_owned());
    Ok(match read(text)? {
        Choice::Kernel(metric) => (metric, counters()),
        Choice::Counter(event) => {
            let counters = HardwareCounters::new(Some(event.name().to_owned()))?;
            (figure(event.name()), vec![Box::new(counters)])
        }
        Choice::Simulation(simulation) => {
            valgrind::available()?;
            (figure(simulation.name()), vec![Box::new(simulation)])
        }
        Choice::User(pattern) => {
            let mut instruments = counters();
            instruments.push(Box::new(pattern));
            (figure(user_figure::NAME), instruments)
        }
        Choice::Harness(harness) => (Metric::Rows, vec![Box::new(harness)]),
    })
}

/// Checks that a text names a metric, whether this machine has it or not.
///
/// # Errors
/// What is wrong with it, and what can be given instead.
pub fn check(text: &str) -> Result<(), String> {
    read(text).map(drop)
}

fn read(text: &str) -> Result<Choice, String> {
    if let Some(pattern) = text.strip_prefix(USER_PREFIX) {
        return Pattern::new(pattern).map(Choice::User);
    }
    if let Some(format) = text.strip_prefix(HARNESS_PREFIX) {
        return Harness::new(format).map(Choice::Harness);
    }
    let kernel = Metric::KERNEL.into_iter().find(|metric| metric.name() == text);
    let event = Event::ALL.into_iter().find(|event| event.name() == text);
    let simulation = Simulation::ALL.into_iter().find(|simulation| simulation.name() == text);
    kernel
        .map(Choice::Kernel)
        .or(event.map(Choice::Counter))
        .or(simulation.map(Choice::Simulation))
        .ok_or_else(|| {
            format!("{text:?} is no metric: {} or user:REGEX is needed", NAMES.join(", "))
        })
}

/// For clap: whether the text can be chosen.
pub(super) fn parse(text: &str) -> Result<String, String> {
    check(text).map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_metric_whether_the_machine_has_it_or_not() {
        for name in NAMES {
            assert_eq!(check(name), Ok(()));
            assert_eq!(name.parse::<Metric>().unwrap().name(), name);
        }
        assert!(check("cpus").unwrap_err().contains("simulated-cycles"));
        assert!(check("user:x").unwrap_err().contains("parentheses"));
    }

    #[test]
    fn kernel_metrics_can_always_be_chosen_and_simulations_bring_their_instrument() {
        assert_eq!(choose("wall").unwrap().0, Metric::Wall);
        let (metric, instruments) = choose("instructions").unwrap();
        assert_eq!((metric.name(), instruments.len()), ("instructions", 1));
        assert_eq!(choose("user:([0-9]+)").unwrap().0.name(), "user");
        assert_eq!(choose("harness:divan:^fib").unwrap().0, Metric::Rows);
        assert!(check("harness:junit").unwrap_err().contains("catch2"));
    }

    #[test]
    fn a_counter_that_the_machine_lacks_is_refused_with_the_reason() {
        match (choose("cycles"), HardwareCounters::new(None)) {
            (Ok((metric, _)), Ok(_)) => assert_eq!(metric.name(), "cycles"),
            (Err(reason), _) => assert!(reason.contains("hardware counters"), "{reason}"),
            (Ok(_), Err(_)) => panic!("cycles were chosen on a machine without counters"),
        }
    }
}
