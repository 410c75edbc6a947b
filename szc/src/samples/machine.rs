//! The machine that measured, as samples files describe it.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// Description of a machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Host name.
    pub hostname: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Instruction set.
    pub architecture: String,
    /// CPU model.
    pub cpu: Option<String>,
    /// CPUs this process may use.
    pub cores: Option<usize>,
    /// Total memory.
    pub memory_kib: Option<u64>,
    /// Frequency governor of CPU 0.
    pub governor: Option<String>,
    /// Whether a hypervisor announces itself.
    pub virtual_machine: Option<bool>,
    /// `kernel.randomize_va_space`: 0 off, 1 all but the heap, 2 all.
    pub aslr: Option<u8>,
    /// Whether this process and so its children run without ASLR (as under `setarch -R`).
    pub aslr_off_for_process: Option<bool>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Share of the CPU time since the start that a hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// Memory that is swapped out.
    pub swap_used_kib: Option<u64>,
    /// Whether the clock may go beyond its nominal frequency for a while.
    pub turbo: Option<bool>,
}

/// A number of CPUs in words.
pub(crate) fn cpus(count: usize) -> String {
    if count == 1 { "1 CPU".to_owned() } else { format!("{count} CPUs") }
}

impl Machine {
    /// The host name, or what stands for it.
    #[must_use]
    pub fn name(&self) -> String {
        self.hostname.clone().unwrap_or_else(|| "an unknown host".to_owned())
    }

    /// What makes two machines the same for a comparison of times, in one line.
    #[must_use]
    pub fn identity(&self) -> String {
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        format!(
            "{}: {}, {}, {}",
            known(&self.hostname),
            self.architecture,
            known(&self.cpu),
            self.cores.map_or_else(|| "unknown CPUs".to_owned(), cpus)
        )
    }
}
