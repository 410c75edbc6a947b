//! The link of a randomized image: the runtime's object and, if code will move, retained
//! relocations and afterwards the relocation table.

use super::args::Invocation;
use super::attempt::Stderr;
use super::compile::command;
use super::embed::{EmbedOptions, embed};
use super::fallback::{self, Fallback};
use super::features::{Feature, Request};
use super::image::{Fingerprint, is_elf, remove_unless};
use super::interrupted;
use super::linker::Linker;
use super::parts::{Clang, Language};
use super::plan::{Plan, link_once, part_for};
use super::runtime_object::Part;
use super::unwinder::Unwinder;
use anyhow::Context;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use szc_table::edits::NothingRetained;

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
    let mut attempt = link_once(clang, invocation, &plan, Stderr::Forwarded)?;
    if attempt.may_be_ours(plan.linker) && interrupted::caught().is_none() && !facts.reads_stdin() {
        attempt = match fallback::link(clang, invocation, &plan, &attempt)? {
            Fallback::ByClangsLinker(attempt) => attempt,
            Fallback::Finished(code) => return Ok(code),
        };
        plan.linker = Linker::Clangs;
    }
    attempt.forward();
    // The linker may have answered a question (-Wl,--version) and left an older file alone.
    let is_new = || Fingerprint::of(image).as_ref() != before && is_elf(image);
    if !request.includes(Feature::Code) || !attempt.success() || !is_new() {
        return Ok(attempt.exit_code());
    }
    let is_program = part_for(facts, request) == Some(Part::Runtime);
    if is_program && unwinder == Unwinder::Shared && interrupted::caught().is_none() {
        unwinder = remove_unless(image, Unwinder::of_image(image))?;
        if unwinder == Unwinder::Own {
            let attempt = link_once(clang, invocation, &Plan { unwinder, ..plan }, Stderr::Kept)?;
            if !attempt.success() {
                attempt.forward();
                return Ok(attempt.exit_code());
            }
        }
    }
    if interrupted::caught().is_none() {
        let c_library_archives = if facts.static_libraries {
            c_library_archives(clang, invocation)?
        } else {
            Vec::new()
        };
        let options = EmbedOptions {
            objcopy: clang.find_objcopy()?,
            strip: facts.linker.strip,
            c_library_archives,
        };
        let done = embed(image, &options);
        if done.as_ref().is_err_and(anyhow::Error::is::<NothingRetained>) {
            return fallback::without_code(clang, invocation, &Plan { unwinder, ..plan }, image);
        }
        remove_unless(image, done).with_context(|| {
            format!("{}: linked, but its relocation table could not be made", image.display())
        })?;
    }
    Ok(attempt.exit_code())
}

/// The archives of the C library, and of the compiler's runtime library under it, that this
/// link would find. clang knows the target's directories.
fn c_library_archives(clang: &Clang, invocation: &Invocation) -> anyhow::Result<Vec<PathBuf>> {
    let mut archives = Vec::new();
    // flang has no such question; its own clang finds the same libraries.
    let of_c =
        (clang.language == Language::Fortran).then(|| Clang::find(Language::C)).transpose()?;
    for name in ["libc.a", "libgcc.a"] {
        let mut args = if of_c.is_some() { Vec::new() } else { invocation.for_clang(&[]) };
        args.insert(0, format!("-print-file-name={name}").into());
        let answer = command(of_c.as_ref().unwrap_or(clang), &args)
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
