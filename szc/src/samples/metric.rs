//! What is compared: time and memory from the kernel, or a figure that somebody else measured.
//!
//! The kernel's three metrics are there for every run. All others are *figures*, which a sample
//! carries by name: a new way to measure adds a name and changes nothing here.
#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A metric. Its text form, in options and in files, is `cpu`, `wall`, `rss` or the figure's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Metric {
    /// User and system CPU time of the program and the children it waited for.
    Cpu,
    /// Elapsed time.
    Wall,
    /// Peak resident memory.
    Rss,
    /// A figure that samples carry by name.
    Figure(String),
    /// All rows of a harness together: the geometric mean of their times.
    Rows,
    /// One row of a harness, by the name of its figure: [`ROW_PREFIX`] and the row's.
    Row(String),
}

/// What the name of a row's figure begins with.
pub const ROW_PREFIX: &str = "row:";

/// Longer names of rows are refused.
const MAX_ROW_BYTES: usize = 1024;

/// How a metric is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds: faster or slower.
    Time,
    /// Bytes: smaller or larger.
    Memory,
    /// A count or anything else: lower or higher.
    Count,
}

impl Metric {
    /// Those that every run has, in the order of tables.
    pub const KERNEL: [Self; 3] = [Self::Cpu, Self::Wall, Self::Rss];

    /// Whether the kernel counts it in every run.
    #[must_use]
    pub fn is_of_kernel(&self) -> bool {
        Self::KERNEL.contains(self)
    }

    /// How the metric is spoken of.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Cpu | Self::Wall | Self::Rows | Self::Row(_) => Kind::Time,
            Self::Rss => Kind::Memory,
            Self::Figure(_) => Kind::Count,
        }
    }

    /// Unit of the values: "s", "bytes", or that of the figure; "" for figures without one.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Cpu | Self::Wall | Self::Rows | Self::Row(_) => "s",
            Self::Rss => "bytes",
            Self::Figure(name) => match name.as_str() {
                "instructions" | "retired-instructions" => "instructions",
                "cycles" | "simulated-cycles" => "cycles",
                "cache-misses" | "branch-misses" => "misses",
                _ => "",
            },
        }
    }

    /// Name in sentences and tables.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Cpu => "CPU time",
            Self::Wall => "wall time",
            Self::Rss => "peak memory",
            Self::Figure(name) => match name.as_str() {
                "retired-instructions" => "retired instructions",
                "simulated-cycles" => "simulated cycles",
                "cache-misses" => "cache misses",
                "branch-misses" => "branch misses",
                "user" => "the program's own figure",
                other => other,
            },
            Self::Rows => "mean of rows",
            Self::Row(name) => name.strip_prefix(ROW_PREFIX).unwrap_or(name),
        }
    }

    /// Name in options and files.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Cpu => "cpu",
            Self::Wall => "wall",
            Self::Rss => "rss",
            Self::Rows => "rows",
            Self::Figure(name) | Self::Row(name) => name,
        }
    }

    /// The metric of a figure that a sample carries.
    #[must_use]
    pub fn of_figure(name: &str) -> Self {
        if name.starts_with(ROW_PREFIX) {
            Self::Row(name.to_owned())
        } else {
            Self::Figure(name.to_owned())
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "cpu" => Self::Cpu,
            "wall" => Self::Wall,
            "rss" => Self::Rss,
            "rows" => Self::Rows,
            row if row.starts_with(ROW_PREFIX) => {
                if row.len() > MAX_ROW_BYTES || row.chars().any(char::is_control) {
                    return Err("the name of a row has control characters, or is too long".into());
                }
                Self::Row(row.to_owned())
            }
            figure => {
                let plain = |character: char| {
                    character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
                };
                if figure.is_empty() || figure.len() > 64 || !figure.chars().all(plain) {
                    return Err(
                        "a metric is named by lower-case letters, digits and hyphens".to_owned()
                    );
                }
                Self::Figure(figure.to_owned())
            }
        })
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_is_read_back() {
        for text in
            ["cpu", "rss", "instructions", "user", "simulated-cycles", "rows", "row:BM_Sort<int>/8"]
        {
            let metric: Metric = text.parse().unwrap();
            assert_eq!(metric.to_string(), text);
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
        }
    }

    #[test]
    fn what_is_no_plain_name_is_no_metric() {
        for text in ["", "CPU", "a b", "\u{1b}[31m", "<script>", &"x".repeat(65), "row:\u{7}"] {
            assert!(text.parse::<Metric>().is_err(), "{text:?}");
        }
    }
}
