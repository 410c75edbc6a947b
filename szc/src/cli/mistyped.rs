//! A first argument that is no file but nearly a command.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

/// Further away is another word.
const MAX_CHANGES: usize = 2;

/// The command that was meant, if no file of the name is there. What looks like a path, an option
/// or the name of a file with a suffix is clang's.
pub(super) fn meant(
    word: &OsStr,
    commands: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let text = word.to_str()?;
    let looks_like_one = text.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '_')
        && !text.starts_with('-');
    if !looks_like_one || Path::new(word).exists() {
        return None;
    }
    let small = text.to_lowercase();
    commands
        .map(|name| (strsim::damerau_levenshtein(&small, name), name))
        .filter(|(changes, name)| *changes <= MAX_CHANGES.min(name.len() / 3))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMANDS: [&str; 5] = ["compare", "run", "gate", "completions", "sweep"];

    #[test]
    fn what_is_nearly_a_command_and_no_file_is_recognised() {
        for (word, expected) in [
            ("comapre", Some("compare")),
            ("Compare", Some("compare")),
            ("compair", Some("compare")),
            ("gates", Some("gate")),
            ("rnu", Some("run")),
            ("completion", Some("completions")),
            ("frobnicate", None),
            ("main", None),
            ("a", None),
            ("-compare", None),
            ("./comapre", None),
            ("comapre.c", None),
            ("", None),
        ] {
            assert_eq!(meant(OsStr::new(word), COMMANDS.into_iter()), expected, "{word}");
        }
    }

    #[test]
    fn a_file_of_that_name_is_compiled() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x");
        std::fs::write(&file, "").expect("writable");
        assert_eq!(meant(file.as_os_str(), COMMANDS.into_iter()), None);
        // Tests run in the folder of the crate, which has this one.
        assert!(Path::new("src").exists());
        assert_eq!(meant(OsStr::new("src"), ["srb"].into_iter()), None);
        assert_eq!(meant(OsStr::new("sra"), ["srb"].into_iter()), Some("srb"));
    }
}
