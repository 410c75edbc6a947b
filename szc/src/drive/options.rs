//! The command-line options that a driver in front of clang has to know, as one table.
//!
//! Passing everything through needs no knowledge at all; what needs it is to find out what
//! an invocation does. So the table holds every option of clang 22 that takes a separate
//! argument (otherwise that argument would look like an input file) and every option that
//! changes whether, what, and how this invocation links. Any other word that starts with
//! a dash is a flag without consequences for the driver.
//!
//! Source: clang's `Options.td`; `tests/tests/driver.rs` compares the table with the
//! installed clang by asking it about every option it offers for completion.

/// How an option takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The spelling alone.
    Flag,
    /// The value follows in the same word: `-fuse-ld=lld`.
    Joined,
    /// The value is the next word: `-MF deps`.
    Separate,
    /// Either of the two: `-oprog`, `-o prog`.
    JoinedOrSeparate,
    /// One value in the same word and one in the next: `-Xarch_host -O1`.
    JoinedAndSeparate,
    /// The values follow in the same word, between commas: `-Wl,-s,-O1`.
    CommaJoined,
    /// The values are this many further words.
    Several(usize),
}

/// What an option means to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing: it is for clang.
    Pass,
    /// Names the output file.
    Output,
    /// Names the language of the inputs that follow.
    Language,
    /// A library, which is an input of the link.
    Library,
    /// Ends before linking, or makes something that is no image of the linker.
    StopsEarly,
    /// Answers a question and does nothing else.
    Query,
    /// Shows the commands and does not run them.
    DryRun,
    /// Reports what is done.
    Verbose,
    /// The result is a shared library.
    Shared,
    /// The result needs no shared library.
    Static,
    /// The compiler's support library, with the unwinder, is linked statically.
    StaticSupport,
    /// The C++ library is linked statically.
    StaticCxx,
    /// The value names the unwinder.
    Unwinder,
    /// The value names the compiler's support library.
    SupportLibrary,
    /// The result is one more object file.
    Relocatable,
    /// No start files, so nothing runs the runtime's initializer.
    NoStartFiles,
    /// No libraries of the compiler's own accord.
    NoDefaultLibs,
    /// The user has chosen a linker.
    ChoosesLinker,
    /// Strip the result of symbols and debug information.
    StripAll,
    /// Values are words for the linker.
    LinkerWords,
    /// The value is a keyword of the linker's (`-z`).
    LinkerKeyword,
    /// The value is a target triple.
    Target,
    /// Instructions of 64 bits, or of fewer.
    Wide(bool),
    /// The value names a code model.
    CodeModel,
    /// The values name sanitizers to turn on, or off.
    Sanitize(bool),
    /// Code for an accelerator beside the code for the host.
    Offload,
    /// The value names the directory that names of files are relative to.
    WorkingDirectory,
    /// The value names another compiler driver to imitate.
    DriverMode,
    /// Everything after this word is an input file.
    EndOfOptions,
}

/// One row: spelling, how it takes values, what it means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) spelling: &'static str,
    pub(super) kind: Kind,
    pub(super) effect: Effect,
}

const fn row(spelling: &'static str, kind: Kind, effect: Effect) -> Row {
    Row { spelling, kind, effect }
}

use Effect::{
    ChoosesLinker, CodeModel, DriverMode, DryRun, EndOfOptions, Language, Library, LinkerKeyword,
    LinkerWords, NoDefaultLibs, NoStartFiles, Offload, Output, Pass, Query, Relocatable, Sanitize,
    Shared, Static, StaticCxx, StaticSupport, StopsEarly, StripAll, SupportLibrary, Target,
    Unwinder, Verbose, Wide, WorkingDirectory,
};
use Kind::{CommaJoined, Flag, Joined, JoinedAndSeparate, JoinedOrSeparate, Separate, Several};

