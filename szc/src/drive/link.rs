//! The link of a randomized image: the runtime's object and, if code will move, retained
//! relocations and afterwards the relocation table.

use super::args::{Facts, Invocation, Without};
use super::attempt::{Attempt, Said};
use super::compile::command;
use super::features::{Feature, Request};
use super::less::{self, Less};
use super::linker::{Flavor, Linker};
use super::parts::{Clang, Language, find_own};
use super::runtime_object::Part;
use super::shown::{self, Shown};
use super::unwinder::Unwinder;
use super::{interrupted, plugin, runtime_object, version_script};
use crate::table::{self, EmbedOptions};
use anyhow::Context;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use szc_abi::library::{ADOPT_SYMBOL, RELEASE_SYMBOL};
use szc_abi::{
    FRAMES_EXPORT_PREFIX, HEAP_EXPORT_PREFIX, KEEPS_CODE_SYMBOL, ORIGINAL_SYMBOL,
    RUNTIME_START_SYMBOL, SHARED_FRAMES_EXPORT_PREFIX, SHARED_OBJECTS_EXPORT_PREFIX,
    SHARED_STACK_EXPORT_PREFIX, SHARED_WALKS_EXPORT_PREFIX, STACK_EXPORT_PREFIX,
};

/// What a link is to make, and by which means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) request: &'a Request,
    /// Where the unwinder is expected.
    pub(super) unwinder: Unwinder,
    pub(super) linker: Linker,
}

/// The words that a link of randomized code adds behind the user's, those for what is compiled on
/// the way included. Where nothing is linked, the runtime's archive stands for its object.
pub(super) fn additions(
    facts: &Facts,
    plan: &Plan<'_>,
    object: Option<&Path>,
) -> anyhow::Result<Vec<OsString>> {
    let request = plan.request;
    let part = part_for(facts, request);
    // A program without the runtime has no use for pads and records.
    let used = facts.shared || part.is_some();
    let mut words = if used { plugin::compile_words(request)? } else { Vec::new() };
    // An invocation may turn out to link nothing (a missing input, say); then clang would
    // warn of every word here, and -Werror would make that an error.
    words.push("--start-no-unused-arguments".into());
    let is_lld = plan.linker.is_lld(facts);
    if used && is_lld {
        words.extend(plugin::link_words(request)?);
    }
    let moves = request.includes(Feature::Code);
    if moves {
        words.push("-Wl,--emit-relocs".into());
    }
    if moves && is_lld && facts.linker_effort.is_some_and(|effort| effort > 1) {
        // With more, lld 22 retains relocations of data as R_X86_64_NONE. The last word counts.
        words.push("-Wl,-O1".into());
    }
    if let Some(part) = part {
        // Nothing in an image refers to szc's part, so the link has to ask for it.
        words.push(format!("-Wl,-u,{}", part.symbol()).into());
        // As a word of the linker, because `-x c` would make a file name C source.
        let object = match object {
            Some(object) => object.to_path_buf(),
            None => find_own(part.archive())?,
        };
        words.extend(["-Xlinker".into(), object.into()]);
    }
    if part == Some(Part::Runtime) {
        if !facts.fully_static {
            for symbol in [ADOPT_SYMBOL, RELEASE_SYMBOL, ORIGINAL_SYMBOL] {
                words.push(format!("-Wl,--export-dynamic-symbol={symbol}").into());
            }
        }
        if moves {
            words.extend(plan.unwinder.words().iter().map(OsString::from));
        } else {
            let keeps = format!("-Wl,--defsym={KEEPS_CODE_SYMBOL}={RUNTIME_START_SYMBOL}");
            words.push(keeps.into());
        }
    }
    words.push("--end-no-unused-arguments".into());
    Ok(words)
}

/// The part of szc that the image gets.
fn part_for(facts: &Facts, request: &Request) -> Option<Part> {
    if !runs_initializers(facts) {
        None
    } else if !facts.shared {
        Some(Part::Runtime)
    } else {
        let moves_or_pads = request.includes(Feature::Code) || request.includes(Feature::Stack);
        moves_or_pads.then_some(Part::Library)
    }
}

