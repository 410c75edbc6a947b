//! A causal profile as one HTML page that needs no network.
#![forbid(unsafe_code)]

use maud::{Markup, html};
use serde::Serialize;

use super::diagnosis::Remark;
use super::file::CausalProfile;
use super::finding::{Analysis, Finding, Kind, Verdict};
use super::load::{self, Arrived, LoadFinding};
use super::plot::{plot, range};
use super::sentences::{METHOD, change, header, interval, point, remark, verdict};
use crate::report::html::document::Document;
use crate::report::html::element::{Figure, Span, count, number, sentences, table, text};
use crate::report::number::percent;
use crate::report::view::Tone;

/// Plots of a progress point; the table has all places.
const MAX_PLOTS: usize = 60;

/// The data of a page, and of `--json`.
#[derive(Serialize)]
pub struct Data<'a> {
    format: &'static str,
    version: u32,
    command: &'a [String],
    tolerance: f64,
    /// What was found.
    pub analysis: &'a Analysis,
    /// What was found of a greater load.
    pub load: Vec<LoadFinding>,
    /// What arrived, and by what it was sped up; none without a load.
    pub arrivals: Option<Arrived>,
    /// What there is to know.
    pub remarks: &'a [Remark],
}

impl<'a> Data<'a> {
    /// What `profile` says.
    #[must_use]
    pub fn new(
        profile: &'a CausalProfile,
        analysis: &'a Analysis,
        remarks: &'a [Remark],
        tolerance: f64,
    ) -> Self {
        let command = &profile.header.command;
        Self {
            format: "szc-causal",
            version: 1,
            command,
            tolerance,
            analysis,
            load: load::findings(&profile.loads),
            arrivals: load::arrived(profile),
            remarks,
        }
    }
}

/// The page.
///
/// # Errors
/// The data cannot be written as JSON.
pub fn page(profile: &CausalProfile, data: &Data<'_>) -> serde_json::Result<String> {
    let command = profile.header.command.join(" ");
    let heading = if command.is_empty() { "Causal profile".to_owned() } else { command };
    let points = data.analysis.points();
    let main = html! {
        section id="findings" aria-labelledby="findings-h" {
            h2 id="findings-h" { "Findings" }
            @if !profile.experiments.is_empty() { p { (header(profile)) "." } }
            @if !data.analysis.findings.is_empty() { p.quiet { (METHOD) } }
            (sentences(&load::sentences(profile)))
            (sentences(&data.remarks.iter().map(remark).collect::<Vec<_>>()))
        }
        @for (place, of) in points.iter().enumerate() { (section(place, *of, data)) }
    };
    let document = Document {
        title: &format!("{heading} · szc causal"),
        heading: &heading,
        skip: ("findings", "Skip to the findings"),
        source: "the analysis in this page",
        data: serde_json::to_string(data)?,
    };
    Ok(document.html(&main))
}

fn section(place: usize, of: (&str, Kind), data: &Data<'_>) -> Markup {
    let findings: Vec<(usize, &Finding)> = data
        .analysis
        .findings
        .iter()
        .enumerate()
        .filter(|(_, one)| (one.point.as_str(), one.kind) == of)
        .collect();
    let range = range(findings.iter().map(|(_, finding)| *finding));
    let id = format!("p{place}");
    html! {
        section id=(id) aria-labelledby={ (id) "-h" } {
            h2 id={ (id) "-h" } { (point(of.0, of.1)) }
            (ranking(&findings))
            div.figures {
                @for (at, finding) in findings.iter().take(MAX_PLOTS) {
                    (figure(*at, finding, range, data.tolerance))
                }
            }
            @if findings.len() > MAX_PLOTS {
                p.quiet { "Plots of the first " (MAX_PLOTS) " places." }
            }
        }
    }
}

fn ranking(findings: &[(usize, &Finding)]) -> Markup {
    let head = ["place", "change", "interval", "level", "verdict", "experiments", "samples"];
    let rows: Vec<Vec<Markup>> = findings.iter().map(|(at, finding)| cells(*at, finding)).collect();
    table("The program's change for a place that takes no time at all", &head, &rows)
}