/// Options whose meaning matters here.
static MEANINGFUL: &[Row] = &[
    row("--", Flag, EndOfOptions),
    // What is made, and where.
    row("-o", JoinedOrSeparate, Output),
    row("--output", Separate, Output),
    row("--output=", Joined, Output),
    row("-object", Flag, Pass),
    row("-x", JoinedOrSeparate, Language),
    row("--language", Separate, Language),
    row("--language=", Joined, Language),
    row("-c", Flag, StopsEarly),
    row("--compile", Flag, StopsEarly),
    row("-S", Flag, StopsEarly),
    row("--assemble", Flag, StopsEarly),
    row("-E", Flag, StopsEarly),
    row("--preprocess", Flag, StopsEarly),
    row("-M", Flag, StopsEarly),
    row("--dependencies", Flag, StopsEarly),
    row("-MM", Flag, StopsEarly),
    row("--user-dependencies", Flag, StopsEarly),
    row("-fsyntax-only", Flag, StopsEarly),
    row("-fdriver-only", Flag, StopsEarly),
    row("--precompile", Flag, StopsEarly),
    row("-fmodule-header", Flag, StopsEarly),
    row("-fmodule-header=", Joined, StopsEarly),
    row("-extract-api", Flag, StopsEarly),
    row("--analyze", Flag, StopsEarly),
    row("-emit-ast", Flag, StopsEarly),
    row("-emit-cir", Flag, StopsEarly),
    row("-emit-interface-stubs", Flag, StopsEarly),
    row("-emit-merged-ifs", Flag, StopsEarly),
    row("--emit-static-lib", Flag, StopsEarly),
    row("-module-file-info", Flag, StopsEarly),
    row("-rewrite-objc", Flag, StopsEarly),
    row("-rewrite-legacy-objc", Flag, StopsEarly),
    row("-verify-pch", Flag, StopsEarly),
    // Questions. The first word -cc1 hands over to another tool altogether.
    row("-cc1", Flag, Query),
    row("-cc1as", Flag, Query),
    row("-cc1gen-reproducer", Flag, Query),
    row("-fc1", Flag, Query),
    row("-help", Flag, Query),
    row("--help", Joined, Query),
    row("--version", Flag, Query),
    row("-dumpmachine", Flag, Query),
    row("-dumpversion", Flag, Query),
    row("-dumpspecs", Flag, Query),
    row("-print-", Joined, Query),
    row("--print-", Joined, Query),
    row("-print-ivar-layout", Flag, Pass),
    row("--print-missing-file-dependencies", Flag, Pass),
    row("--autocomplete=", Joined, Query),
    row("-ccc-print-phases", Flag, Query),
    row("-ccc-print-bindings", Flag, Query),
    row("-###", Flag, DryRun),
    row("-v", Flag, Verbose),
    row("--verbose", Flag, Verbose),
    // The link.
    row("-shared", Flag, Shared),
    row("--shared", Flag, Shared),
    row("-static", Flag, Static),
    row("--static", Flag, Static),
    row("-static-pie", Flag, Static),
    row("-static-libgcc", Flag, StaticSupport),
    row("-unwindlib=", Joined, Unwinder),
    row("--unwindlib=", Joined, Unwinder),
    row("-rtlib=", Joined, SupportLibrary),
    row("--rtlib=", Joined, SupportLibrary),
    row("--rtlib", Separate, SupportLibrary),
    row("-static-libstdc++", Flag, StaticCxx),
    row("-r", Flag, Relocatable),
    row("-nostdlib", Flag, NoStartFiles),
    row("--no-standard-libraries", Flag, NoStartFiles),
    row("-nostartfiles", Flag, NoStartFiles),
    row("-nodefaultlibs", Flag, NoDefaultLibs),
    row("-nolibc", Flag, NoDefaultLibs),
    row("-fuse-ld=", Joined, ChoosesLinker),
    row("--ld-path=", Joined, ChoosesLinker),
    row("-s", Flag, StripAll),
    row("-Wl,", CommaJoined, LinkerWords),
    row("-Xlinker", Separate, LinkerWords),
    row("--for-linker", Separate, LinkerWords),
    row("--for-linker=", Joined, LinkerWords),
    row("-z", Separate, LinkerKeyword),
    row("-l", JoinedOrSeparate, Library),
    // The target.
    row("-target", Separate, Target),
    row("--target=", Joined, Target),
    row("-m64", Flag, Wide(true)),
    row("-m32", Flag, Wide(false)),
    row("-m16", Flag, Wide(false)),
    row("-mx32", Flag, Wide(false)),
    row("-mcmodel=", Joined, CodeModel),
    row("-fsanitize=", Joined, Sanitize(true)),
    row("-fno-sanitize=", Joined, Sanitize(false)),
    row("-fopenmp-targets=", Joined, Offload),
    row("--offload-arch=", Joined, Offload),
    row("--offload-targets=", Joined, Offload),
    row("--offload=", Joined, Offload),
    row("--offload-link", Flag, Offload),
    row("--cuda-gpu-arch=", Joined, Offload),
    row("-fsycl", Flag, Offload),
    row("--driver-mode=", Joined, DriverMode),
    row("-working-directory", Separate, WorkingDirectory),
    row("-working-directory=", Joined, WorkingDirectory),
    // More than the next word belongs to these, or it does in another way.
    row("-Xarch_", JoinedAndSeparate, Pass),
    row("-Xopenmp-target=", JoinedAndSeparate, Pass),
    row("-sectobjectsymbols", Several(2), Pass),
    row("-segaddr", Several(2), Pass),
    row("-sectalign", Several(3), Pass),
    row("-sectcreate", Several(3), Pass),
    row("-sectorder", Several(3), Pass),
    row("-segcreate", Several(3), Pass),
    row("-segprot", Several(3), Pass),
];

