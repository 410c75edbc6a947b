//! One link as planned: the words that it adds to the user's, and its run.

use super::args::{Invocation, Without};
use super::attempt::{Attempt, Said};
use super::facts::Facts;
use super::features::{Feature, Request};
use super::image::{is_elf, remove_unless};
use super::linker::{Flavor, Linker};
use super::parts::{Clang, find_own};
use super::runtime_object::Part;
use super::shown::{self, Shown};
use super::unwinder::Unwinder;
use super::{plugin, runtime_object, version_script};
use std::ffi::OsString;
use std::path::Path;
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
