//! Links that fail with what szc adds, or in which that has no effect: clang links alone, and then
//! as much is added as works. What is left out is said, once.

use super::args::Invocation;
use super::attempt::{Attempt, Stderr};
use super::features::Feature;
use super::linker::Linker;
use super::parts::Clang;
use super::plan::{Plan, link_once};
use super::warning::{code_is_off, warn};
use std::path::Path;
use std::process::ExitCode;

/// What became of a link that failed.
pub(super) enum Fallback {
    /// It is done, all that was asked for with it, but by another linker than szc chose.
    ByClangsLinker(Attempt),
    /// There is no more to do.
    Finished(ExitCode),
}

/// Links again after a link with what szc adds has failed, unless clang fails alone.
///
/// # Errors
/// A part of szc is missing, or clang cannot be started.
pub(super) fn link(
    clang: &Clang,
    invocation: &Invocation,
    plan: &Plan<'_>,
    failed: &Attempt,
) -> anyhow::Result<Fallback> {
    let args = invocation.for_clang(&[]);
    let plain = Attempt::run(clang, &args, Stderr::Kept)?;
    if !plain.success() {
        failed.forward();
        return Ok(Fallback::Finished(plain.exit_code()));
    }
    let complaint = failed.first_complaint();
    // Whether the image is still the one that clang made alone.
    let mut is_plain = true;
    let mut attempt_with = |plan| {
        is_plain = false;
        let attempt = link_once(clang, invocation, &plan, Stderr::Kept)?;
        anyhow::Ok(attempt.success().then_some(attempt))
    };
    let by_clangs = Plan { linker: Linker::Clangs, ..*plan };
    if plan.linker == Linker::Lld
        && let Some(attempt) = attempt_with(by_clangs)?
    {
        warn(format_args!(
            "linked by clang's linker, so what is compiled at this link gets no stack pads: lld, \
             which would load the plugin for them, fails ({complaint})"
        ));
        return Ok(Fallback::ByClangsLinker(attempt));
    }
    let less = plan.request.without(Feature::Code);
    if plan.request.includes(Feature::Code)
        && !less.is_empty()
        && let Some(attempt) = attempt_with(Plan { request: &less, ..by_clangs })?
    {
        attempt.forward();
        code_is_off(format_args!(
            "the linker fails with the arguments that it needs ({complaint})"
        ));
        return Ok(Fallback::Finished(attempt.exit_code()));
    }
    if !is_plain {
        Attempt::run(clang, &args, Stderr::Kept)?;
    }
    plain.forward();
    warn(format_args!("randomization is off: the linker fails with what it needs ({complaint})"));
    Ok(Fallback::Finished(plain.exit_code()))
}

/// Links an image again in which the linker retained no relocations although it was told to.
///
/// # Errors
/// As of [`link`].
pub(super) fn without_code(
    clang: &Clang,
    invocation: &Invocation,
    plan: &Plan<'_>,
    image: &Path,
) -> anyhow::Result<ExitCode> {
    warn(format_args!(
        "{}: code randomization is off: the linker retained no relocations (a script of the \
         linker's may discard them)",
        image.display()
    ));
    let less = plan.request.without(Feature::Code);
    let attempt = if less.is_empty() {
        Attempt::run(clang, &invocation.for_clang(&[]), Stderr::Kept)?
    } else {
        link_once(clang, invocation, &Plan { request: &less, ..*plan }, Stderr::Kept)?
    };
    if !attempt.success() {
        attempt.forward();
    }
    Ok(attempt.exit_code())
}