/// Options that matter only because the next word belongs to them.
const WITH_SEPARATE_VALUE: &str = "\
    --CLASSPATH --analyzer-output --assert --bootclasspath --classpath --config \
    --define-macro --dyld-prefix --encoding --extdirs --force-link --imacros --include \
    --include-directory --include-directory-after --include-prefix --include-with-prefix \
    --include-with-prefix-after --include-with-prefix-before --library-directory --mhwdiv \
    --no-system-header-prefix --output-class-directory --param --prefix --resource \
    --serialize-diagnostics --std --stdlib --sysroot --system-header-prefix \
    --undefine-macro --vfsoverlay -A -B -D -F -G -I -J -L -MF -MJ -MQ -MT -T -U -V -Xanalyzer \
    -Xassembler -Xclang -Xclangas -Xcuda-fatbinary -Xcuda-ptxas \
    -Xmicrosoft-visualc-tools-root -Xmicrosoft-visualc-tools-version \
    -Xmicrosoft-windows-sdk-root -Xmicrosoft-windows-sdk-version \
    -Xmicrosoft-windows-sys-root -Xoffload-linker -Xopenmp-target -Xpreprocessor \
    -Zlinker-input -alias_list -allowable_client -arch -arch_only -b -bundle_loader \
    -ccc-gcc-name -ccc-install-dir -client_name -compatibility_version -current_version \
    -cxx-isystem -darwin-target-variant -darwin-target-variant-triple -dependency-dot \
    -dependency-file -dsym-dir -dumpdir -dylib_file -dylinker_install_name -e \
    -exported_symbols_list -fdebug-compilation-dir -fexperimental-openacc-macro-override \
    -filelist -fintrinsic-modules-path -fmodule-implementation-of -fmodules-user-build-path -fnew-alignment \
    -force_load -framework -ftrapv-handler -gen-cdb-fragment-path -hlsl-entry \
    -iapinotes-modules -idirafter -iframework -iframeworkwithsysroot -imacros -image_base \
    -imultilib -include -include-pch -init -install_name -interface-stub-version= -iprefix \
    -iquote -isysroot -isystem -isystem-after -ivfsoverlay -iwithprefix -iwithprefixbefore \
    -iwithsysroot -lazy_framework -lazy_library -meabi -mllvm -mmlir \
    -module-dependency-dir -module-dir -mthread-model -multiply_defined -multiply_defined_unused \
    -pagezero_size -read_only_relocs -reexport_framework -reexport_library -resource-dir \
    -rpath -seg1addr -seg_addr_table -seg_addr_table_filename -segs_read_only_addr \
    -segs_read_write_addr -serialize-diagnostics -specs -stdlib++-isystem -sub_library \
    -sub_umbrella -u -umbrella -undefined -unexported_symbols_list -validator-version \
    -vfsoverlay -weak_framework -weak_library -weak_reference_mismatches \
";

