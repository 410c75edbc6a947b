//! Arguments meant for the linker, as far as the driver has to understand them.
//!
//! They arrive through `-Wl,a,b`, `-Xlinker a` and `--for-linker`, and one option may be
//! spread over several of these, so a [`Reader`] follows the whole stream. Retained
//! relocations and stripping exclude each other (lld refuses the pair), so a strip request
//! is taken out of the link and carried out on the finished image.

use super::facts::{LinkerFacts, Strip};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What a linker option means to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing, except that the next argument is its value.
    TakesNext,
    Output,
    Strip(Strip),
    Relocatable,
    Shared,
    /// From here on only archives count as libraries, or shared ones, too.
    Archives(bool),
    /// Names a library.
    Library,
    /// Names one of many keywords.
    Keyword,
    /// Takes a file that says what the image exports.
    Hides,
    /// Takes such a file, which may give versions.
    Script,
    /// Takes a number, how much work the linker shall do.
    Effort,
}

use Effect::{
    Archives, Effort, Hides, Keyword, Library, Output, Relocatable, Script, Shared, TakesNext,
};

/// Meanings, and spellings without dashes. One letter goes with one dash, a longer name with one or
/// two.
static TABLE: &[(Effect, &str)] = &[
    (Output, "o output"),
    (Effect::Strip(Strip::All), "s strip-all"),
    (Effect::Strip(Strip::Debug), "S strip-debug"),
    (Relocatable, "r i Ur relocatable"),
    (Shared, "shared Bshareable"),
    (Archives(true), "static Bstatic dn non_shared"),
    (Archives(false), "Bdynamic dy call_shared"),
    (Effort, "O"),
    (Library, "l library"),
    (Hides, "retain-symbols-file"),
    (Script, "version-script"),
    (Keyword, "z"),
    (
        TakesNext,
        "A F G I L Map R T Tbss Tdata Ttext a architecture auxiliary b c default-script defsym \
         dynamic-linker dynamic-list e entry exclude-libs export-dynamic-symbol \
         export-dynamic-symbol-list f filter fini format h init library-path m mllvm plugin \
         plugin-opt reproduce rpath rpath-link script section-start soname sort-section \
         symbol-ordering-file trace-symbol u undefined wrap y",
    ),
];

/// Follows the arguments for the linker and keeps what they amount to.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The option whose value the next argument is.
    expects_value: Option<Effect>,
    /// Libraries that follow must be archives.
    only_archives: bool,
    pub(super) facts: LinkerFacts,
}

/// What an argument is for the driver's links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkerArg {
    /// Nothing that concerns the driver.
    Plain,
    /// A strip request, to be carried out afterwards.
    Strip,
    /// A version script or its option; another may stand for it.
    VersionScript,
}

impl LinkerArg {
    const fn of(effect: Effect) -> Self {
        match effect {
            Script => Self::VersionScript,
            _ => Self::Plain,
        }
    }
}

impl Reader {
    /// Takes the next argument.
    pub(super) fn read(&mut self, arg: &[u8]) -> LinkerArg {
        if let Some(effect) = self.expects_value.take() {
            self.take_value(effect, arg);
            return LinkerArg::of(effect);
        }
        if arg.first() != Some(&b'-') {
            self.facts.named.file(arg);
        }
        match effect_of(arg) {
            None => {}
            Some((Effect::Strip(strip), _)) => {
                self.request_strip(strip);
                return LinkerArg::Strip;
            }
            Some((Relocatable, _)) => self.facts.relocatable = true,
            Some((Shared, _)) => self.facts.shared = true,
            Some((Archives(only), _)) => {
                self.facts.static_libraries |= only;
                self.only_archives = only;
            }
            Some((effect, None)) => {
                self.expects_value = Some(effect);
                self.facts.hides_symbols |= matches!(effect, Hides | Script);
                return LinkerArg::of(effect);
            }
            Some((effect, Some(value))) => {
                self.take_value(effect, value);
                self.facts.hides_symbols |= matches!(effect, Hides | Script);
                return LinkerArg::of(effect);
            }
        }
        LinkerArg::Plain
    }

    fn take_value(&mut self, effect: Effect, value: &[u8]) {
        match effect {
            Output => self.facts.output = Some(OsStr::from_bytes(value).to_owned()),
            Library => self.library(value),
            Script => self.facts.version_scripts.push(OsStr::from_bytes(value).to_owned()),
            Keyword => self.keyword(value),
            Effort => {
                let number = str::from_utf8(value).ok();
                self.facts.effort = number.and_then(|value| value.parse().ok());
            }
            _ => {}
        }
    }

    /// Takes the value of `-l`, also of the compiler's.
    pub(super) fn library(&mut self, name: &[u8]) {
        self.facts.named.library(name, self.only_archives);
    }

    /// Takes the value of `-z`, also of the compiler's.
    pub(super) fn keyword(&mut self, keyword: &[u8]) {
        match keyword {
            b"nosectionheader" => self.facts.no_section_headers = true,
            b"sectionheader" => self.facts.no_section_headers = false,
            _ => {}
        }
    }

    /// Adds a strip request; the stronger one wins, as in the linkers.
    pub(super) fn request_strip(&mut self, strip: Strip) {
        if !matches!(self.facts.strip, Some(Strip::All)) {
            self.facts.strip = Some(strip);
        }
    }
}

