//! Reads what the runtime inside a measured program says about its randomization.
//!
//! The runtime writes one JSON object per process to the file named by `SZC_LOG`
//! when the process ends. Unknown fields are kept, missing ones default, so that
//! a newer or older runtime still tells what it can.
#![forbid(unsafe_code)]

use std::path::Path;
use std::{fs, io};

use crate::samples::runtime_log::{Randomize, RuntimeLog};

/// What the processes of one run logged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLog {
    /// One entry per process that logged.
    pub processes: Vec<RuntimeLog>,
    /// Lines that were no log object.
    pub unreadable_lines: usize,
}

impl RunLog {
    /// Reads and removes every file of `folder`.
    ///
    /// # Errors
    /// When the folder or a file in it cannot be read or removed.
    pub fn take(folder: &Path) -> io::Result<Self> {
        let mut log = Self::default();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let text = fs::read(&path)?;
            fs::remove_file(&path)?;
            for line in text.split(|byte| *byte == b'\n') {
                if line.trim_ascii().is_empty() {
                    continue;
                }
                match serde_json::from_slice(line) {
                    Ok(process) => log.processes.push(process),
                    Err(_) => log.unreadable_lines += 1,
                }
            }
        }
        Ok(log)
    }

    /// The process that stands for the run: the child itself when it logged,
    /// otherwise the one with most relocations.
    #[must_use]
    pub fn principal(&self, child_pid: u32) -> Option<&RuntimeLog> {
        self.processes.iter().max_by_key(|process| (process.pid == child_pid, process.relocations))
    }

    /// Functions relocated in all processes together; `None` without a log.
    #[must_use]
    pub fn relocations(&self) -> Option<u64> {
        (!self.processes.is_empty())
            .then(|| self.processes.iter().map(|process| process.relocations).sum())
    }

    /// Layouts of the process that had most; `None` without a log.
    #[must_use]
    pub fn epochs(&self) -> Option<u64> {
        self.processes.iter().map(|process| process.epochs).max()
    }

    /// Why the run had no random layout of its own, or `None` when it had one.
    #[must_use]
    pub fn why_not_randomized(&self, seed_given: u64) -> Option<String> {
        if self.processes.is_empty() {
            return Some(if self.unreadable_lines > 0 {
                "the log of its runtime cannot be read".to_owned()
            } else {
                "it wrote no log, so it was not built by szc or ended without its runtime"
                    .to_owned()
            });
        }
        let random = |process: &&RuntimeLog| {
            let Randomize { code, stack, heap } = process.randomize;
            stack || heap || (code && process.relocations > 0)
        };
        let Some(process) = self.processes.iter().find(random) else {
            let any_code = self.processes.iter().any(|process| process.randomize.code);
            return Some(if let Some(reason) = self.pinned() {
                reason
            } else if any_code {
                "its log says that no function was relocated".to_owned()
            } else {
                "its log says that code, stack and heap randomization are all off".to_owned()
            });
        };
        (!self.processes.iter().any(|process| process.seed == seed_given)).then(|| {
            format!(
                "its log shows the layout seed {} instead of {seed_given}, so something inside the \
                 command sets SZC_SEED",
                process.seed
            )
        })
    }

    /// What of a process or of its libraries does not move although it was built for it, and why.
    #[must_use]
    pub fn pinned(&self) -> Option<String> {
        self.processes.iter().find_map(RuntimeLog::pinned)
    }

    /// Whether a process ran out of code budget.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.processes.iter().any(|process| process.exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = concat!(
        r#"{"abi":1,"pid":42,"seed":7,"interval_ms":500,"#,
        r#""randomize":{"code":true,"stack":false,"heap":false},"#,
        r#""functions":{"total":10,"movable":9,"pinned":1},"epochs":3,"relocations":20,"#,
        r#""code_bytes_live":100,"code_bytes_retained":5,"exhausted":false,"new_field":[1]}"#
    );

    fn taken(files: &[(&str, &str)]) -> RunLog {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let log = RunLog::take(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        log
    }

    #[test]
    fn a_log_object_is_read_and_written_back_without_loss() {
        let log = taken(&[("42.json", LINE)]);
        let again = serde_json::to_value(&log.processes[0]).unwrap();
        assert_eq!(again, serde_json::from_str::<serde_json::Value>(LINE).unwrap());
        assert_eq!((log.relocations(), log.epochs()), (Some(20), Some(3)));
        assert_eq!(log.why_not_randomized(7), None);
    }

    #[test]
    fn the_child_itself_stands_for_the_run_before_its_descendants() {
        let busier = LINE.replace("42", "43").replace("20", "99");
        let log = taken(&[("42.json", LINE), ("43.json", &busier)]);
        assert_eq!(log.principal(42).unwrap().pid, 42);
        assert_eq!(log.principal(1).unwrap().pid, 43);
        assert_eq!(log.relocations(), Some(119));
    }

    #[test]
    fn a_run_without_log_is_not_randomized() {
        assert!(taken(&[]).why_not_randomized(7).unwrap().contains("no log"));
        let torn = taken(&[("1.json", "{\"abi\":")]);
        assert!(torn.why_not_randomized(7).unwrap().contains("cannot be read"));
    }

    #[test]
    fn randomization_that_moved_nothing_is_none() {
        let off = taken(&[("1", &LINE.replace("\"code\":true", "\"code\":false"))]);
        assert!(off.why_not_randomized(7).unwrap().contains("all off"));
        let idle = taken(&[("1", &LINE.replace("\"relocations\":20", "\"relocations\":0"))]);
        assert!(idle.why_not_randomized(7).unwrap().contains("no function"));
    }

    #[test]
    fn code_that_should_move_and_does_not_is_told_with_the_reason() {
        assert_eq!(taken(&[("1", LINE)]).pinned(), None);
        let refused = "\"exhausted\":false,\"code_refused\":\"its table was stripped\"";
        let own = LINE.replace("\"exhausted\":false", refused);
        let found = taken(&[("1", &own)]).pinned().unwrap();
        assert_eq!(found, "its code stays where it is: its table was stripped");
        let off = own.replace("\"code\":true", "\"code\":false");
        assert!(taken(&[("1", &off)]).why_not_randomized(7).unwrap().ends_with("stripped"));
        let refused = "\"exhausted\":false,\"libraries\":{\"refused\":\"no room\"}";
        let library = LINE.replace("\"exhausted\":false", refused);
        assert!(taken(&[("1", &library)]).pinned().unwrap().contains("library stays"));
        let many = LINE.replace(
            "\"exhausted\":false",
            "\"exhausted\":false,\"libraries\":{\"passed_over\":3}",
        );
        assert!(taken(&[("1", &many)]).pinned().unwrap().ends_with("so 3 stay"));
    }

    #[test]
    fn a_seed_other_than_the_one_given_is_noticed() {
        let log = taken(&[("42.json", LINE)]);
        assert!(log.why_not_randomized(8).unwrap().contains("SZC_SEED"));
    }
}
