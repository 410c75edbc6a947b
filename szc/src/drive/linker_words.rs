//! Words meant for the linker, as far as the driver has to understand them.
//!
//! They arrive through `-Wl,a,b`, `-Xlinker a` and `--for-linker`, and one option may be
//! spread over several of these, so a [`Reader`] follows the whole stream. Retained
//! relocations and stripping exclude each other (lld refuses the pair), so a strip request
//! is taken out of the link and carried out on the finished image.

use crate::table::Strip;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What a linker option means to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing, except that the next word is its value.
    TakesNext,
    Output,
    Strip(Strip),
    Relocatable,
    Shared,
    Static,
    /// Takes a file that says what the image shows to libraries.
    Hides,
}

use Effect::{Hides, Output, Relocatable, Shared, Static, TakesNext};

/// Spellings without dashes. One letter goes with one dash, a longer name with one or two.
static TABLE: &[(&str, Effect)] = &[
    ("o", Output),
    ("output", Output),
    ("s", Effect::Strip(Strip::All)),
    ("strip-all", Effect::Strip(Strip::All)),
    ("S", Effect::Strip(Strip::Debug)),
    ("strip-debug", Effect::Strip(Strip::Debug)),
    ("r", Relocatable),
    ("i", Relocatable),
    ("Ur", Relocatable),
    ("relocatable", Relocatable),
    ("shared", Shared),
    ("Bshareable", Shared),
    ("static", Static),
    ("Bstatic", Static),
    ("dn", Static),
    ("non_shared", Static),
    ("A", TakesNext),
    ("F", TakesNext),
    ("G", TakesNext),
    ("I", TakesNext),
    ("L", TakesNext),
    ("Map", TakesNext),
    ("R", TakesNext),
    ("T", TakesNext),
    ("Tbss", TakesNext),
    ("Tdata", TakesNext),
    ("Ttext", TakesNext),
    ("a", TakesNext),
    ("architecture", TakesNext),
    ("auxiliary", TakesNext),
    ("b", TakesNext),
    ("c", TakesNext),
    ("default-script", TakesNext),
    ("defsym", TakesNext),
    ("dynamic-linker", TakesNext),
    ("dynamic-list", TakesNext),
    ("e", TakesNext),
    ("entry", TakesNext),
    ("exclude-libs", TakesNext),
    ("export-dynamic-symbol", TakesNext),
    ("export-dynamic-symbol-list", TakesNext),
    ("f", TakesNext),
    ("filter", TakesNext),
    ("fini", TakesNext),
    ("format", TakesNext),
    ("h", TakesNext),
    ("init", TakesNext),
    ("l", TakesNext),
    ("library", TakesNext),
    ("library-path", TakesNext),
    ("m", TakesNext),
    ("mllvm", TakesNext),
    ("plugin", TakesNext),
    ("plugin-opt", TakesNext),
    ("reproduce", TakesNext),
    ("retain-symbols-file", Hides),
    ("rpath", TakesNext),
    ("rpath-link", TakesNext),
    ("script", TakesNext),
    ("section-start", TakesNext),
    ("soname", TakesNext),
    ("sort-section", TakesNext),
    ("symbol-ordering-file", TakesNext),
    ("trace-symbol", TakesNext),
    ("u", TakesNext),
    ("undefined", TakesNext),
    ("version-script", Hides),
    ("wrap", TakesNext),
    ("y", TakesNext),
    ("z", TakesNext),
];

/// Follows the words for the linker and keeps what they amount to.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The option whose value the next word is.
    expects_value: Option<Effect>,
    pub(super) output: Option<OsString>,
    pub(super) strip: Option<Strip>,
    pub(super) relocatable: bool,
    pub(super) shared: bool,
    pub(super) static_libraries: bool,
    pub(super) hides_symbols: bool,
}

/// Whether a word stays in a link that retains relocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Stays,
    /// A strip request, to be carried out afterwards.
    Leaves,
}

