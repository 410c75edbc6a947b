//! The command line of `szc luck` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;

use crate::lab::options::CommonOptions;
use crate::lab::values::{Budget, parse_budget, parse_share};
use crate::samples::luck::Part;

const LONG_ABOUT: &str = "\
Says whose placement makes a program fast or slow.

A program that szc built runs in many layouts of its code, one for each run, and where each \
function lies is noted. If one function's offset in 32 bytes, in a cache line or in a page goes \
with the time, it is named, and then moved alone. --part stack asks the same of the frames of \
functions, --part heap of the blocks of each size.";

const AFTER_HELP: &str = "\
Examples:
  szc luck -- './bench input'
  szc luck --layouts 400 --cpu 3 --json luck.json -- './bench input'
  szc luck --fix -- './bench input'
  szc luck --pairs auto -- './bench input'   pairs of the hottest functions, too
  szc luck --pairs parse,emit -- './bench input'
  szc luck --part stack -- './bench input'   whose frame, not whose code
  szc luck --part heap -- './bench input'    blocks of which size
  szc luck luck.json --html luck.html        read a saved result again, as a page

Layouts: every second one is run twice, which tells layouts from noise. Frames, blocks, environment
and bases are the same in all runs. Beside each run, by turns, goes one in a layout that stays the
same, and time is held against its time: machines slow down for longer than a run takes. A run
should take 30 ms to 1 s; more layouts say more than longer runs.

Who: an analysis of variance for each function that ran in all layouts, and each of three features
of its address; what is named is at 5 % for all of them together (permutations, min-p).

Moved alone: the function that explains most is held at its best and at its worst offset
(SZC_PLACE), in fresh layouts where all others lie alike, until a confidence sequence excludes 1,
or lies within --delta, or --budget is used up. Confirmed: it is slower there. Rejected: the two
are equivalent, or it is faster there. Otherwise not decided.

Pairs: of the functions in --pairs each two are looked at, too: by their distance in a page, since
those that meet in a set of a cache or in an entry of a predictor have the same low bits. --pairs
auto chooses the four functions that take the most time by samples of a few runs. A pair is held by
SZC_PLACE=F:0/4096,G:OFFSET/4096.

With --part stack the pads of frames differ between runs, and all else is the same. Asked is for
each function with a pad that ran in all layouts: where its frame begins, where its first call is,
in a cache line and in a page, and how large its pad is, which is its distance from the caller's
frame. SZC_PAD holds the frame, or its pad.

With --part heap the blocks of the heap differ between runs. All blocks of a size class have one of
16 draws in a run, of their places and of who gets which (SZC_BLOCKS), and each class draws apart
from the others; asked is for each class that all layouts have, and for blocks above 16 KiB.

With --fix the function is held where an attribute or the order of sections would put it, in 60
layouts, against 60 in which it lies anywhere: Brown and Forsythe's test of the spread.

Exit status: 0 it was measured, whatever it says; 1 szc could not do its work; 2 usage error; 4 the
command failed or cannot be measured, as one that szc has not built; 130 stopped by Ctrl-C (what
was measured is reported).";

/// Options of `szc luck`.
#[derive(Debug, Parser)]
#[command(
    name = "szc luck",
    bin_name = "szc luck",
    override_usage = "szc luck [OPTIONS] -- 'CMD'\n       szc luck [OPTIONS] FILE.json",
    no_binary_name = true,
    about = "Says whose placement makes a program fast or slow",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc luck -- './bench input'\nMore with --help."
)]
pub(crate) struct Options {
    /// Layouts to measure
    #[arg(
        long,
        value_name = "N",
        default_value = "200",
        value_parser = clap::value_parser!(u32).range(20..=100_000)
    )]
    pub(super) layouts: u32,

    /// What differs between layouts: the places of functions (code), of their frames (stack), or of
    /// blocks (heap)
    #[arg(
        long,
        value_name = "PART",
        value_enum,
        default_value = "code",
        hide_possible_values = true
    )]
    pub(super) part: Part,

    /// Functions of which each two are looked at, too: how far apart they lie in a page; auto: the
    /// four that take the most time
    #[arg(long, value_name = "F,G|auto", value_delimiter = ',')]
    pub(super) pairs: Vec<String>,

    /// Most layouts in which the function is moved alone, or time such as 90s, 5m [default: 60]
    #[arg(long, value_name = "N|T", value_parser = parse_budget)]
    pub(super) budget: Option<Budget>,

    /// Difference of its best and worst offset that does not matter [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) delta: Option<f64>,

    /// Print what would make the program robust against it, and measure that it does
    #[arg(long)]
    pub(super) fix: bool,

    /// Write one self-contained HTML page, with plots of the functions that are named
    #[arg(long, value_name = "OUT")]
    pub(super) html: Option<PathBuf>,

    #[command(flatten)]
    pub(super) common: CommonOptions,

    /// The command, as one quoted string; or a saved result
    #[arg(value_names = ["COMMAND"])]
    pub(super) commands: Vec<String>,
}

impl Options {
    /// Whether the functions of pairs are to be chosen by a pilot.
    pub(super) fn has_chosen_pairs(&self) -> bool {
        self.pairs == ["auto"]
    }
}
