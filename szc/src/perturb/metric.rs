//! What a trace can hold: metrics that are read from outside, and those that need a probe inside.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::PathBuf;

/// What the kernel keeps of every process, so that reading it costs the process next to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    /// CPU time of all threads.
    Cpu,
    /// Time that threads could have run and waited for a processor.
    Queued,
    /// Page faults without I/O.
    Faults,
    /// Page faults with I/O.
    MajorFaults,
    /// Context switches.
    Switches,
    /// Resident memory.
    Rss,
    /// Bytes read by system calls.
    Read,
    /// Bytes written by system calls.
    Written,
    /// Calls that read.
    ReadCalls,
    /// Calls that write.
    WriteCalls,
    /// Threads there are.
    Threads,
}

impl Outside {
    const ALL: [(Self, &'static str); 11] = [
        (Self::Cpu, "cpu"),
        (Self::Queued, "queued"),
        (Self::Faults, "faults"),
        (Self::MajorFaults, "major-faults"),
        (Self::Switches, "switches"),
        (Self::Rss, "rss"),
        (Self::Read, "read"),
        (Self::Written, "written"),
        (Self::ReadCalls, "read-calls"),
        (Self::WriteCalls, "write-calls"),
        (Self::Threads, "threads"),
    ];

    /// Whether it is a level, and not a count that grows.
    pub(super) const fn is_level(self) -> bool {
        matches!(self, Self::Rss | Self::Threads)
    }
}

/// What has to be put into the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Calls of the functions that allocate and free.
    HeapCalls,
    /// Calls of a function of the program.
    Calls(String),
    /// Executions of the basic blocks of a function of the program.
    Blocks(String),
    /// Writes to a variable of the program.
    Writes(String),
    /// A counter in a library that is loaded in front of all others.
    Preload {
        /// The library.
        library: PathBuf,
        /// Its variable of eight bytes.
        counter: String,
    },
}

/// A metric as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    /// Read from outside.
    Outside(Outside),
    /// By a probe.
    Inside(Inside),
}

/// The counter of a library where nobody says otherwise.
const USUAL_COUNTER: &str = "szc_count";

impl Metric {
    /// For clap: the metric of a name.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some((outside, _)) = Outside::ALL.iter().find(|(_, name)| *name == text) {
            return Ok(Self::Outside(*outside));
        }
        let inside = match text.split_once(':') {
            None if text == "heap-calls" => Inside::HeapCalls,
            Some(("calls", function)) if !function.is_empty() => Inside::Calls(function.into()),
            Some(("blocks", function)) if !function.is_empty() => Inside::Blocks(function.into()),
            Some(("writes", variable)) if !variable.is_empty() => Inside::Writes(variable.into()),
            Some(("preload", rest)) if !rest.is_empty() => {
                let (library, counter) = rest.rsplit_once(':').unwrap_or((rest, USUAL_COUNTER));
                Inside::Preload { library: library.into(), counter: counter.into() }
            }
            _ => return Err(known()),
        };
        Ok(Self::Inside(inside))
    }
}

fn known() -> String {
    let names: Vec<&str> = Outside::ALL.iter().map(|(_, name)| *name).collect();
    format!(
        "from outside: {}; by probes: heap-calls, calls:FUNCTION, blocks:FUNCTION, \
         writes:VARIABLE, preload:LIBRARY[:COUNTER]",
        names.join(", ")
    )
}

impl fmt::Display for Outside {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            Self::ALL.iter().find(|(outside, _)| outside == self).map_or("", |entry| entry.1);
        formatter.write_str(name)
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeapCalls => formatter.write_str("heap-calls"),
            Self::Calls(function) => write!(formatter, "calls:{function}"),
            Self::Blocks(function) => write!(formatter, "blocks:{function}"),
            Self::Writes(variable) => write!(formatter, "writes:{variable}"),
            Self::Preload { library, counter } => {
                let name = library.file_name().unwrap_or(library.as_os_str());
                write!(formatter, "preload:{}", name.display())?;
                if counter == USUAL_COUNTER { Ok(()) } else { write!(formatter, ":{counter}") }
            }
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(outside) => outside.fmt(formatter),
            Self::Inside(inside) => inside.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_called_as_they_were_asked_for() {
        for name in
            ["cpu", "major-faults", "rss", "heap-calls", "calls:f", "blocks:f", "writes:count"]
        {
            assert_eq!(Metric::parse(name).unwrap().to_string(), name);
        }
        let preload = |text| match Metric::parse(text) {
            Ok(Metric::Inside(Inside::Preload { library, counter })) => (library, counter),
            other => panic!("{other:?}"),
        };
        assert_eq!(preload("preload:./p.so"), ("./p.so".into(), "szc_count".into()));
        assert_eq!(preload("preload:/a/p.so:n"), ("/a/p.so".into(), "n".into()));
        assert_eq!(Metric::parse("preload:/a/p.so").unwrap().to_string(), "preload:p.so");
    }

    #[test]
    fn what_is_no_metric_is_answered_by_those_that_are() {
        for wrong in ["", "heap", "calls:", "preload:", "cycles", "blocks:"] {
            assert!(Metric::parse(wrong).unwrap_err().contains("calls:FUNCTION"), "{wrong}");
        }
    }
}
