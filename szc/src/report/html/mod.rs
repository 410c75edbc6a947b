//! One self-contained HTML page about experiments: verdicts first, then what they rest on.
//!
//! The page needs no network and no server. Its content security policy allows its own style and
//! its own script, by their hashes, and nothing else; all text of files, programs and machines is
//! escaped. Without scripts everything but the choice of a theme works. The samples are in the page
//! as JSON, and every number that comes from them names its place there.
#![forbid(unsafe_code)]

mod element;
mod experiment;
mod facts;
mod figures;
mod style;
mod suite;
mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::plot::svg::undisguised;
use super::view::Experiment;
use crate::samples::SamplesFile;

/// The data of a page.
#[derive(Serialize)]
struct Data<'a> {
    format: &'static str,
    version: u64,
    experiments: Vec<Source<'a>>,
}

#[derive(Serialize)]
struct Source<'a> {
    source: &'a str,
    samples: &'a SamplesFile,
}

/// The page about `experiments`, in their order.
///
/// # Errors
/// When the samples cannot be written as JSON.
pub fn page(experiments: &[Experiment]) -> serde_json::Result<String> {
    let heading = match experiments {
        [one] => one.title(),
        _ => format!("{} experiments", experiments.len()),
    };
    let title = match experiments {
        [one] => format!("{} · szc report", one.title()),
        _ => "szc report".to_owned(),
    };
    let style = style::style();
    let data = data(experiments)?;
    let version = env!("CARGO_PKG_VERSION");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(style::policy(&style));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "szc " (version) };
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                a.skip href="#verdicts" { "Skip to the verdicts" }
                header {
                    h1 { (heading) }
                    button id="theme" type="button" hidden { "Theme" }
                }
                main {
                    (navigation(experiments))
                    (verdicts::section(experiments))
                    @for (place, experiment) in experiments.iter().enumerate() {
                        (experiment::section(place, experiment))
                    }
                }
                footer {
                    "Made by szc " (version) " from the samples in this page. Every number in it \
                     is in the JSON at its end, "
                    code { "document.getElementById(\"data\")" } "."
                }
                script id="data" type="application/json" { (PreEscaped(data)) }
                script { (PreEscaped(style::SCRIPT)) }
            }
        }
    };
    Ok(undisguised(&page.into_string()) + "\n")
}

/// Links to the experiments, if there are several.
fn navigation(experiments: &[Experiment]) -> Markup {
    html! {
        @if experiments.len() > 1 {
            nav aria-label="Experiments" {
                ul {
                    @for (place, one) in experiments.iter().enumerate() {
                        li { a href={ "#e" (place) } { (one.title()) } }
                    }
                }
            }
        }
    }
}

/// `plot`, an SVG image of [`super::plot`], as a file of its own: with the page's style in it, in
/// the reader's theme.
#[must_use]
pub fn picture(plot: &str) -> String {
    let style = format!(
        "<style><![CDATA[\n{}:root {{ background: var(--card); }}\n]]></style>\n",
        style::style()
    );
    match plot.split_once(">\n") {
        Some((start, rest)) => format!("{start}>\n{style}{rest}"),
        None => plot.to_owned(),
    }
}

/// The samples as JSON that no HTML parser mistakes for markup, and whose text disguises nothing in
/// the page's source: such characters only occur inside JSON strings, where an escape means the
/// same.
fn data(experiments: &[Experiment]) -> serde_json::Result<String> {
    let sources =
        experiments.iter().map(|one| Source { source: &one.source, samples: &one.file }).collect();
    let data = Data { format: "szc-report", version: 1, experiments: sources };
    let plain = serde_json::to_string(&data)?;
    let mut text = String::with_capacity(plain.len());
    for character in plain.chars() {
        match character {
            '<'
            | '>'
            | '&'
            | '\u{7f}'..='\u{9f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => text.push(other),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
