//! One link as planned: the arguments that it adds to the user's, and its run.

use super::args::{Invocation, Without};
use super::attempt::{Attempt, Stderr};
use super::exports::{self, ExportScripts};
use super::facts::Facts;
use super::features::{Feature, Request};
use super::image::{is_elf, remove_unless};
use super::linker::{Flavor, Linker};
use super::parts::{Clang, find_own};
use super::runtime_object::Part;
use super::unwinder::Unwinder;
use super::{plugin, runtime_object, version_script};
use std::ffi::OsString;
use std::path::Path;
use szc_abi::library::{ADOPT_SYMBOL, RELEASE_SYMBOL};
use szc_abi::{
    CONTROL_SYMBOLS, FRAMES_EXPORT_PREFIX, HEAP_EXPORT_PREFIX, KEEPS_CODE_SYMBOL, ORIGINAL_SYMBOL,
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

/// The arguments that a link of randomized code adds behind the user's, those for what is compiled
/// on the way included. Where nothing is linked, the runtime's archive stands for its object.
pub(super) fn additions(
    facts: &Facts,
    plan: &Plan<'_>,
    object: Option<&Path>,
) -> anyhow::Result<Vec<OsString>> {
    let request = plan.request;
    let part = part_for(facts, request);
    // A program without the runtime has no use for pads and records.
    let used = facts.shared || part.is_some();
    let mut args = if used { plugin::compile_args(request)? } else { Vec::new() };
    // An invocation may turn out to link nothing (a missing input, say); then clang would
    // warn of every argument here, and -Werror would make that an error.
    args.push("--start-no-unused-arguments".into());
    let is_lld = plan.linker.is_lld(facts);
    if used && is_lld {
        args.extend(plugin::link_args(request)?);
    }
    let moves = request.includes(Feature::Code);
    if moves {
        args.push("-Wl,--emit-relocs".into());
    }
    if moves && is_lld && facts.linker.effort.is_some_and(|effort| effort > 1) {
        // With more, lld 22 retains relocations of data as R_X86_64_NONE. The last argument counts.
        args.push("-Wl,-O1".into());
    }
    if let Some(part) = part {
        // Nothing in an image refers to szc's part, so the link has to ask for it.
        args.push(format!("-Wl,-u,{}", part.symbol()).into());
        // As an argument of the linker, because `-x c` would make a file name C source.
        let object = match object {
            Some(object) => object.to_path_buf(),
            None => find_own(part.archive())?,
        };
        args.extend(["-Xlinker".into(), object.into()]);
    }
    if part == Some(Part::Runtime) {
        if !facts.fully_static {
            let asked_by_libraries = [ADOPT_SYMBOL, RELEASE_SYMBOL, ORIGINAL_SYMBOL];
            for symbol in asked_by_libraries.into_iter().chain(CONTROL_SYMBOLS) {
                args.push(format!("-Wl,--export-dynamic-symbol={symbol}").into());
            }
        }
        if moves {
            args.extend(plan.unwinder.args().iter().map(OsString::from));
        } else {
            let keeps = format!("-Wl,--defsym={KEEPS_CODE_SYMBOL}={RUNTIME_START_SYMBOL}");
            args.push(keeps.into());
        }
    }
    args.push("--end-no-unused-arguments".into());
    Ok(args)
}

/// Runs the link once, as planned.
pub(super) fn link_once(
    clang: &Clang,
    invocation: &Invocation,
    plan: &Plan<'_>,
    stderr: Stderr,
) -> anyhow::Result<Attempt> {
    let facts = &invocation.facts;
    let part = part_for(facts, plan.request);
    let object = part
        .map(|part| {
            let exported = export_prefixes(facts, plan.request, plan.unwinder);
            runtime_object::extract(part, &find_own(part.archive())?, &exported)
        })
        .transpose()?;
    let object_path = object.as_ref().map(tempfile::NamedTempFile::path);
    let mut additions = additions(facts, plan, object_path)?;
    let scripts = match object_path.filter(|_| part == Some(Part::Runtime)) {
        Some(object) if facts.linker.hides_symbols && !facts.fully_static => {
            exports::scripts(facts, Flavor::of(clang, invocation, plan.linker), object)?
        }
        _ => ExportScripts::default(),
    };
    additions.extend_from_slice(&scripts.args);
    let without =
        Without { strips: plan.request.includes(Feature::Code), scripts: scripts.replaces };
    let mut args = plan.linker.args(clang)?;
    args.extend(invocation.render(without, &additions));
    let attempt = Attempt::run(clang, &args, stderr)?;
    let image = facts.image();
    if attempt.success() && scripts.versioned && is_elf(image) {
        remove_unless(image, version_script::remove_version(image))?;
    }
    Ok(attempt)
}

/// Prefixes of what the runtime exports for a request.
fn export_prefixes(facts: &Facts, request: &Request, unwinder: Unwinder) -> Vec<&'static str> {
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

/// The part of szc that the image gets.
pub(super) fn part_for(facts: &Facts, request: &Request) -> Option<Part> {
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

#[cfg(test)]
mod tests;
