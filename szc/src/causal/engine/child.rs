//! Starts the program, with the library, and waits for its end.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result};
use szc_abi::causal::MEMORY_VARIABLE;
use szc_sampler::clock::now;

use super::memory::Shared;
use super::plan::Plan;
use crate::measure::child::guardian::{self, Guarded};

/// How and when the program ended.
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// When, by the monotonic clock.
    pub time_ns: u64,
}

/// Starts the program, which ends if szc is killed before what comes with it is dropped.
///
/// # Errors
/// It cannot be run.
pub fn start(plan: &Plan, shared: &Shared) -> Result<(Child, Guarded)> {
    let [program, arguments @ ..] = &plan.header.command[..] else {
        anyhow::bail!("no program was named");
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command.env(MEMORY_VARIABLE, shared.path());
    command.env("LD_PRELOAD", preloaded(&plan.library, env::var_os("LD_PRELOAD")));
    // Where szc has built the program: copies of code that come and go cannot be selected.
    if env::var_os("SZC_CODE").is_none() {
        command.env("SZC_CODE", "0");
    }
    guardian::spawn(&mut command).with_context(|| format!("cannot run {program}"))
}

/// The library, before what is preloaded already.
fn preloaded(library: &Path, others: Option<OsString>) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// Waits for the program on a thread of its own, so that the time of its end is known exactly.
pub fn wait_for(mut child: Child) -> JoinHandle<Ended> {
    let waiting = thread::current();
    thread::spawn(move || {
        let status = child.wait().expect("it is our child");
        let time_ns = now();
        waiting.unpark();
        Ended { status, time_ns }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_already_comes_behind_the_library() {
        let with = |others: Option<&str>| preloaded(Path::new("/l.so"), others.map(Into::into));
        assert_eq!(with(None), "/l.so");
        assert_eq!(with(Some("")), "/l.so");
        assert_eq!(with(Some("/m.so")), "/l.so:/m.so");
    }
}
