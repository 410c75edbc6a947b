//! What all steps have in common: compilers, places, sizes.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use jobserver::Client;

use super::options::Options;
use super::record::{Archive, Private};
use crate::build::Recipe;
use crate::files::Cache;
use crate::suite::Suite;
use crate::toolchain::{Toolchain, find_in_path};
use crate::workload::make_folder;

/// What is known before the first step.
pub struct Setting<'a> {
    /// The command line.
    pub options: &'a Options,
    /// The programs.
    pub suite: &'a Suite,
    /// The file that describes them.
    pub suite_file: PathBuf,
    /// Sources, builds and inputs.
    pub cache: Cache,
    /// Its folder.
    pub cache_folder: PathBuf,
    /// Room for compilers.
    pub jobserver: Client,
    /// szc, as a compiler.
    pub toolchain: Toolchain,
    /// szc, as a laboratory.
    pub szc: PathBuf,
    /// The version of the sources that evaluate, if they are in a git repository.
    pub commit: Option<String>,
    /// Tells this build of szc from others.
    pub build: String,
    /// Where samples go.
    pub results: PathBuf,
    /// The same, as what is in it.
    pub archive: Archive,
    /// What does not belong into results.
    pub private: Private,
}

impl<'a> Setting<'a> {
    /// Looks everything up.
    ///
    /// # Errors
    /// When something is not there, or the compiler is not szc.
    pub fn new(options: &'a Options, suite: &'a Suite, file: &Path, cache: &Path) -> Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let toolchain = Toolchain::new(&options.cc, Vec::new(), None)?;
        if !toolchain.is_szc() {
            bail!("--cc {} is not szc, and this is an evaluation of szc", options.cc);
        }
        let szc = find_in_path(&options.szc.display().to_string()).with_context(|| {
            let szc = options.szc.display();
            format!("{szc} not found: build it by cargo build --release, or name it with --szc")
        })?;
        let results = options.results(suite);
        make_folder(&results)?;
        let results = results.canonicalize().context("cannot find the folder for samples")?;
        let shared = Cache::new(cache)?;
        let cache_folder = cache.canonicalize().context("cannot find the cache")?;
        let own = std::env::current_exe().context("cannot find this program")?;
        let folder_of = |file: &Path| file.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self {
            options,
            suite,
            suite_file: file.canonicalize().context("cannot find the suite")?,
            cache: shared,
            jobserver: Client::new(options.jobs.map_or(processors, usize::from))
                .context("cannot make the pipe of a jobserver")?,
            build: toolchain.digest()?,
            toolchain,
            commit: commit(&suite.folder),
            archive: Archive::new(&results),
            private: Private::new(&[
                (&cache_folder, "{cache}"),
                (&suite.folder, "{suite}"),
                (&results, "{results}"),
                (&folder_of(&own), "{tools}"),
                (&folder_of(&szc), "{szc}"),
            ]),
            szc,
            cache_folder,
            results,
        })
    }

    /// How programs are built with the usual flags and these arguments of `SZC_BUILD`.
    pub fn usual_recipe(&self, randomize: &str) -> Recipe {
        Recipe {
            toolchain: self.toolchain.clone(),
            flags: self.options.flags.clone(),
            link_flags: String::new(),
            randomize: randomize.to_owned(),
            link_orders: None,
            again: false,
        }
    }
}

/// The revision of the git repository that `folder` is in, with a mark if files differ from it.
fn commit(folder: &Path) -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .current_dir(folder)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
