//! What programs that szc built need of the kernel to move.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;

use super::finding::{Area, Finding};
use crate::measure::child::has_code_membarrier;

/// All of it.
pub(super) fn kernel() -> Vec<Finding> {
    vec![own_memory(), membarrier()]
}

fn own_memory() -> Finding {
    const NAME: &str = "/proc/self/mem";
    match OpenOptions::new().read(true).write(true).open(NAME) {
        Ok(_) => Finding::ok(Area::Running, NAME, "can be opened for writing"),
        Err(error) => Finding::missing(
            Area::Running,
            NAME,
            format!("cannot be opened for writing: {error}"),
            "code stays in place: mount /proc, and allow it in the sandbox or container \
             (proc_mem.force_override on the kernel's command line must not forbid it)",
        ),
    }
}

fn membarrier() -> Finding {
    const NAME: &str = "membarrier";
    if has_code_membarrier() {
        Finding::ok(Area::Running, NAME, "makes all threads see changed code")
    } else {
        Finding::missing(
            Area::Running,
            NAME,
            "not for changed code",
            "code stays in place: Linux 4.16 or newer is needed, and a system call filter must \
             let membarrier(2) through",
        )
    }
}
