//! Carries builds out: several at a time, each with its output in a file of its own.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result};

use super::cache::{Cache, CachedBuild, Record};
use super::source::Source;
use crate::lab::failure::Failure;
use crate::measure::stop::Stop;

/// How much of a failed build's output is shown.
const SHOWN_LINES: usize = 20;

/// One build.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) record: Record,
    pub(super) source: Source,
    pub(super) out_of_tree: bool,
    pub(super) again: bool,
}

/// How one build ended.
enum Made {
    Reused,
    Built,
    Failed(String),
}

/// Makes all builds by their key; says of each whether it was there before.
///
/// # Errors
/// [`Failure::Build`] for the first that failed, in the order of keys; the others are finished.
pub(super) fn make_all(
    cache: &Cache,
    jobs: &BTreeMap<String, Job>,
    stop: &Stop,
    say: &mut dyn FnMut(&str),
) -> Result<BTreeMap<String, bool>, Failure> {
    // git's worktrees share one list, so checkouts are made one after the other.
    let git = Mutex::new(());
    let waiting = Mutex::new(jobs.iter());
    let workers = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let (tell, told) = std::sync::mpsc::channel();
    let mut results = BTreeMap::new();
    thread::scope(|scope| {
        for _ in 0..workers {
            let tell = tell.clone();
            let (git, waiting) = (&git, &waiting);
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().expect("no worker panics with it").next();
                    let Some((key, job)) = next.filter(|_| stop.signal().is_none()) else {
                        return;
                    };
                    let made = make(cache, key, job, git);
                    // The receiver lives as long as this scope.
                    let _ = tell.send((key.clone(), made));
                }
            });
        }
        drop(tell);
        for (key, made) in told {
            let label = &jobs[&key].record.label;
            match &made {
                Ok(Made::Reused) => say(&format!("{label}: built before")),
                Ok(Made::Built) => say(&format!("{label}: built")),
                Ok(Made::Failed(_)) | Err(_) => say(&format!("{label}: not built")),
            }
            results.insert(key, made);
        }
    });
    if let Some(signal) = stop.signal() {
        return Err(Failure::Interrupted(signal));
    }
    results
        .into_iter()
        .map(|(key, made)| match made? {
            Made::Reused => Ok((key, true)),
            Made::Built => Ok((key, false)),
            Made::Failed(text) => Err(Failure::Build(text)),
        })
        .collect()
}

fn make(cache: &Cache, key: &str, job: &Job, git: &Mutex<()>) -> Result<Made> {
    let entry = cache.lock(key)?;
    if entry.is_done() && !job.again {
        return Ok(Made::Reused);
    }
    let alone = || git.lock().expect("no worker panics with it");
    let copy = entry.folder().join("tree");
    {
        let _alone = alone();
        entry.empty()?;
        fs::create_dir_all(entry.folder())
            .with_context(|| format!("cannot make {}", entry.folder().display()))?;
        if let Source::Revision { repository, revision, .. } = &job.source {
            repository.check_out(revision, &copy)?;
        }
    }
    let folder = match &job.source {
        Source::Tree { tree, .. } if job.out_of_tree => tree.root().to_owned(),
        Source::Tree { tree, .. } => {
            tree.copy_to(&copy)?;
            job.source.place_in(entry.folder())
        }
        Source::Revision { .. } => job.source.place_in(entry.folder()),
    };
    if job.out_of_tree {
        let out = entry.folder().join("out");
        fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    }
    let made = run(job, &entry, &folder);
    if let Source::Revision { repository, .. } = &job.source {
        let _alone = alone();
        repository.release(&copy)?;
    }
    let made = made?;
    if matches!(made, Made::Built) {
        entry.done(&job.record)?;
    }
    Ok(made)
}

/// Runs the command in `folder`.
fn run(job: &Job, entry: &CachedBuild, folder: &Path) -> Result<Made> {
    let log = entry.folder().join("build.log");
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let errors = output.try_clone().context("cannot share the log of a build")?;
    let status = Command::new("/bin/sh")
        .arg("-c")
        .arg(&job.record.command)
        .current_dir(folder)
        .env("PATH", path_with_own_folder())
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .with_context(|| format!("cannot run /bin/sh in {}", folder.display()))?;
    if status.success() {
        return Ok(Made::Built);
    }
    Ok(Made::Failed(failure(job, status, folder, &log)))
}

/// So that `CC=szc` means the szc that is running.
fn path_with_own_folder() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap_or(path)
}

fn failure(job: &Job, status: ExitStatus, folder: &Path, log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    let mut message = format!(
        "the build of {} failed ({status})\n  needed: a build command that succeeds (exit status 0)\
         \n  next: cd {} && {}\n  all of its output: {}",
        job.record.label,
        folder.display(),
        job.record.command,
        log.display(),
    );
    if !shown.is_empty() {
        message.push_str("\n  the end of its output:");
    }
    for line in shown {
        message.push_str("\n    ");
        message.push_str(line);
    }
    message
}