/// Whether the image will run initializers: rustc and others leave out the default libraries and
/// name the C library themselves.
fn runs_initializers(facts: &Facts) -> bool {
    !facts.no_start_files && (!facts.no_default_libs || facts.names_libc)
}

/// Links, and completes the image.
///
/// # Errors
/// A part is missing, clang cannot be started, or the table cannot be made; then there is
/// no image left that lacks one.
pub(super) fn link(
    clang: &Clang,
    invocation: &Invocation,
    request: &Request,
) -> anyhow::Result<ExitCode> {
    interrupted::catch();
    let image = invocation.facts.image();
    let before = Fingerprint::of(image);
    let result = link_and_complete(clang, invocation, request, image, before.as_ref());
    if let Some(signal) = interrupted::caught() {
        // By now nothing else is left behind.
        if image.is_file() && Fingerprint::of(image) != before {
            let _ = fs::remove_file(image);
        }
        interrupted::end_by(signal);
    }
    result
}

fn link_and_complete(
    clang: &Clang,
    invocation: &Invocation,
    request: &Request,
    image: &Path,
    before: Option<&Fingerprint>,
) -> anyhow::Result<ExitCode> {
    let facts = &invocation.facts;
    let mut unwinder = Unwinder::expected(facts);
    let mut plan = Plan { request, unwinder, linker: Linker::of(facts) };
    let mut attempt = link_once(clang, invocation, &plan, Said::Shown)?;
    if attempt.may_be_ours(plan.linker) && interrupted::caught().is_none() && !facts.reads_stdin() {
        attempt = match less::link(clang, invocation, &plan, &attempt)? {
            Less::ByClangsLinker(attempt) => attempt,
            Less::Finished(code) => return Ok(code),
        };
        plan.linker = Linker::Clangs;
    }
    attempt.show();
    let status = attempt.status;
    // The linker may have answered a question (-Wl,--version) and left an older file alone.
    let is_new = || Fingerprint::of(image).as_ref() != before && is_elf(image);
    if !request.includes(Feature::Code) || !status.success() || !is_new() {
        return Ok(exit_code(status));
    }
    let is_program = part_for(facts, request) == Some(Part::Runtime);
    if is_program && unwinder == Unwinder::Shared && interrupted::caught().is_none() {
        unwinder = remove_unless(image, Unwinder::of_image(image))?;
        if unwinder == Unwinder::Own {
            let attempt = link_once(clang, invocation, &Plan { unwinder, ..plan }, Said::Kept)?;
            if !attempt.success() {
                attempt.show();
                return Ok(exit_code(attempt.status));
            }
        }
    }
    if interrupted::caught().is_none() {
        let c_library_archives = if facts.static_libraries {
            c_library_archives(clang, invocation)?
        } else {
            Vec::new()
        };
        let options =
            EmbedOptions { objcopy: clang.find_objcopy()?, strip: facts.strip, c_library_archives };
        let done = table::embed(image, &options);
        if done.as_ref().is_err_and(anyhow::Error::is::<table::NothingRetained>) {
            return less::without_code(clang, invocation, &Plan { unwinder, ..plan }, image);
        }
        remove_unless(image, done).with_context(|| {
            format!("{}: linked, but its relocation table could not be made", image.display())
        })?;
    }
    Ok(exit_code(status))
}