fn cells(at: usize, finding: &Finding) -> Vec<Markup> {
    let base = format!("/analysis/findings/{at}");
    let tone = tone(finding.verdict).class();
    let slope = |show: &dyn Fn(&super::finding::Slope) -> Markup| {
        finding.slope.as_ref().map_or_else(|| text("–"), show)
    };
    vec![
        text(&finding.location.to_string()),
        slope(&|slope| {
            let value = slope.change.value;
            number(&format!("{base}/slope/change/value"), value, &change(value))
        }),
        slope(&|slope| text(&interval(&slope.change))),
        slope(&|slope| {
            let confidence = slope.confidence;
            number(&format!("{base}/slope/confidence"), confidence, &percent(confidence))
        }),
        html! { span.tone.(tone) { (finding.verdict.word()) } },
        count(&format!("{base}/experiments"), finding.experiments),
        finding.sample_share.map_or_else(
            || text("–"),
            |share| number(&format!("{base}/sample_share"), share, &percent(share)),
        ),
    ]
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Gain => Tone::Good,
        Verdict::Contention => Tone::Bad,
        Verdict::NoEffect => Tone::Even,
        Verdict::Unresolved { .. } | Verdict::TooFew => Tone::Open,
    }
}

fn figure(at: usize, finding: &Finding, range: [f64; 2], tolerance: f64) -> Markup {
    let steps: Vec<String> = finding
        .steps
        .iter()
        .map(|step| {
            let change = change(step.change.value);
            format!("at {}: {change}, {}", percent(step.speedup), interval(&step.change))
        })
        .collect();
    let slope = finding.slope.map_or_else(String::new, |slope| {
        format!(
            " Slope {}, {} at {} confidence.",
            change(slope.change.value),
            interval(&slope.change),
            percent(slope.confidence)
        )
    });
    let phase = finding.phase.filter(|phase| phase.share < 1.0).map_or_else(String::new, |phase| {
        format!(" It runs in {} of the run, which is counted in.", percent(phase.share))
    });
    let verdict = verdict(finding, tolerance);
    let figure = Figure {
        id: format!("f{at}"),
        title: finding.location.to_string(),
        description: format!("{verdict}{slope} Steps {}.", steps.join("; ")),
        caption: format!(
            "{}: {verdict}{slope}{phase} n = {}.",
            finding.verdict.word(),
            finding.experiments
        ),
        draw: &|width, alternative| plot(finding, range, width, alternative),
    };
    html! { div.(tone(finding.verdict).class()) { (figure.html(Span::Small)) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::analysis::tests::{profile, simulated};
    use crate::causal::analysis::{Question, analyse};
    use crate::causal::diagnosis::remarks;
    use crate::causal::file::tests::line;
    use crate::report::html::checked::{data_of, numbers_of};
    use szc_stats::calibration::noise::Noise;

    const HOSTILE: &str = "</script><img src=x onerror='alert(1)'>";

    fn shown(profile: &CausalProfile) -> String {
        let analysis = analyse(profile, &Question::default());
        let remarks = remarks(profile, &analysis);
        page(profile, &Data::new(profile, &analysis, &remarks, 0.05)).unwrap()
    }

    fn some() -> CausalProfile {
        let mut noise = Noise::new(6);
        let mut experiments = simulated(&mut noise, &line("a.c", 1), 0.5, 30);
        experiments.extend(simulated(&mut noise, &line(HOSTILE, 2), -0.5, 30));
        experiments.extend(simulated(&mut noise, &line("a.c", 3), 0.0, 9));
        profile(experiments)
    }

    #[test]
    fn every_number_is_the_one_that_its_pointer_leads_to() {
        let page = shown(&some());
        let data = data_of(&page);
        let count = numbers_of(&page, &data);
        assert!(count >= 6, "{count}");
    }

    #[test]
    fn each_finding_has_a_plot_in_its_tone_and_names_stay_text() {
        let page = shown(&some());
        let findings = page.matches("<figure").count();
        assert_eq!(page.matches("plot causal-plot").count(), findings);
        assert!(findings >= 2 && page.contains("<div class=\"good\"><figure"), "{findings}");
        assert!(page.contains("<span class=\"tone bad\">contention</span>"));
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("<img") && !page.contains("NaN"));
    }

    #[test]
    fn a_page_of_an_empty_profile_says_why_it_is() {
        let page = shown(&profile(Vec::new()));
        assert!(page.contains("No findings: ") && !page.contains("<figure"));
    }
}
