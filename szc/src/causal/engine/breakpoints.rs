//! Progress points that programs need not be built for: a hardware breakpoint at a function or
//! line counts, exactly, how often it is reached.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::io;

use anyhow::{Context as _, Result};
use perf_event::events::Breakpoint;
use perf_event::{Builder, Counter};

/// The points that were asked for, and the counters of the processes that have them.
pub struct Breakpoints {
    names: Vec<String>,
    counters: RefCell<Vec<(usize, Counter)>>,
}

impl Breakpoints {
    /// Points by name; no process has them yet.
    pub fn new(names: &[String]) -> Self {
        Self { names: names.to_vec(), counters: RefCell::default() }
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Counts in a process, and in all threads and processes that it will make, how often the
    /// addresses of points are reached.
    ///
    /// # Errors
    /// The processor has no more breakpoints, or the kernel gives none.
    pub fn follow(&self, pid: u32, address: impl Fn(&str) -> Option<u64>) -> Result<()> {
        for (index, name) in self.names.iter().enumerate() {
            let Some(address) = address(name) else { continue };
            let counter = count(pid, address).with_context(|| {
                format!(
                    "no hardware breakpoint for {name}: x86 processors have four, and some \
                         virtual machines none"
                )
            })?;
            self.counters.borrow_mut().push((index, counter));
        }
        Ok(())
    }

    /// The names that no process had.
    pub fn missing(&self) -> Vec<&str> {
        let counters = self.counters.borrow();
        let is_missing = |index| !counters.iter().any(|(of, _)| *of == index);
        let names = self.names.iter().enumerate();
        names.filter(|(index, _)| is_missing(*index)).map(|(_, name)| name.as_str()).collect()
    }

    /// How often each was reached.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.names.len()];
        for (index, counter) in self.counters.borrow_mut().iter_mut() {
            counts[*index] += counter.read().unwrap_or_default();
        }
        counts
    }
}

fn count(pid: u32, address: u64) -> io::Result<Counter> {
    Builder::new(Breakpoint::execute(address))
        .observe_pid(pid.cast_signed())
        .any_cpu()
        .inherit(true)
        .exclude_kernel(true)
        .exclude_hv(true)
        .enabled(true)
        .build()
}