/// Runs the link once, as planned.
pub(super) fn link_once(
    clang: &Clang,
    invocation: &Invocation,
    plan: &Plan<'_>,
    said: Said,
) -> anyhow::Result<Attempt> {
    let facts = &invocation.facts;
    let part = part_for(facts, plan.request);
    let object = part
        .map(|part| {
            let exported = exports(facts, plan.request, plan.unwinder);
            runtime_object::extract(part, &find_own(part.archive())?, &exported)
        })
        .transpose()?;
    let object_path = object.as_ref().map(tempfile::NamedTempFile::path);
    let mut additions = additions(facts, plan, object_path)?;
    let shown = match object_path.filter(|_| part == Some(Part::Runtime)) {
        Some(object) if facts.hides_symbols && !facts.fully_static => {
            shown::scripts(facts, Flavor::of(clang, invocation, plan.linker), object)?
        }
        _ => Shown::default(),
    };
    additions.extend_from_slice(&shown.words);
    let without = Without { strips: plan.request.includes(Feature::Code), scripts: shown.replaces };
    let mut words = plan.linker.words(clang)?;
    words.extend(invocation.render(without, &additions));
    let attempt = Attempt::run(clang, &words, said)?;
    let image = facts.image();
    if attempt.success() && shown.versioned && is_elf(image) {
        remove_unless(image, version_script::take_back(image))?;
    }
    Ok(attempt)
}

/// Prefixes of what the runtime exports for a request.
fn exports(facts: &Facts, request: &Request, unwinder: Unwinder) -> Vec<&'static str> {
    let mut prefixes = Vec::new();
    if request.includes(Feature::Stack) {
        prefixes.push(STACK_EXPORT_PREFIX);
        if !facts.fully_static {
            prefixes.push(SHARED_STACK_EXPORT_PREFIX);
        }
    }
    if request.includes(Feature::Stack) || request.includes(Feature::Code) {
        prefixes.push(FRAMES_EXPORT_PREFIX);
        if !facts.fully_static {
            prefixes.push(SHARED_FRAMES_EXPORT_PREFIX);
        }
    }
    if request.includes(Feature::Code) && !facts.fully_static {
        prefixes.push(SHARED_OBJECTS_EXPORT_PREFIX);
        if !facts.static_support && unwinder == Unwinder::Shared {
            prefixes.push(SHARED_WALKS_EXPORT_PREFIX);
        }
    }
    if request.includes(Feature::Heap) {
        prefixes.push(HEAP_EXPORT_PREFIX);
    }
    prefixes
}

/// The archives of the C library, and of the compiler's runtime library under it, that this
/// link would find. clang knows the target's directories.
fn c_library_archives(clang: &Clang, invocation: &Invocation) -> anyhow::Result<Vec<PathBuf>> {
    let mut archives = Vec::new();
    // flang has no such question; its own clang finds the same libraries.
    let of_c =
        (clang.language == Language::Fortran).then(|| Clang::find(Language::C)).transpose()?;
    for name in ["libc.a", "libgcc.a"] {
        let mut words = if of_c.is_some() { Vec::new() } else { invocation.for_clang(&[]) };
        words.insert(0, format!("-print-file-name={name}").into());
        let answer = command(of_c.as_ref().unwrap_or(clang), &words)
            .stderr(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", clang.program.display()))?;
        let answer = answer.stdout.trim_ascii_end();
        archives.push(PathBuf::from(OsStr::from_bytes(answer)));
    }
    let unwinder = archives[1].with_file_name("libgcc_eh.a");
    archives.push(unwinder);
    // An archive that clang cannot find it names without a directory.
    archives.retain(|path| path.is_absolute() && path.is_file());
    Ok(archives)
}

/// make would take an incomplete image for a finished one. The error at hand says more than a
/// failure to remove it could.
fn remove_unless<T>(image: &Path, result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.inspect_err(|_| {
        let _ = fs::remove_file(image);
    })
}

/// Tells whether a file has been written since.
#[derive(Debug, PartialEq, Eq)]
struct Fingerprint {
    inode: (u64, u64),
    modified_ns: (i64, i64),
    changed_ns: (i64, i64),
}

impl Fingerprint {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Fingerprint {
            inode: (metadata.dev(), metadata.ino()),
            modified_ns: (metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Links of configure scripts go to `/dev/null`, and linkers make other formats too.
fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == *b"\x7fELF"
}

/// clang's exit code, or what a shell makes of a fatal signal.
pub(super) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(test)]
mod tests;
