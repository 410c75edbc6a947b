//! What the runtime writes about a run: the line of `SZC_LOG` and the lines of `SZC_MAP`.
//!
//! Read here by the names that the documentation gives, not by szc's own reader.

use serde::Deserialize;
use std::path::Path;

/// One line of `SZC_LOG`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Log {
    pub abi: u32,
    pub pid: u32,
    pub seed: u64,
    pub interval_ms: u32,
    pub randomize: Randomize,
    #[serde(default)]
    pub code_refused: Option<String>,
    pub functions: Functions,
    pub epochs: u64,
    pub relocations: u64,
    pub code_bytes_live: u64,
    pub code_bytes_retained: u64,
    pub exhausted: bool,
    #[serde(default)]
    pub code_reclaim: Option<Reclaim>,
    #[serde(default)]
    pub heap_refused: Option<String>,
    #[serde(default)]
    pub stack: Option<Stack>,
    #[serde(default)]
    pub heap: Option<Heap>,
    #[serde(default)]
    pub libraries: Libraries,
}

/// What was randomized.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Randomize {
    pub code: bool,
    pub stack: bool,
    pub heap: bool,
}

/// What became of old copies of code.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Reclaim {
    pub freed: u64,
    pub kept: u64,
    pub skipped: u64,
    pub pauses: u64,
    pub pause_us: u64,
    #[serde(default)]
    pub other_stacks: Option<String>,
    pub snapshots: u64,
    #[serde(default)]
    pub blocked: Option<String>,
}

/// Numbers of functions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Functions {
    pub total: u64,
    pub movable: u64,
    pub pinned: u64,
}

/// What was done to the stack.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Stack {
    pub functions: u64,
    pub mean_pad_bytes: u64,
    pub refills: u64,
    pub room_bytes: u64,
}

/// What was done to the heap.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Heap {
    pub allocations: u64,
    pub frees: u64,
    pub classes: u64,
    pub large: u64,
    pub peak_bytes: u64,
    pub base: String,
    pub n: u32,
}

/// What was done to shared libraries; all 0 where the log does not speak of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are the interface")]
pub struct Libraries {
    #[serde(rename = "adopted")]
    pub attached: u64,
    pub moving: u64,
    pub movable: u64,
    pub pinned: u64,
    pub padded: u64,
    #[serde(default)]
    pub refused: Option<String>,
    #[serde(default)]
    pub staying: u64,
    #[serde(default)]
    pub passed_over: u64,
}

impl Log {
    /// All lines of a log file; none if there is no file.
    ///
    /// # Errors
    /// The line that is not a log object.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, String> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}")))
            .collect()
    }
}

/// A copy of a function, as `SZC_MAP` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Address of the copy's first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Name of the function.
    pub name: String,
    /// Epoch in which it was made.
    pub epoch: u64,
    /// Bytes of the pad of its frame, if it has one.
    pub pad: Option<u64>,
    /// Where the stack was at its first call.
    pub stack: Option<u64>,
}

/// All lines of a map.
///
/// # Panics
/// When a line does not have the form `ADDRESS SIZE NAME [epoch N, pad N, stack ADDRESS]`, of which
/// the last two may be absent.
#[must_use]
pub fn read_map(path: &Path) -> Vec<Copy> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| copy(line).unwrap_or_else(|| panic!("not a line of a map: {line}")))
        .collect()
}

fn copy(line: &str) -> Option<Copy> {
    let (line, rest) = line.strip_suffix(']')?.rsplit_once(" [epoch ")?;
    let mut rest = rest.split(", ").peekable();
    let epoch = rest.next()?.parse().ok()?;
    let pad = rest.next_if(|word| word.starts_with("pad "));
    let stack = rest.next_if(|word| word.starts_with("stack "));
    if rest.next().is_some() {
        return None;
    }
    let mut words = line.splitn(3, ' ');
    Some(Copy {
        address: u64::from_str_radix(words.next()?, 16).ok()?,
        bytes: u64::from_str_radix(words.next()?, 16).ok()?,
        name: words.next()?.to_owned(),
        epoch,
        pad: pad.map(|text| text[4..].parse().expect("bytes of a pad")),
        stack: stack.map(|text| u64::from_str_radix(&text[6..], 16).expect("an address")),
    })
}
