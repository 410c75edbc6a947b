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
mod exports;
mod facts;
mod fallback;
mod features;
mod image;
#[allow(unsafe_code)]
mod interrupted;
mod link;
mod linker;
mod linker_args;
mod options;
mod order;
pub(crate) mod parts;
mod plain;
mod plan;
mod plugin;
mod response;
mod runtime_object;
mod survey;
mod unwinder;
mod version_script;
mod warning;

pub use parts::Language;
pub use survey::{Part, survey};

use anyhow::Context;
use args::Invocation;
use facts::Facts;
use features::{BUILD_VARIABLE, Feature, Request};
use linker::Linker;
use order::{LinkOrder, ORDER_VARIABLE};
use parts::Clang;
use plain::Plain;
use plan::Plan;
use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use unwinder::Unwinder;

/// Acts as the compiler driver of a language on these arguments (without the program name).
///
/// Returns only after a link; every other invocation becomes clang.
///
/// # Errors
/// `SZC_BUILD` or `SZC_LINK_ORDER` is malformed, a part is missing, a program cannot be started, or
/// the relocation table of the image cannot be made. clang's own failures are no errors here
/// but its exit code.
pub fn drive(language: Language, args: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let by_environment = Request::from_environment(std::env::var_os(BUILD_VARIABLE).as_deref())?;
    let mut invocation = args::classify(args);
    let clang = Clang::find(language)?;
    if invocation.facts.only_asks || invocation.facts.lacks_a_file() {
        return pass_through(&clang, &invocation, &Request::nothing());
    }
    let shuffles = by_environment.as_ref().unwrap_or(&invocation.request).shuffles_objects();
    let by_request = shuffles.then(LinkOrder::drawn);
    if let Some(order) = chosen_order()?.or(by_request) {
        invocation.reorder(order);
    }
    let request = by_environment.as_ref().unwrap_or(&invocation.request);
    if let Some(plain) = Plain::reason(&invocation.facts) {
        if !request.is_empty() {
            plain.say(&invocation.facts);
        }
        return pass_through(&clang, &invocation, &Request::nothing());
    }
    let request = possible(language, &invocation.facts, request);
    if !request.is_empty() {
        clang.check_release()?;
    }
    if request.is_empty() || !invocation.facts.makes_image() {
        return pass_through(&clang, &invocation, &request);
    }
    if invocation.facts.dry_run {
        let facts = &invocation.facts;
        let linker = Linker::of(facts);
        let plan = Plan { request: &request, unwinder: Unwinder::expected(facts), linker };
        let mut args = linker.args(&clang)?;
        args.extend(invocation.for_link(&plan::additions(facts, &plan, None)?));
        match compile::become_clang(&clang, &args)? {}
    }
    link::link(&clang, &invocation, &request)
}

/// The order of objects that the environment asks for.
fn chosen_order() -> anyhow::Result<Option<LinkOrder>> {
    LinkOrder::from_environment(std::env::var_os(ORDER_VARIABLE).as_deref())
}

/// Becomes another compiler, which gets the objects of a link in the order that the environment
/// asks for.
///
/// # Errors
/// The order is malformed, there is no compiler, or it cannot be started.
pub fn drive_other(command: Vec<OsString>) -> anyhow::Result<Infallible> {
    let order = chosen_order()?.unwrap_or(LinkOrder::Given);
    let mut args = command.into_iter();
    let compiler = args.next().context("a compiler is needed: szc link-order gcc -O2 x.c")?;
    let mut invocation = args::classify(args.collect());
    invocation.reorder(order);
    let error = Command::new(&compiler).args(invocation.for_clang(&[])).exec();
    Err(error).with_context(|| format!("cannot run {}", compiler.display()))
}

/// Asks clang a question that needs no files, and waits for the answer, which goes to stdout. The
/// result is clang's exit code.
///
/// # Errors
/// clang is missing or cannot be started.
pub fn ask(language: Language, args: &[OsString]) -> anyhow::Result<u8> {
    let invocation = args::classify(args.to_vec());
    let clang = Clang::find(language)?;
    let status = compile::command(&clang, &invocation.for_clang(&[]))
        .status()
        .with_context(|| format!("cannot run {}", clang.program.display()))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Whether an argument is an option of the driver's own.
#[must_use]
pub fn is_own(arg: &str) -> bool {
    features::Choice::from_flag(arg.as_bytes()).is_some()
}

/// What of a request this link can have.
fn possible(language: Language, facts: &Facts, request: &Request) -> Request {
    let moves = facts.links() && request.includes(Feature::Code);
    let Some(reason) = moves.then(|| obstacle(language, facts)).flatten() else {
        return request.clone();
    };
    warning::code_is_off(reason);
    request.without(Feature::Code)
}

/// Why the code of a link cannot move, and what to do about it.
fn obstacle(language: Language, facts: &Facts) -> Option<&'static str> {
    if !facts.shared && unwinder::links_libunwind(facts) {
        return Some(
            "a libunwind that is linked statically cannot pass moved functions; a shared one can, \
             and libgcc's unwinder: --unwindlib=libgcc",
        );
    }
    let is_cxx = language == Language::Cxx || facts.linker.named.cxx_shared;
    is_cxx.then(|| unwinder::obstacle(facts)).flatten().or_else(|| {
        facts.linker.no_section_headers.then_some(
            "-z nosectionheader leaves no place for the relocation table; \
             leave it out, and strip the program instead (-s)",
        )
    })
}

/// Becomes clang; what it compiles is compiled for the request.
fn pass_through(
    clang: &Clang,
    invocation: &Invocation,
    request: &Request,
) -> anyhow::Result<ExitCode> {
    let compiles = !invocation.facts.files.is_empty();
    let additions = if compiles { plugin::compile_args(request)? } else { Vec::new() };
    match compile::become_clang(clang, &invocation.for_clang(&additions))? {}
}
