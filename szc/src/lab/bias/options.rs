//! The command line of `szc bias` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;

use crate::lab::build::BuildOptions;
use crate::lab::options::CommonOptions;
use crate::lab::values::{Budget, parse_budget, parse_name, parse_share};
use crate::samples::bias::Factor;
use crate::samples::design::MAX_RUNS_PER_POSITION;
use crate::samples::setups::{Contrast, MAX_REPEATS, PAGE_BYTES, STACK_ALIGNMENT, Setups};

/// The step of Mytkowicz et al., and how many of its sizes there are up to 4096 bytes.
const PAPER_STEP_BYTES: u32 = 63;
const PAPER_SIZES: u32 = PAGE_BYTES / PAPER_STEP_BYTES + 1;

const LONG_ABOUT: &str = "\
Says whether an answer is an artefact of the setup in which it was measured, and of what in it.

The length of an environment variable that nobody reads moves the stack, and may make the same \
program several percent faster or slower, or turn faster into slower; so may the order in which \
object files are linked. szc bias measures one command, or one against another, in many such \
setups: programs of any compiler, rebuilt only for orders of objects.";

const AFTER_HELP: &str = "\
Examples:
  szc bias -- './bench-O2 input' './bench-O3 input'      each start of the stack in a page
  szc bias --intervene stack,heap --json why.json -- './bench input'
  szc bias --precision 0.5% -- './bench-O2 input' './bench-O3 input'
  szc bias --factors link --build 'make CC={cc}' --cc gcc -- './bench-a input' './bench-b input'
  szc bias why.json                                      read saved samples again
  szc bias lua.json sqlite.json perl.json                several programs, each measured before

Sizes: an environment variable grows by 16 bytes at a time, so that the stack begins at each of
its 256 positions within a page, in random order, each in --repeats blocks; all else is the same
in all runs: no address space randomization, one layout seed. A block runs each command by turns,
or in a random order and then in reverse.

Order of objects (--factors link): --build is done once for each of --orders orders, each in a
folder of its own: the build's own order, the alphabetical one, and random ones with the seeds
1, 2 and so on. {cc} and {cxx} stand for compilers that follow the order: those of --cc and --cxx.
Only objects on a link's command line change places, not those inside an archive. --flags, --rev
and --param make two versions of one command, as in szc compare.

Causes (--intervene): the two sizes that seemed to differ most are measured again, under
conditions. stack: the stack begins at the same address at both sizes; and the variables stay and
the stack alone is moved, which tells whether their contents matter. heap: all variables together
are equally long at both sizes, and with them what a program copies to its heap, while the stack
moves. A cause is confirmed if at most a quarter of the difference remains without it, rejected
if at least three quarters do; otherwise undecided. All of that at 5 % together, however often
one looks; no cause is named where no difference is shown.

Events (--simulate): cachegrind counts caches and branches in the setup with the lowest value and in
that with the highest, the stack at the same positions as on the machine, and what shares the low 12
bits of its address with the stack is named; also of saved samples, which get it added.

Setups at random (--precision): each block draws a setup, until the interval of the mean ratio is
as narrow as asked for; and how often a single setup would have misled.

With several factors, setups at random are crossed, and the report splits what they differ by.

Layouts (--factors code,stack,heap): of programs that szc built, --layouts of the places of
functions, of pads of frames, of places on the heap, each by a seed of its own while the other two
stay; a run has one layout throughout.

Exit status: 0 the setups were measured, whatever they say; 1 szc could not do its work; 2 usage
error, or a samples file that cannot be used; 4 a build or a command failed, or
cannot be measured; 130
stopped by Ctrl-C (what was measured is reported, and saved; --resume goes on).";

/// Something to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Intervention {
    /// The start of the stack; and all variables while the stack moves
    Stack,
    /// The length of all variables together, and so what copies of them move on the heap
    Heap,
}

/// Options of `szc bias`.
#[derive(Debug, Parser)]
#[command(
    name = "szc bias",
    bin_name = "szc bias",
    override_usage = "szc bias [OPTIONS] -- 'CMD_A' ['CMD_B']\n       szc bias [OPTIONS] \
                      FILE.json…\n       szc bias --resume FILE.json",
    no_binary_name = true,
    about = "Says whether an answer is an artefact of the setup, and of what in it",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc bias -- './bench-O2 input' './bench-O3 input'\nMore with --help."
)]
pub(crate) struct Options {
    /// What differs between setups
    #[arg(long, value_enum, value_delimiter = ',', default_value = "env")]
    pub(super) factors: Vec<Factor>,

