//! What the plugin does to a module, which it knows from the name of the file that it was loaded
//! by: clang has no way of handing options to a plugin that it would pass on to a linker too.

use crate::llvm::plugin_path;
use std::path::Path;
use szc_abi::stack::{PLUGIN_PATHS, PLUGIN_PER_COPY, PLUGIN_PER_FUNCTION, PLUGIN_RECORDS};

/// Which pads the functions of a module get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Pads that copies of moving code bring along, where frames allow it, and else as `Shared`.
    PerCopy,
    /// Pads from one table of the image, by an index of the thread.
    Shared,
    /// Pads from a table and an index of each function: the scheme of STABILIZER's paper (4.2.4).
    PerFunction,
    /// No pads; function records only.
    Records,
    /// The same, and blocks tell the runtime that they are executed.
    Paths,
}

impl Mode {
    /// The mode of the file that this code was loaded from.
    pub(crate) fn of_this_plugin() -> Self {
        plugin_path().map_or(Mode::Shared, |path| Self::of_path(&path))
    }

    fn of_path(path: &str) -> Self {
        match Path::new(path).file_name().and_then(|name| name.to_str()) {
            Some(PLUGIN_PER_COPY) => Mode::PerCopy,
            Some(PLUGIN_PER_FUNCTION) => Mode::PerFunction,
            Some(PLUGIN_RECORDS) => Mode::Records,
            Some(PLUGIN_PATHS) => Mode::Paths,
            _ => Mode::Shared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mode;
    use szc_abi::stack::{
        PLUGIN, PLUGIN_PATHS, PLUGIN_PER_COPY, PLUGIN_PER_FUNCTION, PLUGIN_RECORDS,
    };

    #[test]
    fn the_name_of_the_file_says_what_the_plugin_does() {
        for (name, mode) in [
            (PLUGIN, Mode::Shared),
            (PLUGIN_PER_COPY, Mode::PerCopy),
            (PLUGIN_PER_FUNCTION, Mode::PerFunction),
            (PLUGIN_RECORDS, Mode::Records),
            (PLUGIN_PATHS, Mode::Paths),
        ] {
            assert_eq!(Mode::of_path(&format!("/usr/lib/szc/{name}")), mode);
            assert_eq!(Mode::of_path(name), mode);
        }
    }
}
