//! What a program must show to libraries although it has a version script or a list of symbols to retain, which
//! hide all that they do not name: `malloc` and its family, since libraries otherwise use another heap, and
//! the search that unwinders ask, since they otherwise know no copies of functions.

use super::args::Facts;
use anyhow::{Context, Result};
use object::{Object as _, ObjectSymbol as _};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use szc_abi::library::{ADOPT_SYMBOL, RELEASE_SYMBOL};
use tempfile::NamedTempFile;

/// What the unwinder asks (`link.rs` defines it).
const FIND_FDE: &str = "_Unwind_Find_FDE";

/// A version script beside the user's own that shows what the runtime's `object` stands in for. Nothing, and a warning,
/// if the linker takes but one: the runtime then finds out and leaves heap and code alone.
///
/// # Errors
/// The object cannot be read, or there is no room for the script.
pub(super) fn script(facts: &Facts, object: &Path) -> Result<Option<NamedTempFile>> {
    if !facts.links_with_lld() {
        eprintln!(
            "szc: warning: --version-script and --retain-symbols-file may hide malloc and {FIND_FDE} from libraries; \
             then neither heap nor code is randomized. Leave the choice of the linker to szc, which makes lld show \
             them, or name them there and add -rdynamic"
        );
        return Ok(None);
    }
    let data = fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
    let mut file = tempfile::Builder::new()
        .prefix("szc-shown-")
        .suffix(".map")
        .tempfile()
        .context("cannot create a temporary file; TMPDIR may name a better place")?;
    file.write_all(text(&data)?.as_bytes()).context("cannot write a temporary file")?;
    Ok(Some(file))
}

fn text(object: &[u8]) -> Result<String> {
    let object = object::File::parse(object).context("szc's runtime is no object file")?;
    // What stands in for functions of libc is weak there.
    let stands_in = object.symbols().filter(|symbol| symbol.is_definition() && symbol.is_weak());
    let mut names: Vec<&str> = stands_in.filter_map(|symbol| symbol.name().ok()).collect();
    names.extend([FIND_FDE, ADOPT_SYMBOL, RELEASE_SYMBOL]);
    names.sort_unstable();
    names.dedup();
    Ok(format!("{{ global: {}; }};\n", names.join("; ")))
}