impl Reader {
    /// Takes the next word.
    pub(super) fn read(&mut self, word: &[u8]) -> Verdict {
        if let Some(effect) = self.expects_value.take() {
            if effect == Output {
                self.output = Some(OsStr::from_bytes(word).to_owned());
            }
            return Verdict::Stays;
        }
        match effect_of(word) {
            None => {}
            Some(Effect::Strip(strip)) => {
                self.request_strip(strip);
                return Verdict::Leaves;
            }
            Some(Relocatable) => self.relocatable = true,
            Some(Shared) => self.shared = true,
            Some(Static) => self.static_libraries = true,
            Some(effect @ (Output | TakesNext)) => self.expects_value = Some(effect),
            Some(Hides) => {
                self.hides_symbols = true;
                // The file may follow behind `=`.
                self.expects_value = (!word.contains(&b'=')).then_some(Hides);
            }
        }
        Verdict::Stays
    }

    /// Adds a strip request; the stronger one wins, as in the linkers.
    pub(super) fn request_strip(&mut self, strip: Strip) {
        if !matches!(self.strip, Some(Strip::All)) {
            self.strip = Some(strip);
        }
    }
}

fn effect_of(word: &[u8]) -> Option<Effect> {
    let name = word.strip_prefix(b"-")?;
    let name = match name.strip_prefix(b"-") {
        Some(long) if long.len() > 1 => long,
        Some(_) => return None,
        None => name,
    };
    let known = |name: &[u8]| TABLE.iter().find(|(spelling, _)| spelling.as_bytes() == name);
    if let Some((_, effect)) = known(name) {
        return Some(*effect);
    }
    let (before, _) = name.split_at(name.iter().position(|&byte| byte == b'=')?);
    known(before).map(|(_, effect)| *effect).filter(|&effect| effect == Hides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> (Reader, Vec<Verdict>) {
        let mut reader = Reader::default();
        let verdicts = words.iter().map(|word| reader.read(word.as_bytes())).collect();
        (reader, verdicts)
    }

    #[test]
    fn every_spelling_of_a_strip_request_leaves_the_link() {
        for (word, strip) in [
            ("-s", Strip::All),
            ("--strip-all", Strip::All),
            ("-strip-all", Strip::All),
            ("-S", Strip::Debug),
            ("--strip-debug", Strip::Debug),
            ("-strip-debug", Strip::Debug),
        ] {
            let (reader, verdicts) = read(&[word]);
            assert_eq!(reader.strip, Some(strip), "{word}");
            assert_eq!(verdicts, [Verdict::Leaves], "{word}");
        }
    }

    #[test]
    fn the_stronger_of_two_strip_requests_wins() {
        assert_eq!(read(&["-s", "-S"]).0.strip, Some(Strip::All));
        assert_eq!(read(&["-S", "--strip-all"]).0.strip, Some(Strip::All));
    }

    #[test]
    fn the_value_of_an_option_is_not_read_as_an_option() {
        let (reader, verdicts) = read(&["-soname", "-s", "-rpath", "-r", "--wrap", "-shared"]);
        assert_eq!(reader.strip, None);
        assert!(!reader.relocatable && !reader.shared);
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Stays));
    }

    #[test]
    fn output_shared_and_relocatable_are_noticed() {
        assert_eq!(read(&["-o", "x"]).0.output, Some(OsString::from("x")));
        assert!(read(&["-shared"]).0.shared);
        assert!(read(&["--relocatable"]).0.relocatable);
    }

    #[test]
    fn files_that_hide_symbols_are_noticed_in_each_spelling() {
        for words in [
            &["--version-script=x.map"][..],
            &["-version-script", "x.map", "-shared"],
            &["--retain-symbols-file", "-r", "-shared"],
        ] {
            let (reader, _) = read(words);
            assert!(reader.hides_symbols && !reader.relocatable, "{words:?}");
            assert_eq!(reader.shared, words.contains(&"-shared"), "{words:?}");
        }
        assert!(
            !read(&["--defsym=version-script=1", "-o=x", "--version-scripts=x"]).0.hides_symbols
        );
    }

    #[test]
    fn unknown_words_and_files_stay() {
        for word in ["--as-needed", "libx.a", "-", "--", "--s", "-O1", "-x"] {
            let (reader, verdicts) = read(&[word]);
            assert_eq!(verdicts, [Verdict::Stays], "{word}");
            assert_eq!(reader.strip, None, "{word}");
        }
    }
}
