//! One self-contained HTML page about experiments: verdicts first, then what they rest on.
//!
//! The page needs no network and no server. Its content security policy allows its own style and
//! its own script, by their hashes, and nothing else; all text of files, programs and machines is
//! escaped. Without scripts everything but the choice of a theme works. The samples are in the page
//! as JSON, and every number that comes from them names its place there.
#![forbid(unsafe_code)]

mod bias;
#[cfg(test)]
pub mod checked;
pub mod document;
pub mod element;
mod experiment;
mod facts;
mod figures;
pub mod luck;
mod simulated;
mod style;
mod suite;
mod verdicts;

use maud::{Markup, html};
use serde::Serialize;

use self::document::Document;
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
    let document = Document {
        title: &title,
        heading: &heading,
        skip: ("verdicts", "Skip to the verdicts"),
        source: "the samples in this page",
        data: data(experiments)?,
    };
    Ok(document.html(&html! {
        (navigation(experiments))
        (verdicts::section(experiments))
        @for (place, experiment) in experiments.iter().enumerate() {
            (experiment::section(place, experiment))
        }
    }))
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

fn data(experiments: &[Experiment]) -> serde_json::Result<String> {
    let sources =
        experiments.iter().map(|one| Source { source: &one.source, samples: &one.file }).collect();
    serde_json::to_string(&Data { format: "szc-report", version: 1, experiments: sources })
}

#[cfg(test)]
mod tests;
