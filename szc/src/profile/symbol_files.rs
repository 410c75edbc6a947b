//! Where the debug information of a program or library is that does not have it itself.
//!
//! Source: "Debugging with gdb", section "Debugging Information in Separate Files".
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _};

/// Where distributions install debug information.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// Files that together describe a program or library.
#[derive(Debug, PartialEq, Eq)]
pub struct SymbolFiles {
    /// The one with debug information, or the program itself.
    pub main: PathBuf,
    /// What several of those share (dwz), if `main` refers to it.
    pub shared: Option<PathBuf>,
}

impl SymbolFiles {
    /// Those of the program or library at `path`.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let main = separate(path, Path::new(DEBUG_FOLDER)).unwrap_or_else(|| path.to_owned());
        let shared = shared(&main, Path::new(DEBUG_FOLDER));
        Self { main, shared }
    }
}

/// The file with the debug information, if that is not in the program.
fn separate(path: &Path, debug: &Path) -> Option<PathBuf> {
    let data = fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let has_own = file.section_by_name(".debug_info").is_some_and(|section| section.size() != 0);
    if has_own {
        return None;
    }
    let by_build_id = file.build_id().ok().flatten().and_then(|id| by_build_id(id, debug));
    let by_link = || {
        let (name, _) = file.gnu_debuglink().ok()??;
        let name = std::ffi::OsStr::from_bytes(name);
        let folder = path.parent()?;
        let below_debug = debug.join(folder.strip_prefix("/").unwrap_or(folder)).join(name);
        let candidates = [folder.join(name), folder.join(".debug").join(name), below_debug];
        candidates.into_iter().find(|candidate| candidate != path && candidate.is_file())
    };
    by_build_id.or_else(by_link)
}

fn by_build_id(id: &[u8], debug: &Path) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = debug.join(format!(".build-id/{first:02x}/{rest}.debug"));
    path.is_file().then_some(path)
}

fn shared(path: &Path, debug: &Path) -> Option<PathBuf> {
    let data = fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let (name, id) = file.gnu_debugaltlink().ok()??;
    let name = Path::new(std::ffi::OsStr::from_bytes(name));
    let beside = path.parent()?.join(name);
    by_build_id(id, debug).or_else(|| beside.is_file().then_some(beside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_information_is_found_by_build_id_below_the_debug_folder() {
        let folder = tempfile::tempdir().unwrap();
        let debug = folder.path();
        fs::create_dir_all(debug.join(".build-id/0a")).unwrap();
        let expected = debug.join(".build-id/0a/ff01.debug");
        fs::write(&expected, "").unwrap();
        assert_eq!(by_build_id(&[0x0a, 0xff, 1], debug), Some(expected));
        assert_eq!(by_build_id(&[0x0b, 0xff, 1], debug), None);
        assert_eq!(by_build_id(&[], debug), None);
    }

    #[test]
    fn a_file_that_has_none_elsewhere_stands_for_itself() {
        let path = Path::new("/nowhere/program");
        assert_eq!(SymbolFiles::of(path), SymbolFiles { main: path.into(), shared: None });
    }
}
