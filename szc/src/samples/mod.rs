//! The samples file: versioned JSON with everything a later analysis needs.
//!
//! `form` is the newest version, with the records of `program`, `schedule`, `result`, `suite`,
//! `row_tolerance`, `sample`, `bias`, `machine` and `runtime_log`; `version_1` is read as one of
//! it, and `io` reads and writes. `design` says which program runs when, `setups` and `bases` in
//! which setup, `draw` has the random numbers for that, and `shard` says which part of a suite a
//! machine measures.
//! Nothing here measures or computes a result. Readers in other languages find the form in
//! szc/docs/src/samples.md.
#![forbid(unsafe_code)]

mod bases;
pub mod bias;
pub mod design;
mod draw;
pub mod form;
pub mod io;
pub mod luck;
pub mod machine;
pub mod metric;
pub mod program;
pub mod result;
pub mod row_tolerance;
pub mod runtime_log;
pub mod sample;
pub mod schedule;
pub mod setups;
pub mod shard;
pub mod suite;
pub mod verdict;
mod version_1;

pub use self::form::{
    Command, DesignRecord, FORMAT, RuleRecord, SamplesFile, VERSION, VERSION_OF_MACHINES,
};
pub use self::metric::Metric;
pub use self::program::{Executable, OrderRecord, ProgramRecord, SharedRecord, printable};
pub use self::result::{
    DiagnosticsRecord, OutliersRecord, PartRecord, ResultRecord, SlowestRecord, SplitRecord,
    SummaryRecord, VarianceRecord,
};
pub use self::row_tolerance::RowTolerance;
pub use self::sample::Sample;
pub use self::schedule::ScheduleRecord;
pub use self::suite::{
    AgreementRecord, ByBlockRecord, LevelRecord, OverMachinesRecord, SuiteRecord,
};
pub use self::verdict::{EndedRecord, Verdict};

#[cfg(test)]
mod tests;
