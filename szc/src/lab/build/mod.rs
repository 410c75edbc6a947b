//! Builds what is measured: each version in a folder of its own, side by side, and only once.
//!
//! A build command that has `{out}` is run in the tree itself and puts its products there; any
//! other is run in a copy of the tree (or a checkout of a revision), and the programs run in that
//! copy, too. What decides about a build names it in the cache: the tree, the command after
//! substitution, szc itself, and the variables that build systems read. Compilers and libraries are
//! not looked at: `--rebuild` is for when they change.
#![forbid(unsafe_code)]

mod cache;
mod making;
mod options;
mod placeholders;
mod revision;
mod source;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use sha2::{Digest, Sha256};

use self::cache::{Cache, Record};
use self::making::{Job, make_all};
use self::source::sources;
use crate::lab::failure::Failure;
use crate::measure::stop::Stop;

pub use options::{BuildOptions, Level};
pub use placeholders::{Value, quoted, substitute};

/// Variables that build systems and szc read.
const VARIABLES: [&str; 18] = [
    "AR",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CC",
    "CFLAGS",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "LDFLAGS",
    "LDLIBS",
    "PATH",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "SZC_BUILD",
    "SZC_CLANG",
    "SZC_HOME",
];

/// A version that can be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its revision, flags and parameters.
    pub label: String,
    /// Where its programs run, unless in the folder that szc was called in.
    pub folder: Option<PathBuf>,
    /// Whether it was built before, so that nothing had to be done.
    pub reused: bool,
    values: Vec<Value>,
}

impl Version {
    /// `command` with this version's values in place of placeholders.
    #[must_use]
    pub fn command(&self, command: &str) -> String {
        substitute(command, &self.values)
    }
}

/// Builds every version that `options` ask for, to be used in `commands`; `say` is told what
/// happens. In their order; a request to stop is looked for in `stop`.
///
/// # Errors
/// [`Failure`]; builds that succeeded stay in the cache.
pub fn versions(
    options: &BuildOptions,
    commands: &[String],
    stop: &Stop,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Version>, Failure> {
    let levels = options.levels(commands).map_err(|text| Failure::Usage(anyhow!(text)))?;
    let Some(command) = &options.build else {
        return Ok(levels
            .into_iter()
            .map(|level| Version {
                label: level.label,
                folder: None,
                reused: true,
                values: level.values,
            })
            .collect());
    };
    let out_of_tree = placeholders::mentions(command, "out");
    if out_of_tree && !commands.iter().any(|command| placeholders::mentions(command, "out")) {
        return Err(Failure::Usage(anyhow!(
            "the build command puts its products into {{out}}, but no measured command runs \
             anything there: write {{out}} where the program is, as in '{{out}}/bench input'"
        )));
    }
    let cache = Cache::open(options.cache.as_deref())?;
    cache.clean();
    let place = options.tree.clone().unwrap_or_else(|| PathBuf::from("."));
    let sources = sources(options, &levels, &place, &cache)?;
    let own_hash = own_hash()?;
    let mut jobs: BTreeMap<String, Job> = BTreeMap::new();
    let (mut versions, mut keys) = (Vec::new(), Vec::new());
    for (level, source) in levels.into_iter().zip(&sources) {
        let key = key(&[command, &own_hash, source.id()], &level.values);
        let folder = cache.folder().join(&key);
        keys.push(key.clone());
        let products = if out_of_tree { folder.join("out") } else { source.place_in(&folder) };
        let mut values = level.values;
        values.push(Value::path("out", &products.display().to_string()));
        let substituted = substitute(command, &values);
        versions.push(Version {
            label: level.label.clone(),
            folder: (!out_of_tree).then_some(products),
            reused: false,
            values,
        });
        jobs.entry(key).or_insert_with(|| Job {
            record: Record {
                label: level.label,
                command: substituted,
                tree: source.id().to_owned(),
                szc_version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            source: source.clone(),
            out_of_tree,
            again: options.rebuild,
        });
    }
    let made = make_all(&cache, &jobs, stop, say)?;
    for (version, key) in versions.iter_mut().zip(&keys) {
        version.reused = made.get(key).copied().unwrap_or_default();
    }
    Ok(versions)
}

/// The name of a build: sixteen hexadecimal digits, so that all paths are equally long.
fn key(parts: &[&str], values: &[Value]) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    parts.iter().for_each(|part| add(part));
    for value in values {
        add(&value.name);
        add(&value.text);
    }
    for name in VARIABLES {
        add(name);
        let value = std::env::var_os(name).unwrap_or_default();
        add(&value.to_string_lossy());
    }
    let mut digits = format!("{:x}", hash.finalize());
    digits.truncate(16);
    digits
}

/// Hash of the program that is running: another szc builds other programs.
fn own_hash() -> anyhow::Result<String> {
    let bytes = std::fs::read("/proc/self/exe").context("cannot read szc's own program")?;
    Ok(format!("{:x}", Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests;
