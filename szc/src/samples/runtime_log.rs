//! What the runtime inside a measured program says about its randomization, one object a process.
//!
//! Unknown fields are kept, missing ones default, so that a newer or older runtime still tells what
//! it can.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One object of the log: one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuntimeLog {
    /// Process id.
    pub pid: u32,
    /// Layout seed the process used.
    pub seed: u64,
    /// What was randomized.
    pub randomize: Randomize,
    /// Layouts the process went through.
    pub epochs: u64,
    /// Functions copied to a new place.
    pub relocations: u64,
    /// Whether the code budget ran out, after which the layout stood still.
    pub exhausted: bool,
    /// All other fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl RuntimeLog {
    /// What of the process or of its libraries does not move although it was built for it, and why.
    #[must_use]
    pub fn pinned(&self) -> Option<String> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let own = text(self.other.get("code_refused"));
        let libraries = self.other.get("libraries");
        let library = || text(libraries.and_then(|found| found.get("refused")));
        let passed_over = || libraries.and_then(|found| found.get("passed_over")?.as_u64());
        own.map(|reason| format!("its code stays where it is: {reason}"))
            .or_else(|| {
                library().map(|reason| format!("code of a library stays where it is: {reason}"))
            })
            .or_else(|| {
                passed_over().map(|count| {
                    format!(
                        "more libraries were open than the runtime has slots for, so {count} stay"
                    )
                })
            })
    }
}

/// What a process randomized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Randomize {
    /// Places of functions.
    pub code: bool,
    /// Padding of stack frames.
    pub stack: bool,
    /// Places of heap blocks.
    pub heap: bool,
}
