//! The compiler driver: everything clang accepts goes through to clang; a link gains what
//! makes its image's code movable.
//!
//! `args` reads the command line along the table in `options`; then either `compile` turns
//! this process into clang, or `link` runs clang and completes the image.

#![deny(unsafe_code)]

pub mod args;
mod attempt;
mod compile;
mod embed;
mod facts;
pub mod features;
mod image;
#[allow(unsafe_code)]
mod interrupted;
mod less;
mod link;
mod linker;
mod linker_words;
mod options;
pub mod parts;
mod plain;
mod plan;
mod plugin;
mod response;
mod runtime_object;
mod shown;
mod unwinder;
mod version_script;

pub use parts::Language;

use args::Invocation;
use facts::Facts;
use features::{BUILD_VARIABLE, Feature, Request};
use linker::Linker;
use parts::Clang;
use plain::Plain;
use plan::Plan;
use std::ffi::OsString;
use std::process::ExitCode;
use unwinder::Unwinder;

/// Acts as the compiler driver of a language on these words (without the program name).
///
/// Returns only after a link; every other invocation becomes clang.
///
/// # Errors
/// `SZC_BUILD` is malformed, a part is missing, a program cannot be started, or the
/// relocation table of the image cannot be made. clang's own failures are no errors here
/// but its exit code.
pub fn drive(language: Language, words: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let by_environment = Request::from_environment(std::env::var_os(BUILD_VARIABLE).as_deref())?;
    let invocation = args::classify(words);
    let clang = Clang::find(language)?;
    if invocation.facts.only_asks || invocation.facts.lacks_a_file() {
        return pass_through(&clang, &invocation, &Request::nothing());
    }
    let request = by_environment.as_ref().unwrap_or(&invocation.request);
    for feature in request.unavailable() {
        eprintln!(
            "szc: warning: {feature} randomization is not available in this version; \
             built without it"
        );
    }
    if let Some(plain) = Plain::reason(&invocation.facts) {
        if !request.is_empty() {
            plain.say(&invocation.facts);
        }
        return pass_through(&clang, &invocation, &Request::nothing());
    }
    let request = possible(language, &invocation.facts, request);
    if request.is_empty() || !invocation.facts.makes_image() {
        return pass_through(&clang, &invocation, &request);
    }
    if invocation.facts.dry_run {
        let facts = &invocation.facts;
        let linker = Linker::of(facts);
        let plan = Plan { request: &request, unwinder: Unwinder::expected(facts), linker };
        let mut words = linker.words(&clang)?;
        words.extend(invocation.for_link(&plan::additions(facts, &plan, None)?));
        match compile::become_clang(&clang, &words)? {}
    }
    link::link(&clang, &invocation, &request)
}

/// What of a request this link can have.
fn possible(language: Language, facts: &Facts, request: &Request) -> Request {
    let links_code = facts.links() && request.includes(Feature::Code);
    if links_code && !facts.shared && unwinder::is_another_inside(facts) {
        eprintln!(
            "szc: warning: code randomization is off: a libunwind that is linked statically cannot pass moved \
             functions; a shared one can, and libgcc's unwinder: --unwindlib=libgcc"
        );
        return request.without(Feature::Code);
    }
    if (language == Language::Cxx || facts.names_cxx)
        && links_code
        && let Some(reason) = unwinder::that_knows_no_copies(facts)
    {
        eprintln!("szc: warning: code randomization is off: {reason}");
        return request.without(Feature::Code);
    }
    if links_code && facts.no_section_headers {
        eprintln!(
            "szc: warning: code randomization is off: -z nosectionheader leaves no place for the relocation table; \
             leave it out, and strip the program instead (-s)"
        );
        return request.without(Feature::Code);
    }
    request.clone()
}

/// Becomes clang; what it compiles is compiled for the request.
fn pass_through(
    clang: &Clang,
    invocation: &Invocation,
    request: &Request,
) -> anyhow::Result<ExitCode> {
    let compiles = !invocation.facts.files.is_empty();
    let additions = if compiles { plugin::compile_words(request)? } else { Vec::new() };
    match compile::become_clang(clang, &invocation.for_clang(&additions))? {}
}
