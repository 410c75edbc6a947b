//! What a program must export although it has a version script or a list of symbols to retain,
//! which hide all that they do not name: `malloc` and its family, since libraries otherwise use
//! another heap, and the function by which unwinders search FDEs, since they otherwise find none of
//! copies.
//!
//! lld, mold and gold take a second script, of which the one that names a symbol counts. GNU ld
//! takes a second one only if both give versions; else the names go into a copy of the user's
//! (`version_script`).

use super::facts::Facts;
use super::linker::Flavor;
use super::version_script;
use super::warning::warn;
use anyhow::{Context, Result};
use object::{Object as _, ObjectSymbol as _};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use szc_abi::library::{ADOPT_SYMBOL, RELEASE_SYMBOL};
use szc_abi::{CONTROL_SYMBOLS, ORIGINAL_SYMBOL};
use tempfile::NamedTempFile;

/// The search of unwinders (`unwinder.rs` defines it).
const FIND_FDE: &str = "_Unwind_Find_FDE";

/// Scripts for a link, while it runs.
#[derive(Debug, Default)]
pub(super) struct ExportScripts {
    /// Arguments for the linker.
    pub(super) args: Vec<OsString>,
    /// They stand for the user's scripts, too.
    pub(super) replaces: bool,
    /// The names get a version, which has to leave the image (`version_script::remove_version`).
    pub(super) versioned: bool,
    files: Vec<NamedTempFile>,
}

/// What makes a link export what the runtime's `object` interposes. Nothing, and a warning, if the
/// linker is unknown: the runtime then finds out and leaves heap and code alone.
///
/// # Errors
/// The object cannot be read, or there is no room for a script.
pub(super) fn scripts(
    facts: &Facts,
    flavor: Option<Flavor>,
    object: &Path,
) -> Result<ExportScripts> {
    let mut scripts = ExportScripts::default();
    match flavor {
        None => warn(format_args!(
            "--version-script and --retain-symbols-file may hide malloc and {FIND_FDE} from \
             libraries; then neither heap nor code is randomized. Link with GNU ld, lld, gold or \
             mold, which can export them, or name them there and add -rdynamic"
        )),
        Some(Flavor::Gnu) => scripts.for_gnu_ld(&facts.linker.version_scripts, &names(object)?)?,
        Some(Flavor::Lld | Flavor::Gold | Flavor::Mold) => {
            scripts.add(&version_script::anonymous(&names(object)?))?;
        }
    }
    Ok(scripts)
}

impl ExportScripts {
    fn for_gnu_ld(&mut self, scripts: &[OsString], names: &[String]) -> Result<()> {
        // What cannot be read the linker refuses, too. Without scripts nothing is hidden.
        let texts: Vec<_> = scripts.iter().map(|path| fs::read_to_string(path).ok()).collect();
        let mut missing = names.to_vec();
        missing.retain(|name| !texts.iter().flatten().any(|text| version_script::has(text, name)));
        for (path, text) in scripts.iter().zip(&texts) {
            match text.as_deref().and_then(|text| version_script::with(text, &missing)) {
                Some(text) => self.add(&text)?,
                None => self.name(path),
            }
        }
        self.replaces = !self.files.is_empty();
        if scripts.is_empty() {
            return Ok(());
        }
        if !self.replaces {
            self.args.clear();
            self.versioned = true;
            self.add(&version_script::versioned(&missing))?;
        }
        // With a version script, GNU ld no longer exports a name of a program because a library
        // asks for it.
        let args = names.iter().map(|name| format!(",--export-dynamic-symbol={name}"));
        self.args.push(format!("-Wl{}", args.collect::<String>()).into());
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix("szc-exports-")
            .suffix(".map")
            .tempfile()
            .context("cannot create a temporary file; TMPDIR may name a better place")?;
        file.write_all(text.as_bytes()).context("cannot write a temporary file")?;
        self.name(file.path().as_os_str());
        self.files.push(file);
        Ok(())
    }

    fn name(&mut self, path: &OsStr) {
        let mut arg = OsString::from("--version-script=");
        arg.push(path);
        self.args.extend(["-Xlinker".into(), arg]);
    }
}

fn names(object: &Path) -> Result<Vec<String>> {
    let data = fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
    let object = object::File::parse(&*data).context("szc's runtime is no object file")?;
    // What interposes functions of libc is weak there.
    let interposing = object.symbols().filter(|symbol| symbol.is_definition() && symbol.is_weak());
    let mut names: Vec<String> =
        interposing.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    names.extend([FIND_FDE, ADOPT_SYMBOL, RELEASE_SYMBOL, ORIGINAL_SYMBOL].map(str::to_owned));
    names.extend(CONTROL_SYMBOLS.map(str::to_owned));
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
