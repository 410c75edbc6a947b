//! Builds one bench and puts it where a measured command finds it: cargo's own name has a hash.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::front;
use crate::error::{Class, report};

/// The command of `cargo szc` that does it, for the builds of compare and gate.
pub(super) const BUILD: &str = "build-bench";

/// From the folder of the package on.
pub(super) const FOLDER: &str = "target/szc-bench";

#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Runs `cargo bench --no-run` with these arguments, of which `--bench` is one, and copies what
/// it made. The exit code is cargo's.
pub(super) fn build(pads: bool, args: &[OsString]) -> ExitCode {
    let mut all: Vec<OsString> =
        ["bench", "--no-run", "--message-format=json-render-diagnostics"].map(Into::into).to_vec();
    all.extend_from_slice(args);
    let mut command = match front::command(pads, &all) {
        Ok(command) => command,
        Err(code) => return code,
    };
    let output = match command.stderr(Stdio::inherit()).output() {
        Ok(output) => output,
        Err(error) => return report(Class::Failed, format_args!("cargo cannot be run: {error}")),
    };
    if !output.status.success() {
        let code = output.status.code().and_then(|code| u8::try_from(code).ok());
        return code.unwrap_or(1).into();
    }
    match keep(&output.stdout, Path::new(FOLDER)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(Class::Failed, error),
    }
}

fn keep(messages: &[u8], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, from) in benches(messages) {
        let to = folder.join(name);
        // One that runs could not be written to.
        let _ = fs::remove_file(&to);
        fs::copy(&from, &to)
            .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}

/// The benches that cargo says it made, by name.
fn benches(messages: &[u8]) -> Vec<(String, PathBuf)> {
    let lines = messages.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<Message>(line).ok())
        .filter_map(|message| Some((message.target?, message.executable?)))
        .filter(|(target, _)| target.kind.iter().any(|kind| kind == "bench"))
        .map(|(target, path)| (target.name, path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benches_are_found_among_the_messages_of_cargo() {
        let messages = br#"{"target":{"kind":["lib"],"name":"x"},"executable":null}
{"target":{"kind":["bin"],"name":"x"},"executable":"/t/x"}
{"target":{"kind":["bench"],"name":"parser"},"executable":"/t/parser-1f"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(benches(messages), [("parser".to_owned(), PathBuf::from("/t/parser-1f"))]);
    }
}
