//! The steps of the evaluation: which ways of building and running a program each compares.
#![forbid(unsafe_code)]

use clap::ValueEnum;

/// Random link orders of a program; a run takes one of them by its seed.
pub const LINK_ORDERS: u32 = 32;

/// Seconds after which no further block of builds of a program is begun.
pub const BUILDING_S: u32 = 60;

/// One step of the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// What the time of a run varies with: machine, code, stack, heap, bases
    Variance,
    /// One layout for a run, or many: are times normal, and how do they spread? (table 4.1, figure
    /// 4.5)
    Normality,
    /// CPU time against no randomization and random link order (figure 4.6)
    Overhead,
    /// -O1, -O2 and -O3 (figure 4.7, section 4.5.1)
    Levels,
    /// CPU time by the time between layouts; from the samples of overhead
    Epochs,
    /// Instructions and cache misses by valgrind's cachegrind, with the short workloads
    Counts,
    /// Peak memory; from the samples of overhead
    Memory,
    /// Sizes of executables, and CPU time of builds
    SizeAndBuildTime,
    /// NIST's tests on addresses of the heap (section 4.2.2)
    HeapRandomness,
}

/// What runs a program is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `szc compare` of all configurations by turns, a run of each in a block.
    Compare,
    /// `szc run --split` of the only configuration: pairs of runs that differ in one part.
    Split,
    /// `szc compare` of builds, one after the other: two of each configuration in a block, and as
    /// many blocks as are begun within [`BUILDING_S`].
    Builds,
    /// valgrind's cachegrind, once for each configuration.
    Counts,
}

impl Method {
    /// Whether it leaves samples of szc.
    pub fn has_samples(self) -> bool {
        self != Self::Counts
    }
}

/// One way to build and run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its name in tables and files.
    pub name: &'static str,
    /// The value of `SZC_BUILD`.
    pub randomize: &'static str,
    /// Flags in place of those of the evaluation.
    pub flags: Option<&'static str>,
    /// Variables of its runs.
    pub settings: &'static [(&'static str, &'static str)],
    /// The order of its objects.
    pub order: Order,
}

/// In which order the objects of a program are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By szc, as it comes: what moves does not stay in it.
    Usual,
    /// By the linker that szc uses, in the order of the program's own build.
    Given,
    /// Another one in each run.
    Random,
}

/// The first configuration of steps that ask for a cost.
pub const NONE: &str = "none";
/// The paper's baseline.
pub const LINK_ORDER: &str = "link-order";
/// Everything that the paper randomizes.
pub const ALL: &str = "code+stack+heap";

const PLAIN: Configuration = Configuration {
    name: NONE,
    randomize: "none",
    flags: None,
    settings: &[],
    order: Order::Given,
};

const fn randomized(
    name: &'static str,
    randomize: &'static str,
    settings: &'static [(&'static str, &'static str)],
) -> Configuration {
    Configuration { name, randomize, flags: None, settings, order: Order::Usual }
}

const fn level(flags: &'static str) -> Configuration {
    Configuration { flags: Some(flags), ..randomized(flags, "all", USUAL) }
}

/// One layout for a run.
const ONCE: &[(&str, &str)] = &[("SZC_INTERVAL_MS", "0")];
/// The paper's programs run for minutes, and so with hundreds of layouts at its 500 ms.
const OFTEN: &[(&str, &str)] = &[("SZC_INTERVAL_MS", "20")];
const USUAL: &[(&str, &str)] = &[("SZC_INTERVAL_MS", "500")];

impl Step {
    /// All of them.
    pub fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// Its name on the command line and of its folder.
    pub fn name(self) -> String {
        let value = self.to_possible_value().expect("no step is hidden");
        value.get_name().to_owned()
    }

    /// The step whose samples it shows.
    pub fn source(self) -> Self {
        match self {
            Self::Memory | Self::Epochs => Self::Overhead,
            other => other,
        }
    }

    /// How programs are measured; `None` if the step is about no programs.
    pub fn method(self) -> Option<Method> {
        match self {
            Self::HeapRandomness => None,
            Self::Variance => Some(Method::Split),
            Self::Counts => Some(Method::Counts),
            Self::SizeAndBuildTime => Some(Method::Builds),
            Self::Normality | Self::Overhead | Self::Memory | Self::Levels | Self::Epochs => {
                Some(Method::Compare)
            }
        }
    }

    /// What is compared, the reference first.
    pub fn configurations(self) -> Vec<Configuration> {
        match self.source() {
            Self::Normality => vec![
                Configuration { order: Order::Usual, ..PLAIN },
                randomized("code once", "code", ONCE),
                randomized("code every 20 ms", "code", OFTEN),
                randomized("all once", "all", ONCE),
                randomized("all every 20 ms", "all", OFTEN),
            ],
            Self::Variance => vec![randomized("every 20 ms", "all", OFTEN)],
            Self::Overhead => vec![
                PLAIN,
                Configuration { name: LINK_ORDER, order: Order::Random, ..PLAIN },
                randomized("code", "code", USUAL),
                randomized("code+stack", "code,stack", USUAL),
                randomized(ALL, "all", USUAL),
                randomized("100 ms", "all", &[("SZC_INTERVAL_MS", "100")]),
                randomized("20 ms", "all", OFTEN),
            ],
            Self::Counts => {
                vec![PLAIN, randomized("code", "code", &[]), randomized(ALL, "all", &[])]
            }
            Self::Levels => vec![level("-O1"), level("-O2"), level("-O3")],
            Self::SizeAndBuildTime => {
                vec![Configuration { order: Order::Usual, ..PLAIN }, randomized(ALL, "all", &[])]
            }
            Self::Memory | Self::Epochs | Self::HeapRandomness => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_about_programs_compares_what_its_method_takes() {
        for step in Step::all() {
            let number = step.configurations().len();
            match step.method() {
                None => assert_eq!(number, 0),
                Some(Method::Split) => assert_eq!(number, 1),
                Some(Method::Compare | Method::Builds | Method::Counts) => {
                    assert!(number >= 2, "{step:?}");
                }
            }
        }
        assert_eq!(Step::SizeAndBuildTime.name(), "size-and-build-time");
    }

    #[test]
    fn configurations_of_a_step_differ_in_more_than_their_names() {
        for step in Step::all() {
            let all = step.configurations();
            for (index, one) in all.iter().enumerate() {
                for other in &all[..index] {
                    assert_ne!(one.name, other.name);
                    assert_ne!(*one, Configuration { name: one.name, ..other.clone() });
                }
            }
        }
    }
}