/// What an argument means, and its value if that stands in the same argument.
fn effect_of(arg: &[u8]) -> Option<(Effect, Option<&[u8]>)> {
    let name = arg.strip_prefix(b"-")?;
    let (name, is_long) = match name.strip_prefix(b"-") {
        Some(long) if long.len() > 1 => (long, true),
        Some(_) => return None,
        None => (name, false),
    };
    // With one dash all that begins with `o` names an output.
    if let (false, [b'o', value @ ..]) = (is_long, name)
        && !value.is_empty()
    {
        return Some((Output, Some(value)));
    }
    let known = |name: &[u8]| {
        let is_one = |names: &str| names.split_ascii_whitespace().any(|it| it.as_bytes() == name);
        TABLE.iter().find_map(|&(effect, spellings)| is_one(spellings).then_some(effect))
    };
    if let Some(effect) = known(name) {
        return Some((effect, None));
    }
    if let (false, [letter @ (b'l' | b'z' | b'O'), value @ ..]) = (is_long, name)
        && !name.starts_with(b"library")
    {
        let effect = match letter {
            b'l' => Library,
            b'z' => Keyword,
            _ => Effort,
        };
        return Some((effect, Some(value)));
    }
    let (before, value) = name.split_at(name.iter().position(|&byte| byte == b'=')?);
    let takes_one = |effect: &Effect| matches!(effect, Hides | Script | Output | Library);
    let effect = known(before).filter(takes_one)?;
    Some((effect, Some(&value[1..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn read(args: &[&str]) -> (Reader, Vec<LinkerArg>) {
        let mut reader = Reader::default();
        let kinds = args.iter().map(|arg| reader.read(arg.as_bytes())).collect();
        (reader, kinds)
    }

    #[test]
    fn every_spelling_of_a_strip_request_leaves_the_link() {
        for (arg, strip) in [
            ("-s", Strip::All),
            ("--strip-all", Strip::All),
            ("-strip-all", Strip::All),
            ("-S", Strip::Debug),
            ("--strip-debug", Strip::Debug),
            ("-strip-debug", Strip::Debug),
        ] {
            let (reader, kinds) = read(&[arg]);
            assert_eq!(reader.facts.strip, Some(strip), "{arg}");
            assert_eq!(kinds, [LinkerArg::Strip], "{arg}");
        }
    }

    #[test]
    fn the_stronger_of_two_strip_requests_wins() {
        assert_eq!(read(&["-s", "-S"]).0.facts.strip, Some(Strip::All));
        assert_eq!(read(&["-S", "--strip-all"]).0.facts.strip, Some(Strip::All));
    }

    #[test]
    fn the_value_of_an_option_is_not_read_as_an_option() {
        let (reader, kinds) = read(&["-soname", "-s", "-rpath", "-r", "--wrap", "-shared"]);
        assert_eq!(reader.facts.strip, None);
        assert!(!reader.facts.relocatable && !reader.facts.shared);
        assert!(kinds.iter().all(|kind| *kind == LinkerArg::Plain));
    }

    #[test]
    fn output_shared_and_relocatable_are_noticed() {
        assert_eq!(read(&["-o", "x"]).0.facts.output, Some(OsString::from("x")));
        for args in [&["--output=x"][..], &["-ox"], &["--output", "x"]] {
            assert_eq!(read(args).0.facts.output, Some(OsString::from("x")), "{args:?}");
        }
        assert!(read(&["-shared"]).0.facts.shared);
        assert!(read(&["--relocatable"]).0.facts.relocatable);
    }

    #[test]
    fn files_that_hide_symbols_are_noticed_in_each_spelling() {
        for args in [
            &["--version-script=x.map"][..],
            &["-version-script", "x.map", "-shared"],
            &["--retain-symbols-file", "-r", "-shared"],
        ] {
            let (reader, _) = read(args);
            assert!(reader.facts.hides_symbols && !reader.facts.relocatable, "{args:?}");
            assert_eq!(reader.facts.shared, args.contains(&"-shared"), "{args:?}");
        }
        assert!(
            !read(&["--defsym=version-script=1", "-o=x", "--version-scripts=x"])
                .0
                .facts
                .hides_symbols
        );
    }

    #[test]
    fn a_library_is_an_archive_where_only_those_count_or_its_name_says_so() {
        for (args, inside) in [
            (&["-lstdc++"][..], false),
            (&["-Bstatic", "-lstdc++", "-Bdynamic"], true),
            (&["-Bstatic", "-Bdynamic", "-l", "stdc++"], false),
            (&["-l:libstdc++.a"], true),
            (&["--library=:libstdc++.a"], true),
            (&["/usr/lib/libstdc++.a"], true),
            (&["-soname", "libstdc++.a"], false),
        ] {
            assert_eq!(read(args).0.facts.named.cxx_inside, inside, "{args:?}");
        }
        assert!(read(&["-lgcc_eh"]).0.facts.named.unwinder_inside);
    }

    #[test]
    fn the_last_arg_about_section_headers_counts() {
        for (args, none) in [
            (&["-z", "nosectionheader"][..], true),
            (&["-znosectionheader", "-z", "now"], true),
            (&["-z", "nosectionheader", "-z", "sectionheader"], false),
            (&["-soname", "-znosectionheader"], false),
        ] {
            assert_eq!(read(args).0.facts.no_section_headers, none, "{args:?}");
        }
    }

    #[test]
    fn the_linkers_effort_is_noticed_in_each_spelling() {
        for (args, effort) in [
            (&["-O2"][..], Some(2)),
            (&["-O", "3"], Some(3)),
            (&["-O2", "-O1"], Some(1)),
            (&["-soname", "-O2"], None),
            (&["--Output"], None),
        ] {
            assert_eq!(read(args).0.facts.effort, effort, "{args:?}");
        }
    }

    #[test]
    fn unknown_flags_and_files_stay() {
        for arg in ["--as-needed", "libx.a", "-", "--", "--s", "-O1", "-x"] {
            let (reader, kinds) = read(&[arg]);
            assert_eq!(kinds, [LinkerArg::Plain], "{arg}");
            assert_eq!(reader.facts.strip, None, "{arg}");
        }
    }
}
