//! Where stack and mappings of a process begin, and who chooses that.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// Where the addresses of a process begin that runs without address space randomization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// By how many pages the mappings begin lower than they could; none leaves them where they are
    /// without randomization.
    pub mapping_pages: Option<u32>,
    /// By how much the stack begins lower than its environment puts it: a multiple of 16.
    pub lowered_bytes: u32,
}

/// Size of the environment of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EnvironmentSize {
    /// Padded by a variable of random length.
    Random,
    /// As szc found it.
    Fixed,
}

/// Who chooses where the stack, libraries and other mappings of a process begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Bases {
    /// The experiment, from its seed, alike for the programs of a block.
    Drawn,
    /// The experiment chooses where the stack begins; all else is where the kernel puts it without
    /// address space randomization. (What is left where mappings cannot be moved; nobody asks for
    /// it.)
    #[value(skip)]
    Stack,
    /// The kernel: anew in every run, if the machine randomizes addresses.
    #[default]
    Kernel,
}
