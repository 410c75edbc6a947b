//! Instructions and cache misses over those without randomization.
#![forbid(unsafe_code)]

use szc_stats::describe::median;

use super::table::{NOT_MEASURED, Table, distinct, machines};
use crate::evaluate::counts::Counts;
use crate::evaluate::step::{ALL, NONE};

/// Events, and what they are called here.
const INSTRUCTIONS: &str = "Ir";
const INSTRUCTION_MISSES: &[&str] = &["I1mr"];
const DATA_MISSES: &[&str] = &["D1mr", "D1mw"];
const LAST_LEVEL_MISSES: &[&str] = &["ILmr", "DLmr", "DLmw"];

/// Configurations that are compared.
const COLUMNS: [&str; 3] = [NONE, "code", ALL];

/// A program and its counts, or why there are none.
pub struct Counted {
    /// Its name.
    pub program: String,
    /// Its counts.
    pub counts: Option<Counts>,
    /// Why it could not be counted.
    pub failure: Option<String>,
}

/// Counts of one configuration.
fn events(counts: &Counts, name: &str, events: &[&str]) -> Option<f64> {
    let at = counts.evaluation.configurations.iter().position(|one| one.name == name)?;
    let of = counts.events.get(at)?;
    let all: Option<Vec<u64>> = events.iter().map(|event| of.get(*event).copied()).collect();
    Some(all?.into_iter().sum::<u64>() as f64)
}

/// Ratios of instructions with code, and with everything.
fn ratios(counts: &Counts) -> Option<[f64; 2]> {
    let of = |name| events(counts, name, &[INSTRUCTIONS]);
    let none = of(NONE)?;
    Some([of(COLUMNS[1])? / none, of(COLUMNS[2])? / none])
}

/// The cells of a program behind its name.
fn cells(counts: &Counts) -> Option<Vec<String>> {
    let none = events(counts, NONE, &[INSTRUCTIONS])?;
    let [code, all] = ratios(counts)?;
    let mut cells = vec![format!("{:.0}", none / 1e6), format!("{code:.3}"), format!("{all:.3}")];
    for kind in [INSTRUCTION_MISSES, DATA_MISSES, LAST_LEVEL_MISSES] {
        // For a thousand of the plain program's instructions, so that more instructions do not look
        // like fewer misses.
        let of = |name| Some(format!("{:.2}", events(counts, name, kind)? * 1000.0 / none));
        let all: Option<Vec<String>> = COLUMNS.map(of).into_iter().collect();
        cells.push(all?.join(" / "));
    }
    Some(cells)
}

/// The table.
pub fn section(rows: &[Counted]) -> String {
    let found = || rows.iter().filter_map(|row| row.counts.as_ref());
    let mut table = Table::new(&[
        "program",
        "instructions, millions",
        "over that: code",
        "over that: all",
        "instruction cache",
        "data cache",
        "last level",
    ]);
    for row in rows {
        let cells = match (&row.counts, &row.failure) {
            (Some(counts), _) => {
                cells(counts).unwrap_or_else(|| vec!["cannot be analysed".to_owned()])
            }
            (None, Some(reason)) => {
                vec![format!("failed: {}", reason.lines().next().unwrap_or_default())]
            }
            (None, None) => vec![NOT_MEASURED.to_owned()],
        };
        table.add(&[vec![row.program.clone()], cells].concat());
    }
    let all: Vec<[f64; 2]> = found().filter_map(ratios).collect();
    let Some(first) = found().next().filter(|_| !all.is_empty()) else {
        return format!("{} programs: {NOT_MEASURED}.\n\n{}", rows.len(), table.finish());
    };
    let middle = |place: usize| {
        let values: Vec<f64> = all.iter().map(|ratios| ratios[place]).collect();
        format!("**{:.3}**", median(&values).unwrap_or_default())
    };
    table.add(&["**median of programs**".to_owned(), String::new(), middle(0), middle(1)]);
    let builds = distinct(found().filter_map(|counts| counts.evaluation.build.as_deref()));
    format!(
        "n = {} of {} programs, one run of each configuration, workloads of size {}; `{}`; \
         build {} of szc; {}.\n\n{}\n\
         Misses are those of `{NONE}`, of code and of everything, each for 1,000 instructions of \
         `{NONE}`.\n",
        all.len(),
        rows.len(),
        first.evaluation.size,
        first.counter.join(" "),
        builds.join(", "),
        machines(found().map(|counts| &counts.machine)),
        table.finish(),
    )
}
