//! Sizes of executables and CPU time of builds, with everything randomized over nothing.
#![forbid(unsafe_code)]

use szc::samples::Metric;
use szc_stats::describe::median;

use super::ratios::log_ratios;
use super::row::Row;
use super::table::{Table, origin};
use crate::evaluate::record::{FileRecord, Measured};
use crate::evaluate::step::{ALL, NONE};

/// Ratios of the file, of its code, of the memory it takes when it is started, and of the build.
fn ratios(measured: &Measured) -> Option<[f64; 4]> {
    let file = |name: &str| {
        measured.evaluation.configurations.iter().find(|one| one.name == name)?.files.first()
    };
    let (plain, randomized) = (file(NONE)?, file(ALL)?);
    let ratio = |of: fn(&FileRecord) -> u64| of(randomized) as f64 / of(plain) as f64;
    let build = median(&log_ratios(measured, NONE, ALL, &Metric::Cpu)?)?.exp();
    Some([
        ratio(|file| file.bytes),
        ratio(|file| file.code_bytes),
        ratio(|file| file.loaded_bytes),
        build,
    ])
}

/// The table.
pub fn section(rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "file, KiB",
        "file",
        "code",
        "mapped at the start",
        "CPU time of the build, s",
        "CPU time of the build",
    ]);
    let mut all = Vec::new();
    for row in rows {
        let found = row.measured().and_then(|measured| Some((measured, ratios(measured)?)));
        let cells = found.map(|(measured, ratios)| {
            let plain = measured.evaluation.configurations[0].files.first();
            let kib = plain.map_or(0.0, |file| file.bytes as f64 / 1024.0);
            let times = szc::samples::sample::values_of(&measured.file.runs, 0, &Metric::Cpu);
            let [file, code, loaded, build] = ratios.map(|ratio| format!("{ratio:.3}"));
            let seconds = format!("{:.1}", median(&times).unwrap_or_default());
            vec![format!("{kib:.0}"), file, code, loaded, seconds, build]
        });
        all.extend(found.map(|(_, ratios)| ratios));
        table.add_program(row, cells);
    }
    if !all.is_empty() {
        let middle = |place: usize| {
            let values: Vec<f64> = all.iter().map(|ratios| ratios[place]).collect();
            format!("**{:.3}**", median(&values).unwrap_or_default())
        };
        table.add(&[
            "**median of programs**".to_owned(),
            String::new(),
            middle(0),
            middle(1),
            middle(2),
            String::new(),
            middle(3),
        ]);
    }
    format!(
        "{}{}\nNumbers with a unit are those of `{NONE}`, the others what `{ALL}` has or takes \
         over it. The build is all of it: configuration, compilers and linker, one process at a \
         time.\n",
        origin(rows),
        table.finish()
    )
}
