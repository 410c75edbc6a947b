//! A causal profile as a table for the terminal.
#![forbid(unsafe_code)]

use super::diagnosis::Remark;
use super::file::CausalProfile;
use super::finding::{Analysis, Finding};
use super::load;
use super::sentences::{METHOD, change, header, interval, point, remark};

/// Most columns for the name of a place.
const MAX_NAME: usize = 48;

/// The findings, best first, at most `top` of each progress point, and what there is to know.
#[must_use]
pub fn text(
    profile: &CausalProfile,
    analysis: &Analysis,
    remarks: &[Remark],
    top: usize,
) -> String {
    let mut text = String::new();
    if !profile.header.command.is_empty() {
        text.push_str(&format!("{}\n", profile.header.command.join(" ")));
    }
    if !profile.experiments.is_empty() {
        text.push_str(&format!("{}\n", header(profile)));
    }
    for point in analysis.points() {
        text.push_str(&table(point, &analysis.of_point(point).collect::<Vec<_>>(), top));
    }
    for one in load::sentences(profile) {
        text.push_str(&format!("\n{one}\n"));
    }
    if !analysis.findings.is_empty() {
        text.push_str(&format!("\n{METHOD}\n"));
    }
    for one in remarks {
        text.push_str(&format!("\n{}\n", remark(one)));
    }
    text
}

fn table(of: (&str, super::finding::Kind), findings: &[&Finding], top: usize) -> String {
    let mut text = format!("\n{}, if a place took no time at all:\n\n", point(of.0, of.1));
    let shown = &findings[..findings.len().min(top)];
    let names: Vec<String> = shown.iter().map(|one| name(&one.location.to_string())).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    text.push_str(&row(width, ["place", "change", "interval", "verdict", "n", "samples"]));
    for (finding, name) in shown.iter().zip(&names) {
        let [estimate, bounds] = match finding.slope {
            Some(slope) => [change(slope.change.value), interval(&slope.change)],
            None => ["", ""].map(str::to_owned),
        };
        let samples = finding
            .sample_share
            .map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share));
        let count = finding.experiments.to_string();
        let cells = [name, &estimate, &bounds, finding.verdict.word(), &count, &samples];
        text.push_str(&row(width, cells));
    }
    if findings.len() > shown.len() {
        text.push_str(&format!("… and {} more (--top)\n", findings.len() - shown.len()));
    }
    text
}

fn row(width: usize, [place, change, interval, verdict, n, samples]: [&str; 6]) -> String {
    let line = format!(
        "{place:<width$}  {change:>9}  {interval:>20}  {verdict:<10}  {n:>5}  {samples:>7}"
    );
    format!("{}\n", line.trim_end())
}

/// Of a long name, the end: that of a path says more.
fn name(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_NAME {
        return text.to_owned();
    }
    std::iter::once('…').chain(text.chars().skip(length - MAX_NAME + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::analysis::tests::{profile, simulated};
    use crate::causal::analysis::{Question, analyse};
    use crate::causal::diagnosis::remarks;
    use crate::causal::file::tests::line;
    use szc_stats::calibration::noise::Noise;

    fn shown(profile: &CausalProfile, top: usize) -> String {
        let analysis = analyse(profile, &Question::default());
        text(profile, &analysis, &remarks(profile, &analysis), top)
    }

    #[test]
    fn a_table_ranks_places_with_intervals_and_verdicts() {
        let mut noise = Noise::new(5);
        let long = format!("/a/very/{}/b.c", "long/".repeat(20));
        let mut experiments = simulated(&mut noise, &line(&long, 7), 0.6, 40);
        experiments.extend(simulated(&mut noise, &line("a.c", 1), -0.5, 40));
        experiments.extend(simulated(&mut noise, &line("a.c", 2), 0.0, 12));
        let text = shown(&profile(experiments), 2);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("./a input"), "{text}");
        assert!(lines[1].starts_with("92 experiments on 3 places in 1 run: 46.0 s"), "{text}");
        assert!(lines[3].contains("Progress point p"), "{text}");
        assert!(lines[6].starts_with('…') && lines[6].contains("b.c:7  "), "{text}");
        assert!(lines[6].contains("+60.") || lines[6].contains("+59."), "{text}");
        assert!(lines[6].contains("gain") && lines[6].ends_with(" 40"), "{text}");
        assert!(lines[7].contains("a.c:1") && lines[7].contains("contention"), "{text}");
        assert_eq!(lines[8], "… and 1 more (--top)");
        assert!(text.contains("ends before the program did"), "{text}");
    }

    #[test]
    fn an_empty_profile_is_no_table_but_a_reason() {
        let text = shown(&profile(Vec::new()), 9);
        assert!(text.contains("No findings: ") && !text.contains("verdict"), "{text}");
    }
}
