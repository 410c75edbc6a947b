//! Stage two in words and tables: what a simulated processor does otherwise in the setup with the
//! highest value than in that with the lowest.
#![forbid(unsafe_code)]

use super::super::number::percent;
use super::names::{factor_name, setup_name};
use crate::samples::bias::{EventRecord, SimulatedRecord};
use crate::samples::{ProgramRecord, SamplesFile, printable};

/// Events that differ by less are left out of sentences.
const NOTABLE: f64 = 0.01;

/// Rows of the events of one program, with their head.
#[must_use]
pub fn events(file: &SamplesFile, found: &SimulatedRecord) -> Vec<Vec<String>> {
    let [low, high] = [0, 1].map(|which| setup_name(file, &found.setups[which]));
    let mut rows = vec![vec!["simulated events".to_owned(), low, high, "ratio".to_owned()]];
    rows.extend(found.events.iter().map(|event| {
        let [low, high] = event.counts;
        let ratio = if low > 0.0 { format!("{:.3}", high / low) } else { "~".to_owned() };
        vec![event_name(&event.name).to_owned(), count(low), count(high), ratio]
    }));
    rows
}

/// A count without decimals.
#[must_use]
pub fn count(count: f64) -> String {
    format!("{count:.0}")
}

/// What an event of cachegrind is.
#[must_use]
pub fn event_name(name: &str) -> &str {
    match name {
        "Ir" => "instructions",
        "I1mr" => "misses, first level, code",
        "ILmr" => "misses, last level, code",
        "Dr" => "reads",
        "D1mr" => "misses, first level, reads",
        "DLmr" => "misses, last level, reads",
        "Dw" => "writes",
        "D1mw" => "misses, first level, writes",
        "DLmw" => "misses, last level, writes",
        "Bc" => "conditional branches",
        "Bcm" => "mispredicted",
        "Bi" => "indirect branches",
        "Bim" => "mispredicted, indirect",
        other => other,
    }
}

/// Rows of the places of functions, with their head.
#[must_use]
pub fn places(found: &SimulatedRecord) -> Vec<Vec<String>> {
    let head = ["function", "instructions", "low 12 bits, lowest", "highest"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(found.functions.iter().map(|one| {
        let [low, high] = one.places.map(|place| format!("{place:#05x}"));
        vec![printable(&one.name), percent(one.share), low, high]
    }));
    rows
}

/// What follows, a sentence each.
#[must_use]
pub fn sentences(file: &SamplesFile, found: &SimulatedRecord) -> Vec<String> {
    let name = file.programs.get(found.program).map_or_else(String::new, ProgramRecord::title);
    let change = |event: &EventRecord| (event.counts[1] / event.counts[0]).ln().abs();
    let mut notable: Vec<&EventRecord> = found
        .events
        .iter()
        .filter(|event| event.counts[0] > 1000.0 && change(event) > NOTABLE.ln_1p())
        .collect();
    notable.sort_by(|one, other| change(other).total_cmp(&change(one)));
    let differing: Vec<String> = notable
        .iter()
        .map(|one| format!("{} {:.3} times", event_name(&one.name), one.counts[1] / one.counts[0]))
        .collect();
    let what = if differing.is_empty() {
        "caches and branches do not differ by 1 %, so that it is something that the simulation \
         does not have, as 4 KiB aliasing of loads and stores or the machine's own predictors"
            .to_owned()
    } else {
        differing.join(", ")
    };
    let mut said = vec![format!(
        "Simulated, {name} in {} (highest) against {} (lowest) by the {}: {what}.",
        setup_name(file, &found.setups[1]),
        setup_name(file, &found.setups[0]),
        factor_name(found.factor)
    )];
    if let [Some(low), Some(high)] = found.stack {
        let near = |which: usize| {
            let names = &found.near_stack[which];
            let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
            if names.is_empty() { "no global".to_owned() } else { names.join(", ") }
        };
        said.push(format!(
            "The stack of {name} begins at {low:#05x} of a page (lowest) and at {high:#05x} \
             (highest); the low 12 bits of the 512 bytes below are those of {} and of {}.",
            near(0),
            near(1)
        ));
    }
    if !found.is_aligned {
        said.push(format!(
            "The simulated stack of {name} begins elsewhere than the machine's, so that its \
             events say nothing of the stack's position."
        ));
    }
    said
}
