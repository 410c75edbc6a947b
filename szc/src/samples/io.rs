//! Reading and writing samples files: whole or not at all, and checked before anything relies on
//! them.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::Deserialize;

use super::design::{MAX_BLOCKS, MAX_PROGRAMS, MAX_RUNS_PER_POSITION};
use super::form::{FORMAT, SamplesFile, VERSION_OF_MACHINES};
use super::metric::Metric;
use super::version_1;

/// Fails early when a samples file could not be written at the end.
///
/// # Errors
/// When the folder of `path` cannot be written to, or `path` is a folder.
pub fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!(
            "cannot write samples to {}: it is a folder; give the name of a file in it",
            path.display()
        );
    }
    if is_special(path) {
        return Ok(());
    }
    temporary_beside(&target(path)).map(drop)
}

/// Writes a samples file; readers see the old file or the new one, never a half. Devices and
/// pipes are written to as they are.
///
/// # Errors
/// When the folder of `path` cannot be written to or the disk is full.
pub fn write(path: &Path, file: &SamplesFile) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(file)
        .with_context(|| format!("cannot write samples to {}", path.display()))?;
    bytes.push(b'\n');
    write_whole(path, "samples", &bytes)
}

/// Writes a file of which readers see the old content or the new one, as [`write()`] does; `what`
/// names the content in errors.
///
/// # Errors
/// When the folder of `path` cannot be written to or the disk is full.
pub fn write_whole(path: &Path, what: &str, bytes: &[u8]) -> Result<()> {
    let context = || format!("cannot write {what} to {}", path.display());
    if path.is_dir() {
        bail!("{}: it is a folder; give the name of a file in it", context());
    }
    if is_special(path) {
        return fs::write(path, bytes).with_context(context);
    }
    let target = target(path);
    let mut temporary = temporary_beside(&target).with_context(context)?;
    temporary.write_all(bytes).with_context(context)?;
    temporary.as_file().sync_all().with_context(context)?;
    temporary.persist(target).with_context(context)?;
    Ok(())
}

/// Whether `path` is there and no ordinary file, such as /dev/stdout: a rename would replace it.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// What `path` leads to, so that a link stays a link.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A temporary file in the folder of `path`, where a rename is atomic, with the
/// permissions of an ordinary new file.
fn temporary_beside(path: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let ordinary = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new()
        .prefix(".szc-samples-")
        .permissions(ordinary)
        .tempfile_in(&folder)
        .with_context(|| {
            format!(
                "cannot make {}: the folder {} must exist and be writable",
                path.display(),
                folder.display()
            )
        })
}

/// Reads a samples file.
///
/// # Errors
/// When the file cannot be read, is no samples file, or is of a newer version.
pub fn read(path: &Path) -> Result<SamplesFile> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&bytes).with_context(|| format!("cannot use {} as a samples file", path.display()))
}

/// The samples file that `bytes` are the content of.
///
/// # Errors
/// When they are no samples file, or one of a newer version.
pub fn parse(bytes: &[u8]) -> Result<SamplesFile> {
    /// What every version has.
    #[derive(Deserialize)]
    struct Head {
        format: String,
        version: u64,
    }
    let head: Head = serde_json::from_slice(bytes).context(
        "it is not JSON with the fields `format` and `version`: give a file written by szc with \
         --json",
    )?;
    if head.format != FORMAT {
        bail!(
            "its format is {:?}, and {FORMAT:?} is needed: give a file written by szc with --json",
            head.format
        );
    }
    if head.version > VERSION_OF_MACHINES {
        bail!(
            "it is of version {}, and this szc {} reads versions up to {VERSION_OF_MACHINES}: use \
             a newer szc",
            head.version,
            env!("CARGO_PKG_VERSION")
        );
    }
    let wrong = || format!("it says version {}, but a field is wrong", head.version);
    let file = match head.version {
        0 => bail!("it says version 0, which never was: give a file written by szc"),
        1 => serde_json::from_slice::<version_1::SamplesFile>(bytes).with_context(wrong)?.into(),
        _ => serde_json::from_slice::<SamplesFile>(bytes).with_context(wrong)?,
    };
    check(&file).with_context(wrong)?;
    Ok(file)
}