    /// Orders of objects, 2 to 256, the build's own among them
    #[arg(
        long,
        value_name = "N",
        default_value = "33",
        value_parser = clap::value_parser!(u32).range(2..=256)
    )]
    pub(super) orders: u32,

    /// Layouts of each part with --factors code,stack,heap, 2 to 256
    #[arg(
        long,
        value_name = "N",
        default_value = "16",
        value_parser = clap::value_parser!(u32).range(2..=256)
    )]
    pub(super) layouts: u32,

    /// C compiler that {cc} in --build stands for
    #[arg(long, value_name = "CMD", default_value = "szc", requires = "build")]
    pub(super) cc: String,

    /// C++ compiler that {cxx} in --build stands for
    #[arg(long, value_name = "CMD", default_value = "szc++", requires = "build")]
    pub(super) cxx: String,

    /// Sizes of the environment, 2 to 256, evenly over a page
    #[arg(
        long,
        value_name = "N",
        default_value = "256",
        value_parser = clap::value_parser!(u32).range(2..=256)
    )]
    pub(super) positions: u32,

    /// The sizes of Mytkowicz et al. (2009): 66, 63 bytes apart
    #[arg(long, conflicts_with_all = ["positions", "intervene"])]
    pub(super) paper_sizes: bool,

    /// Blocks of each setup; what they differ by is noise
    #[arg(
        long,
        value_name = "N",
        default_value = "2",
        conflicts_with = "precision",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_REPEATS))
    )]
    pub(super) repeats: u32,

    /// Draw setups at random until half the interval of the mean is as narrow as that share
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) precision: Option<f64>,

    /// Look for the cause by holding the start of the stack, the start of the heap
    #[arg(
        long,
        value_name = "stack,heap",
        value_enum,
        value_delimiter = ',',
        conflicts_with = "precision"
    )]
    pub(super) intervene: Vec<Intervention>,

    /// Simulate caches and branches in the setups with the lowest and the highest value (valgrind)
    #[arg(long)]
    pub(super) simulate: bool,

    /// Error that does not matter, in what is said of single setups [default: 1%]
    #[arg(long, value_name = "SHARE", requires = "precision", value_parser = parse_share)]
    pub(super) delta: Option<f64>,

    /// Most setups with --precision, or time such as 90s, 5m, 1h [default: 1000]
    #[arg(long, value_name = "N|T", requires = "precision", value_parser = parse_budget)]
    pub(super) budget: Option<Budget>,

    /// Name a command in the report: A=…, B=…
    #[arg(long = "name", value_name = "A=…", num_args = 1..=2, value_parser = parse_name)]
    pub(super) names: Vec<(String, String)>,

    /// Runs of each command in a block, twice as many where they take no turns [default: 1; with
    /// --precision 2]
    #[arg(
        long,
        value_name = "M",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS_PER_POSITION))
    )]
    pub(super) runs_per_block: Option<u32>,

    /// Go on with the interrupted experiment of a samples file, and save to it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "commands", "positions", "paper_sizes", "repeats", "precision", "intervene", "names",
            "runs_per_block", "seed", "json", "metric", "warmup", "shuffle", "no_shuffle",
            "prepare", "cleanup", "cpu", "timeout", "turns", "env_size", "bases", "check_output",
            "no_check_output", "factors", "orders", "layouts", "cc", "cxx", "build", "flags",
            "parameters", "revisions", "tree", "cache", "rebuild", "allow_dirty",
        ]
    )]
    pub(super) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(super) build: BuildOptions,

    #[command(flatten)]
    pub(super) common: CommonOptions,

    /// The commands, each as one quoted string; or a samples file
    #[arg(value_names = ["COMMAND"])]
    pub(super) commands: Vec<String>,
}

impl Options {
    /// The setups that are asked for.
    ///
    /// # Errors
    /// What is needed instead.
    pub(super) fn setups(&self) -> Result<Setups, String> {
        let has = |factor| self.factors.contains(&factor);
        let orders = if has(Factor::Link) { self.orders } else { 0 };
        if !has(Factor::Env) && (self.paper_sizes || !self.intervene.is_empty()) {
            return Err("--paper-sizes and --intervene are about the size of the environment: \
                        --factors env,link"
                .to_owned());
        }
        let layouts = [Factor::Code, Factor::Stack, Factor::Heap]
            .map(|factor| if has(factor) { self.layouts } else { 0 });
        let (sizes, step_bytes) = if !has(Factor::Env) {
            (0, 0)
        } else if self.paper_sizes {
            (PAPER_SIZES, PAPER_STEP_BYTES)
        } else {
            let all = PAGE_BYTES / STACK_ALIGNMENT;
            if !all.is_multiple_of(self.positions) {
                return Err(format!(
                    "--positions {}: 2, 4, 8, 16, 32, 64, 128 or 256 are needed, so that they lie \
                     evenly over a page",
                    self.positions
                ));
            }
            (self.positions, PAGE_BYTES / self.positions)
        };
        let holds = |what| self.intervene.contains(&what);
        let contrast = (!self.intervene.is_empty()).then(|| Contrast {
            sizes_bytes: [0; 2],
            stack: holds(Intervention::Stack),
            heap: holds(Intervention::Heap),
        });
        Ok(Setups {
            sizes,
            step_bytes,
            drawn: self.precision.is_some(),
            repeats: self.repeats,
            orders,
            layouts,
            contrast,
        })
    }
}