/// A word that starts with a dash, split along the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match<'w> {
    pub(super) effect: Effect,
    /// What stands in the word itself behind the spelling.
    pub(super) joined: Option<&'w [u8]>,
    /// How many further words belong to it.
    pub(super) further: usize,
}

/// Looks a word up; the longest spelling wins, and one that is the whole word before one
/// that is only its beginning.
pub(super) fn look_up(word: &[u8]) -> Match<'_> {
    let best = MEANINGFUL
        .iter()
        .filter(|row| row.kind.accepts(row.spelling, word))
        .max_by_key(|row| row.spelling.len());
    let Some(row) = best else {
        return Match {
            effect: Pass,
            joined: None,
            further: usize::from(has_separate_value(word)),
        };
    };
    let rest = &word[row.spelling.len()..];
    let (joined, further) = match row.kind {
        Flag => (None, 0),
        Separate => (None, 1),
        Several(words) => (None, words),
        JoinedAndSeparate => (Some(rest), 1),
        Joined | CommaJoined => (Some(rest), 0),
        JoinedOrSeparate if rest.is_empty() => (None, 1),
        // `-object-file-name`, `-lazy_library`: longer names that only look joined.
        JoinedOrSeparate if has_separate_value(word) => {
            return Match { effect: Pass, joined: None, further: 1 };
        }
        JoinedOrSeparate => (Some(rest), 0),
    };
    Match { effect: row.effect, joined, further }
}

impl Kind {
    fn accepts(self, spelling: &str, word: &[u8]) -> bool {
        match self {
            Flag | Separate | Several(_) => word == spelling.as_bytes(),
            Joined | JoinedOrSeparate | JoinedAndSeparate | CommaJoined => {
                word.starts_with(spelling.as_bytes())
            }
        }
    }
}

fn has_separate_value(word: &[u8]) -> bool {
    WITH_SEPARATE_VALUE.split_ascii_whitespace().any(|spelling| spelling.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_stands_in_the_table_once() {
        let mut spellings: Vec<_> = MEANINGFUL
            .iter()
            .map(|row| row.spelling)
            .chain(WITH_SEPARATE_VALUE.split_ascii_whitespace())
            .collect();
        spellings.sort_unstable();
        let total = spellings.len();
        spellings.dedup();
        assert_eq!(spellings.len(), total);
    }

    #[test]
    fn a_longer_name_is_not_taken_for_a_short_option_with_a_joined_value() {
        for (word, effect, further) in [
            ("-object", Pass, 0),
            ("-lazy_library", Pass, 1),
            ("-MMD", Pass, 0),
            ("-shared-libgcc", Pass, 0),
            ("-static-libgcc", StaticSupport, 0),
            ("-static-libfoo", Pass, 0),
            ("-include-pch", Pass, 1),
            ("-Rpass=inline", Pass, 0),
            ("-print-ivar-layout", Pass, 0),
            ("-nostdlib++", Pass, 0),
            ("-stdlib++-isystem", Pass, 1),
            ("-module-dir", Pass, 1),
            ("-J", Pass, 1),
            ("-Jmodules", Pass, 0),
            ("-fintrinsic-modules-path", Pass, 1),
        ] {
            let found = look_up(word.as_bytes());
            assert_eq!((found.effect, found.further), (effect, further), "{word}");
        }
    }

    #[test]
    fn a_value_is_found_behind_the_spelling_or_in_the_next_word() {
        for (word, joined, further) in [
            ("-oprog", Some("prog"), 0),
            ("-o", None, 1),
            ("-Wl,-s,-O1", Some("-s,-O1"), 0),
            ("-Xarch_host", Some("host"), 1),
            ("-fuse-ld=mold", Some("mold"), 0),
            ("-sectcreate", None, 3),
            ("-I", None, 1),
            ("-Idir", None, 0),
        ] {
            let found = look_up(word.as_bytes());
            assert_eq!(found.joined, joined.map(str::as_bytes), "{word}");
            assert_eq!(found.further, further, "{word}");
        }
    }
}