/// Refuses what the types allow and no experiment writes: programs that are not there, blocks that
/// nobody measured, values that are no numbers.
fn check(file: &SamplesFile) -> Result<()> {
    let programs = file.programs.len();
    if programs == 0 {
        bail!("`programs` is empty");
    }
    for (place, run) in file.runs.iter().enumerate() {
        if run.program >= programs {
            bail!("`runs[{place}].program` is {}, and there are {programs} programs", run.program);
        }
        if let Some((name, value)) = run.figures.iter().find(|(_, value)| !value.is_finite()) {
            bail!("`runs[{place}].figures.{name}` is {value}");
        }
        if let Some(name) = run.figures.keys().find(|name| name.parse::<Metric>().is_err()) {
            bail!("`runs[{place}].figures` has the name {name:?}, which names no metric");
        }
    }
    let machines = file.machines.len();
    if file.version < VERSION_OF_MACHINES && machines > 0 {
        bail!("it has `machines`, which files have from version {VERSION_OF_MACHINES} on");
    }
    for (place, program) in file.programs.iter().enumerate() {
        match program.machine {
            None if machines > 0 => {
                bail!("`programs[{place}].machine` is missing, and there are {machines} machines");
            }
            Some(machine) if machine >= machines => {
                bail!(
                    "`programs[{place}].machine` is {machine}, and there are {machines} machines"
                );
            }
            _ => {}
        }
    }
    if let Some(shard) = file.design.shard.filter(|shard| !shard.is_valid()) {
        bail!("`design.shard` is {shard}, and there is no such part");
    }
    let blocks = file.design.complete_blocks;
    if file.runs.iter().filter(|run| run.block < blocks).count() < blocks as usize {
        bail!("`design.complete_blocks` is {blocks}, and there are fewer runs");
    }
    let plan = &file.design.plan;
    for (name, number) in
        [("runs_per_position", plan.runs_per_position), ("runs_per_layout", plan.runs_per_layout)]
    {
        if !(1..=MAX_RUNS_PER_POSITION).contains(&number) {
            bail!("`design.{name}` is {number}, and 1 to {MAX_RUNS_PER_POSITION} is possible");
        }
    }
    if plan.programs > MAX_PROGRAMS {
        bail!("`design.programs` is {}, and {MAX_PROGRAMS} is the most", plan.programs);
    }
    let of_rows = file.design.row_tolerances.iter().map(|entry| Some(entry.tolerance));
    let of_rows = of_rows.map(|share| ("row_tolerances", share));
    let shares = [("tolerance", file.design.tolerance), ("precision", file.design.precision)];
    for (name, share) in shares.into_iter().chain(of_rows) {
        if let Some(share) = share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
            bail!("`design.{name}` is {share}, and a share of at most 1 is needed");
        }
    }
    if let Some(times) = file.design.slowest_layout.filter(|times| *times < 1.001) {
        bail!("`design.slowest_layout` is {times}, and a factor above 1 is needed");
    }
    if plan.setups.is_some_and(|setups| !setups.is_valid()) {
        bail!("`design.setups` has sizes of the environment that szc never measures");
    }
    if blocks > MAX_BLOCKS || file.design.plan.blocks > MAX_BLOCKS {
        bail!("`design` has more than {MAX_BLOCKS} blocks");
    }
    let pairs = file.results.iter().flat_map(|result| [result.program, result.reference]);
    let singles = file.summaries.iter().map(|summary| summary.program);
    if let Some(program) = pairs.chain(singles).find(|program| *program >= programs) {
        bail!("a result names program {program}, and there are {programs} programs");
    }
    Ok(())
}

/// `time` as ISO 8601 in UTC with seconds, such as `2024-02-29T23:59:59Z`. Times before 1970 count
/// as 1970.
#[must_use]
pub fn iso_8601(time: SystemTime) -> String {
    let time = Timestamp::try_from(time.max(UNIX_EPOCH)).unwrap_or(Timestamp::MAX);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
