//! Options of `szc profile record`.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use szc_sampler::form::{Callers, MAX_STACK_BYTES};
use szc_sampler::heights::map::PathMap;
use szc_sampler::periods::MIN_PERIOD_NS;

use crate::profile::path_file::PathFile;

/// Options of `szc profile record`.
#[derive(Debug, Args)]
#[command(
    override_usage = "szc profile record [OPTIONS] -- CMD…\n       szc profile record [OPTIONS] \
                            -p PID"
)]
pub struct Options {
    /// Samples a second of each clock, on average
    #[arg(
        short = 'F',
        long,
        value_name = "HZ",
        default_value_t = 1000.0,
        conflicts_with = "count"
    )]
    freq: f64,

    /// Mean interval in nanoseconds, in place of -F
    #[arg(short, long, value_name = "NS")]
    count: Option<u64>,

    /// By how much an interval may be longer or shorter than the mean
    #[arg(long, value_name = "SHARE", default_value = "30%", value_parser = share)]
    pub jitter: f64,

    /// Record callers, by frame pointers (`fp`, which programs need -fno-omit-frame-pointer for),
    /// by unwind tables and so many bytes of each stack (`dwarf,8192`), or by the height of the
    /// stack alone (`icpp`, with --paths)
    #[arg(
        short = 'g',
        long,
        value_name = "HOW",
        num_args = 0..=1,
        default_missing_value = "fp",
        value_parser = callers
    )]
    call_graph: Option<Callers>,

    /// The path map for `icpp`, as `szc profile train` writes it
    #[arg(long, value_name = "FILE")]
    pub paths: Option<PathBuf>,

    /// With `icpp`, record the stack as well, to say whether call paths are right
    #[arg(long, requires = "paths")]
    truth: bool,

    /// Sample a process that runs, and its children from then on
    #[arg(short, long, value_name = "PID", conflicts_with = "command")]
    pub pid: Option<u32>,

    /// Where the profile is written
    #[arg(short, long, value_name = "FILE", default_value = "szc-profile.jsonl")]
    pub output: PathBuf,

    /// What intervals are drawn by [default: the time]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Use clocks of threads even where those of processors are permitted
    #[arg(long)]
    pub per_thread: bool,

    /// Record also where threads wait, and for how long
    #[arg(long)]
    pub off_cpu: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "pid")]
    pub command: Vec<String>,
}

fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0).or_else(|| text.parse().ok());
    share
        .filter(|share| (0.0..=0.99).contains(share))
        .ok_or_else(|| "a share from 0% to 99% is needed, such as 30%".to_owned())
}

/// Bytes of each stack, unless others are asked for; perf's, too.
const STACK_BYTES: u32 = 8192;

const KNOWN: &str = "known are fp, dwarf[,BYTES] and icpp";

fn callers(text: &str) -> Result<Callers, String> {
    let (how, bytes) = match text.split_once(',') {
        Some((how, bytes)) => (how, Some(bytes)),
        None => (text, None),
    };
    match (how, bytes) {
        ("fp", None) => Ok(Callers::FramePointers),
        ("dwarf", None) => Ok(Callers::Tables { stack_bytes: STACK_BYTES }),
        ("dwarf", Some(bytes)) => {
            let wanted =
                bytes.parse::<u32>().ok().and_then(|bytes| bytes.checked_next_multiple_of(8));
            let stack_bytes = wanted.filter(|bytes| (8..=MAX_STACK_BYTES).contains(bytes));
            stack_bytes.map(|stack_bytes| Callers::Tables { stack_bytes }).ok_or_else(|| {
                format!(
                    "the kernel gives 8 to {MAX_STACK_BYTES} bytes of a stack, such as dwarf,16384"
                )
            })
        }
        ("icpp", None) => Ok(Callers::TwoRegisters),
        ("lbr", _) => Err(format!("szc reads no branch records; {KNOWN}")),
        _ => Err(KNOWN.to_owned()),
    }
}

impl Options {
    /// What callers follow from.
    pub fn callers(&self) -> Callers {
        match self.call_graph {
            None => Callers::None,
            Some(Callers::TwoRegisters) if self.truth => {
                Callers::Tables { stack_bytes: MAX_STACK_BYTES }
            }
            Some(callers) => callers,
        }
    }

