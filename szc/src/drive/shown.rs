//! What a program must show to libraries although it has a version script or a list of symbols to
//! retain, which hide all that they do not name: `malloc` and its family, since libraries otherwise
//! use another heap, and the search that unwinders ask, since they otherwise know no copies of
//! functions.
//!
//! lld, mold and gold take a second script, of which the one that names a symbol counts. GNU ld
//! takes a second one only if both give versions; else the names go into a copy of the user's
//! (`version_script`).

use super::facts::Facts;
use super::linker::Flavor;
use super::version_script;
use anyhow::{Context, Result};
use object::{Object as _, ObjectSymbol as _};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use szc_abi::ORIGINAL_SYMBOL;
use szc_abi::library::{ADOPT_SYMBOL, RELEASE_SYMBOL};
use tempfile::NamedTempFile;

/// What the unwinder asks (`unwinder.rs` defines it).
const FIND_FDE: &str = "_Unwind_Find_FDE";

/// Scripts for a link, while it runs.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Words for the linker.
    pub(super) words: Vec<OsString>,
    /// They stand for the user's scripts, too.
    pub(super) replaces: bool,
    /// The names get a version, which has to leave the image (`version_script::take_back`).
    pub(super) versioned: bool,
    files: Vec<NamedTempFile>,
}

/// What makes a link show what the runtime's `object` stands in for. Nothing, and a warning, if the
/// linker is unknown: the runtime then finds out and leaves heap and code alone.
///
/// # Errors
/// The object cannot be read, or there is no room for a script.
pub(super) fn scripts(facts: &Facts, flavor: Option<Flavor>, object: &Path) -> Result<Shown> {
    let mut shown = Shown::default();
    match flavor {
        None => eprintln!(
            "szc: warning: --version-script and --retain-symbols-file may hide malloc and {FIND_FDE} from libraries; \
             then neither heap nor code is randomized. Link with GNU ld, lld, gold or mold, which can show them, or \
             name them there and add -rdynamic"
        ),
        Some(Flavor::Gnu) => shown.for_gnu_ld(&facts.version_scripts, &names(object)?)?,
        Some(Flavor::Lld | Flavor::Gold | Flavor::Mold) => {
            shown.add(&version_script::anonymous(&names(object)?))?;
        }
    }
    Ok(shown)
}

impl Shown {
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
            self.words.clear();
            self.versioned = true;
            self.add(&version_script::versioned(&missing))?;
        }
        // With a version script, GNU ld no longer shows a name of a program because a library asks
        // for it.
        let words = names.iter().map(|name| format!(",--export-dynamic-symbol={name}"));
        self.words.push(format!("-Wl{}", words.collect::<String>()).into());
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix("szc-shown-")
            .suffix(".map")
            .tempfile()
            .context("cannot create a temporary file; TMPDIR may name a better place")?;
        file.write_all(text.as_bytes()).context("cannot write a temporary file")?;
        self.name(file.path().as_os_str());
        self.files.push(file);
        Ok(())
    }

    fn name(&mut self, path: &OsStr) {
        let mut word = OsString::from("--version-script=");
        word.push(path);
        self.words.extend(["-Xlinker".into(), word]);
    }
}

fn names(object: &Path) -> Result<Vec<String>> {
    let data = fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
    let object = object::File::parse(&*data).context("szc's runtime is no object file")?;
    // What stands in for functions of libc is weak there.
    let stands_in = object.symbols().filter(|symbol| symbol.is_definition() && symbol.is_weak());
    let mut names: Vec<String> =
        stands_in.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    names.extend([FIND_FDE, ADOPT_SYMBOL, RELEASE_SYMBOL, ORIGINAL_SYMBOL].map(str::to_owned));
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
