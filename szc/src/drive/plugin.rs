//! The pass plugin: which compilations it takes part in, and in which of its modes.
//!
//! The mode is in the plugin's file name and not in the environment, so that the command line says
//! all that decides about an object.

use super::features::{Feature, PadSource, Request};
use super::parts::find_own;
use std::ffi::OsString;
use std::path::PathBuf;
use szc_abi::stack::{PLUGIN, PLUGIN_PATHS, PLUGIN_PER_COPY, PLUGIN_PER_FUNCTION, PLUGIN_RECORDS};

/// The file name of the plugin for a request, if the compiler has anything to do with it.
fn name(request: &Request) -> Option<&'static str> {
    if request.tells_of_blocks() {
        Some(PLUGIN_PATHS)
    } else if request.includes(Feature::Stack) {
        Some(match request.pads() {
            PadSource::Copies => PLUGIN_PER_COPY,
            PadSource::ImageTable => PLUGIN,
            PadSource::FunctionTables => PLUGIN_PER_FUNCTION,
        })
    } else {
        request.includes(Feature::Code).then_some(PLUGIN_RECORDS)
    }
}

fn path(request: &Request) -> anyhow::Result<Option<PathBuf>> {
    name(request).map(find_own).transpose()
}

/// The arguments that a compilation gets.
///
/// # Errors
/// The plugin is missing.
pub(super) fn compile_args(request: &Request) -> anyhow::Result<Vec<OsString>> {
    let Some(path) = path(request)? else { return Ok(Vec::new()) };
    let mut arg = OsString::from("-fpass-plugin=");
    arg.push(path);
    // There may be nothing to compile, or assembly only.
    Ok(vec!["--start-no-unused-arguments".into(), arg, "--end-no-unused-arguments".into()])
}

/// The arguments that a link by lld gets: link-time optimization compiles there.
///
/// # Errors
/// The plugin is missing.
pub(super) fn link_args(request: &Request) -> anyhow::Result<Vec<OsString>> {
    let Some(path) = path(request)? else { return Ok(Vec::new()) };
    let mut arg = OsString::from("--load-pass-plugin=");
    arg.push(path);
    Ok(vec!["-Xlinker".into(), arg])
}

#[cfg(test)]
mod tests {
    use super::super::features::Choice;
    use super::*;

    #[test]
    fn the_name_says_what_the_pass_is_to_do() {
        for (args, expected) in [
            (&[][..], Some(PLUGIN_PER_COPY)),
            (&["-Rall"], Some(PLUGIN_PER_COPY)),
            (&["-Rall", "-Rstack=per-call"], Some(PLUGIN)),
            (&["-Rstack"], Some(PLUGIN)),
            (&["-Rcode"], Some(PLUGIN_RECORDS)),
            (&["-Rcode", "-Rheap"], Some(PLUGIN_RECORDS)),
            (&["-Rheap"], None),
            (&["-Rnone"], None),
            (&["-Rstack=per-function"], Some(PLUGIN_PER_FUNCTION)),
            (&["-Rall", "-Rstack=per-function"], Some(PLUGIN_PER_FUNCTION)),
            (&["-Rpaths"], Some(PLUGIN_PATHS)),
            (&["-Rpaths", "-Rall"], Some(PLUGIN_PATHS)),
            (&["-Rpaths", "-Rnone"], None),
        ] {
            let mut request = Request::default();
            for arg in args {
                request.add(Choice::from_flag(arg.as_bytes()).expect("an own flag"));
            }
            assert_eq!(name(&request), expected, "{args:?}");
        }
    }
}
