//! Tables in Markdown, and the sentence above them that says what they are of.
#![forbid(unsafe_code)]

use szc::samples::ScheduleRecord;
use szc::samples::machine::Machine;

use super::row::{ALPHA, Row};
use crate::evaluate::record::{Measured, State};

/// What stands where nothing was measured.
pub const NOT_MEASURED: &str = "not measured yet";

/// A table; the first column is text, the others are numbers.
pub struct Table {
    columns: usize,
    text: String,
}

impl Table {
    /// An empty one with these titles.
    pub fn new(titles: &[&str]) -> Self {
        let rules = vec!["---:"; titles.len().saturating_sub(1)];
        let text = format!("| {} |\n| --- | {} |\n", titles.join(" | "), rules.join(" | "));
        Self { columns: titles.len(), text }
    }

    /// Adds a line; what is missing of it is empty.
    pub fn add(&mut self, cells: &[String]) {
        let mut cells = cells.to_vec();
        cells.resize(self.columns, String::new());
        let cells: Vec<String> =
            cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    /// Adds a line about a program; `None` where its samples do not say it.
    pub fn add_program(&mut self, row: &Row, cells: Option<Vec<String>>) {
        let first = row.program.clone();
        let rest = match (&row.state, cells) {
            (State::Measured(_), Some(cells)) => cells,
            (State::Measured(_), None) => vec!["cannot be analysed".to_owned()],
            (State::Failed(reason), _) => {
                let line = reason.lines().next().unwrap_or_default();
                vec![format!("failed: {line}")]
            }
            (State::Missing, _) => vec![NOT_MEASURED.to_owned()],
        };
        self.add(&[vec![first], rest].concat());
    }

    /// Its text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// What was measured how, when and where.
pub fn origin(rows: &[Row]) -> String {
    let measured: Vec<_> = rows.iter().filter_map(Row::measured).collect();
    if measured.is_empty() {
        return format!("{} programs: {NOT_MEASURED}.\n\n", rows.len());
    }
    let all = |of: &dyn Fn(usize) -> String| distinct((0..measured.len()).map(of));
    let runs: Vec<usize> = measured.iter().map(|one| runs_of(one)).collect();
    let least = runs.iter().min().copied().unwrap_or_default();
    let runs = match runs.iter().max() {
        Some(most) if *most > least => format!("{least} to {most}"),
        _ => least.to_string(),
    };
    let size = all(&|place| measured[place].evaluation.size.clone()).join(" and ");
    let days = all(&|place| measured[place].file.created.chars().take(10).collect());
    let versions = all(&|place| {
        let evaluation = &measured[place].evaluation;
        let known = |text: &Option<String>| text.clone().unwrap_or("unknown".to_owned());
        format!("{} (build {})", known(&evaluation.commit), known(&evaluation.build))
    });
    format!(
        "n = {} of {} programs; {runs} runs of each configuration, {}; workloads of size {size}; \
         {}; szc {}; {}.\n\n",
        measured.len(),
        rows.len(),
        all(&|place| schedule(measured[place])).join(" and "),
        match days.as_slice() {
            [day] => day.clone(),
            several => format!("{} to {}", several[0], several[several.len() - 1]),
        },
        versions.join(", "),
        machines(measured.iter().map(|one| &one.file.machine)),
    )
}

/// The machines that something was measured on, each of them once.
pub fn machines<'a>(all: impl Iterator<Item = &'a Machine>) -> String {
    distinct(all.map(machine)).join("; and on another machine: ")
}

/// Each text once, in their order.
pub fn distinct<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = all.collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Runs of each configuration in complete blocks.
fn runs_of(measured: &Measured) -> usize {
    let file = &measured.file;
    let blocks = file.design.complete_blocks;
    file.runs.iter().filter(|run| run.program == 0 && run.block < blocks).count()
}

/// How the runs of a block were scheduled.
fn schedule(measured: &Measured) -> String {
    let record = measured.file.programs.first().and_then(|program| program.schedule.as_ref());
    match record {
        Some(ScheduleRecord { by_turns: true, turn_ms: Some(turn), .. }) => {
            format!("by turns of {turn} ms on one processor")
        }
        Some(ScheduleRecord { by_turns: true, .. }) => "by turns on one processor".to_owned(),
        _ => "one after the other".to_owned(),
    }
}

/// The machine in a few words, its name (a hash) included.
pub fn machine(machine: &Machine) -> String {
    let unknown = || "unknown".to_owned();
    format!(
        "{}{}, usable processors: {}, {:.1} GiB, Linux {} ({})",
        machine.cpu.clone().unwrap_or_else(unknown),
        if machine.virtual_machine == Some(true) { ", virtual machine" } else { "" },
        machine.cores.map_or_else(unknown, |cores| cores.to_string()),
        machine.memory_kib.unwrap_or_default() as f64 / f64::from(1 << 20),
        machine.kernel.clone().unwrap_or_else(unknown),
        machine.hostname.clone().unwrap_or_else(unknown),
    )
}

/// A probability, in bold where it rejects.
pub fn probability(p: f64) -> String {
    let text = if p < 0.0005 { "< 0.001".to_owned() } else { format!("{p:.3}") };
    if p < ALPHA { format!("**{text}**") } else { text }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
