//! Figure 4.7 and section 4.5.1: speedups of -O2 over -O1 and -O3 over -O2, by the paper's tests
//! and by `szc compare`.
#![forbid(unsafe_code)]

use szc::results::comparison::results;
use szc::samples::sample::{block_mean_logarithms, values_of};
use szc::samples::{Metric, ResultRecord, SamplesFile, Verdict};
use szc_stats::anova::{WithinSubjects, within_subjects};
use szc_stats::describe::mean;
use szc_stats::fixed::CONFIDENCE;
use szc_stats::groups::welch;
use szc_stats::ranks::signed_rank;
use szc_stats::shapiro_wilk::shapiro_wilk;

use super::row::{ALPHA, Row};
use super::table::{Table, origin, probability};
use crate::evaluate::record::Measured;

/// Places of the levels that are compared: reference and level.
const PAIRS: [(usize, usize); 2] = [(0, 1), (1, 2)];

/// What the paper does with two lists of times.
struct PaperTest {
    /// mean of the reference over mean of the level
    speedup: f64,
    name: &'static str,
    p: f64,
}

/// The t-test where both lists look normal, else Wilcoxon's signed-rank test (section 4.5). The
/// paper's test was Student's; Welch's is the same for equal variances, and right for others.
fn paper_test(measured: &Measured, (reference, level): (usize, usize)) -> Option<PaperTest> {
    let values = |program| values_of(&measured.file.runs, program, &Metric::Cpu);
    let (of_reference, of_level) = (values(reference), values(level));
    let speedup = mean(&of_reference)? / mean(&of_level)?;
    let is_normal = |list: &[f64]| shapiro_wilk(list).is_ok_and(|test| test.p >= ALPHA);
    if is_normal(&of_reference) && is_normal(&of_level) {
        let p = welch(&of_reference, &of_level, CONFIDENCE).ok()?.p;
        return Some(PaperTest { speedup, name: "t", p });
    }
    let differences: Vec<f64> =
        of_reference.iter().zip(&of_level).map(|(one, other)| one - other).collect();
    Some(PaperTest { speedup, name: "W", p: signed_rank(&differences).ok()?.p })
}

/// What `szc compare` says about two of the levels.
pub(super) fn verdict(
    file: &SamplesFile,
    (reference, level): (usize, usize),
) -> Option<ResultRecord> {
    let mut pair = file.clone();
    pair.programs = vec![file.programs.get(reference)?.clone(), file.programs.get(level)?.clone()];
    pair.design.plan.programs = 2;
    pair.runs.retain(|run| [reference, level].contains(&run.program));
    for run in &mut pair.runs {
        run.program = usize::from(run.program == level);
    }
    pair.results.clear();
    results(&pair).into_iter().find(|result| result.deciding)
}

/// "1.034 (1.021 to 1.047) faster": a speedup, its interval and the verdict.
fn verdict_cell(result: &ResultRecord) -> String {
    let [lower, upper] = result.interval;
    let word = match result.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "**slower**",
        Verdict::Equivalent => "equivalent",
        _ => "unresolved",
    };
    format!("{:.3} ({:.3} to {:.3}) {word}", 1.0 / result.ratio, 1.0 / upper, 1.0 / lower)
}

/// The table, the counts and the analyses of variance.
pub fn section(rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "-O2 over -O1",
        "p, the paper's test",
        "verdict of `szc compare`",
        "-O3 over -O2",
        "p, the paper's test",
        "verdict of `szc compare`",
    ]);
    let mut found = Vec::new();
    for row in rows {
        let both = row.measured().and_then(|measured| {
            let one = |pair| Some((paper_test(measured, pair)?, verdict(&measured.file, pair)?));
            Some([one(PAIRS[0])?, one(PAIRS[1])?])
        });
        let cells = both.as_ref().map(|pairs| {
            let cells = pairs.iter().flat_map(|(paper, ours)| {
                [
                    format!("{:.3}", paper.speedup),
                    format!("{} ({})", probability(paper.p), paper.name),
                    verdict_cell(ours),
                ]
            });
            cells.collect()
        });
        table.add_program(row, cells);
        found.extend(both);
    }
    let mut text = format!("{}{}\n", origin(rows), table.finish());
    text.push_str(
        "Speedups: time of the lower level over that of the higher one; above 1, the \
                   higher level is faster. t: Welch's t-test, W: Wilcoxon's signed-rank test where \
                   a list is not normal.\n\n",
    );
    if !found.is_empty() {
        for (place, name) in ["-O2 over -O1", "-O3 over -O2"].iter().enumerate() {
            let pairs: Vec<_> = found.iter().map(|pairs| &pairs[place]).collect();
            text.push_str(&count_sentence(name, &pairs));
        }
        text.push_str(&anova_table(rows));
    }
    text
}

fn count_sentence(name: &str, pairs: &[&(PaperTest, ResultRecord)]) -> String {
    let paper = |is: fn(&PaperTest) -> bool| {
        pairs.iter().filter(|(paper, _)| paper.p < ALPHA && is(paper)).count()
    };
    let ours = |verdict| pairs.iter().filter(|(_, result)| result.verdict == verdict).count();
    format!(
        "{name}, {} programs: the paper's tests see {} differences at 5 %, {} of them slower (by \
         chance alone {:.1} would be seen); `szc compare` says faster {}, slower {}, equivalent \
         {}, unresolved {}.\n",
        pairs.len(),
        paper(|_| true),
        paper(|test| test.speedup < 1.0),
        ALPHA * pairs.len() as f64,
        ours(Verdict::Faster),
        ours(Verdict::Slower),
        ours(Verdict::Equivalent),
        ours(Verdict::Unresolved),
    )
}

/// One row for each program, its mean at each of these levels: of log times, or of times in
/// seconds.
fn means(rows: &[Row], levels: &[usize], logarithms: bool) -> Vec<Vec<f64>> {
    let of = |row: &Row| -> Option<Vec<f64>> {
        let file = &row.measured()?.file;
        let blocks = file.design.complete_blocks;
        let one = |level: &usize| {
            if logarithms {
                mean(&block_mean_logarithms(&file.runs, blocks, *level, &Metric::Cpu)?)
            } else {
                mean(&values_of(&file.runs, *level, &Metric::Cpu))
            }
        };
        levels.iter().map(one).collect()
    };
    rows.iter().filter_map(of).collect()
}

fn anova_table(rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "analysis of variance within programs",
        "of log times",
        "of times, as in the paper",
    ]);
    for (name, levels) in
        [("-O2 and -O1", &[0, 1][..]), ("-O3 and -O2", &[1, 2]), ("all three levels", &[0, 1, 2])]
    {
        let cell = |logarithms| {
            let result = within_subjects(&means(rows, levels, logarithms), CONFIDENCE);
            result.map_or_else(|_| "needs two programs".to_owned(), |found| anova_cell(&found))
        };
        table.add(&[name.to_owned(), cell(true), cell(false)]);
    }
    format!("\n{}", table.finish())
}

fn anova_cell(found: &WithinSubjects) -> String {
    let [of_levels, of_error] = found.degrees_of_freedom;
    let mut text =
        format!("F({of_levels}, {of_error}) = {:.3}, p = {}", found.f, probability(found.p));
    if of_levels > 1 {
        text.push_str(&format!(" (Greenhouse and Geisser {})", probability(found.p_corrected)));
    }
    text
}