    /// The path map that callers are inferred by, if they are, and the seed of the stack whose
    /// layout is the best one for it.
    ///
    /// # Errors
    /// It cannot be read, does not belong to the programs that are there, or is missing.
    pub fn path_map(&self) -> Result<Option<(PathMap, Option<u64>)>> {
        match (self.call_graph, &self.paths) {
            (Some(Callers::TwoRegisters), Some(_)) if std::env::var_os("SZC_PAD").is_some() => {
                Err(anyhow!("with SZC_PAD a frame has another pad than its layout gives it"))
            }
            (Some(Callers::TwoRegisters), Some(path)) => {
                let file = PathFile::read(path)?;
                Ok(Some((file.map()?, file.stack_seed)))
            }
            (Some(Callers::TwoRegisters), None) => Err(anyhow!(
                "--call-graph icpp needs a path map: szc profile train -o FILE -- CMD, and then \
                 --paths FILE"
            )),
            (_, Some(_)) => Err(anyhow!("--paths is for --call-graph icpp")),
            (_, None) => Ok(None),
        }
    }

    /// Mean interval between samples of a clock.
    ///
    /// # Errors
    /// It is none that kernels keep to.
    pub fn period_ns(&self) -> Result<u64> {
        if let Some(period) = self.count {
            return Some(period).filter(|&period| period >= MIN_PERIOD_NS).ok_or_else(|| {
                anyhow!("-c {period}: the kernel keeps to {MIN_PERIOD_NS} ns and more")
            });
        }
        period_of(self.freq)
    }
}

/// Mean interval between samples at so many a second.
///
/// # Errors
/// It is none that kernels keep to.
pub fn period_of(freq: f64) -> Result<u64> {
    let most = 1e9 / MIN_PERIOD_NS as f64;
    if !(0.01..=most).contains(&freq) {
        return Err(anyhow!("-F {freq}: between 0.01 and {most} samples a second"));
    }
    // At most 10^11.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok((1e9 / freq) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn period(args: &[&str]) -> Result<u64> {
        Line::try_parse_from(args)?.options.period_ns()
    }

    #[test]
    fn the_interval_follows_from_frequency_or_count_within_what_kernels_keep_to() {
        assert_eq!(period(&["--", "a"]).unwrap(), 1_000_000);
        assert_eq!(period(&["-F", "100", "--", "a"]).unwrap(), 10_000_000);
        assert_eq!(period(&["-c", "20000", "--", "a"]).unwrap(), 20_000);
        for args in
            [&["-F", "0", "--", "a"][..], &["-F", "1e9", "--", "a"], &["-c", "9", "-p", "1"]]
        {
            assert!(period(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn a_program_or_a_process_is_needed_and_not_both() {
        for args in [&[][..], &["-p", "1", "--", "a"], &["-F", "9", "-c", "20000", "-p", "1"]] {
            assert!(Line::try_parse_from(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn callers_are_found_by_frame_pointers_or_by_tables_and_some_of_the_stack() {
        let found = |args: &[&str]| {
            let args = [args, &["--", "a"]].concat();
            Line::try_parse_from(args)
                .map(|line| line.options.callers())
                .map_err(|error| error.to_string())
        };
        let tables = |stack_bytes| Callers::Tables { stack_bytes };
        assert_eq!(found(&[]), Ok(Callers::None));
        assert_eq!(found(&["-g"]), Ok(Callers::FramePointers));
        assert_eq!(found(&["--call-graph", "fp"]), Ok(Callers::FramePointers));
        assert_eq!(found(&["--call-graph", "dwarf"]), Ok(tables(8192)));
        assert_eq!(found(&["--call-graph=dwarf,65528"]), Ok(tables(65528)));
        assert_eq!(found(&["-g", "dwarf,1001"]), Ok(tables(1008)));
        for refused in ["dwarf,65529", "dwarf,0", "dwarf,x", "lbr", "fp,8"] {
            let error = found(&["--call-graph", refused]).unwrap_err();
            assert!(error.contains("dwarf"), "{error}");
        }
    }

    #[test]
    fn two_registers_need_a_path_map_and_may_be_held_against_the_stack() {
        let read = |args: &[&str]| {
            let options = Line::try_parse_from([args, &["--", "a"]].concat()).unwrap().options;
            (options.callers(), options.path_map().map_err(|error| error.to_string()))
        };
        let (callers, map) = read(&["--call-graph", "icpp"]);
        assert_eq!(callers, Callers::TwoRegisters);
        assert!(map.unwrap_err().contains("szc profile train"));
        let (callers, map) = read(&["--call-graph", "icpp", "--paths", "/nowhere", "--truth"]);
        assert_eq!(callers, Callers::Tables { stack_bytes: MAX_STACK_BYTES });
        assert!(map.unwrap_err().contains("/nowhere"));
        assert!(read(&["-g", "--paths", "/nowhere"]).1.unwrap_err().contains("icpp"));
        assert_eq!(read(&["-g"]).1, Ok(None));
    }

    #[test]
    fn jitter_is_a_share_or_a_percentage_below_the_interval_itself() {
        assert_eq!((share("30%"), share("0.3"), share("0%")), (Ok(0.3), Ok(0.3), Ok(0.0)));
        assert!(share("100%").is_err() && share("-1%").is_err() && share("x").is_err());
    }
}
