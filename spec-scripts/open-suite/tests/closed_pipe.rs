//! The tool where nobody reads what it prints: `suite.sh list | head`.
#![forbid(unsafe_code)]

use std::io::pipe;
use std::path::Path;
use std::process::Command;

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let cache = tempfile::tempdir().unwrap();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite.toml");
    let tool = |words: &[&str]| {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_szc-suite"));
        command.arg("--suite").arg(&suite).arg("--cache").arg(cache.path()).args(words);
        (command.stdout(writer.try_clone().unwrap()).stderr(writer).status()).unwrap()
    };
    assert_eq!(tool(&["list"]).code(), Some(0));
    assert_eq!(tool(&["source", "bundled"]).code(), Some(0));
    // What is wrong is told by the exit code as well.
    assert_eq!(tool(&["list", "nothing"]).code(), Some(2));
}
