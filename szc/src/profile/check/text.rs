//! A check as a table: the paper's 3.1, with intervals.
#![forbid(unsafe_code)]

use super::record::{Record, Subject, Verdict};

/// The table, and what is to be known of it.
#[must_use]
pub fn report(record: &Record) -> String {
    let mut text = format!(
        "{}\n{}: seconds of a function over those of the program, 1 is actionable (± {:.0} %)\n\n",
        record.command.join(" "),
        record.profiler,
        record.delta * 100.0
    );
    text += &line(["slope", "95 % interval", "hotness", "runs"], "function, computation, verdict");
    for subject in &record.subjects {
        text += &row(subject, record.delta);
    }
    text += &summary(record);
    for left_out in &record.left_out {
        text += &format!("Left out of the ten hottest: {} {}.\n", left_out.function, left_out.why);
    }
    text + &format!("Seed {}\n", record.seed)
}

fn line([slope, interval, hotness, runs]: [&str; 4], rest: &str) -> String {
    format!("{slope:>8}   {interval:>18}   {hotness:>8}   {runs:>4}   {rest}\n")
}

fn row(subject: &Subject, delta: f64) -> String {
    let verdict = match subject.verdict(delta) {
        Verdict::Actionable => "actionable",
        Verdict::NotActionable => "not actionable",
        Verdict::Unresolved => "unresolved: more or longer runs",
    };
    let (slope, interval) = match subject.fit() {
        Some(slope) => (
            format!("{:.3}", slope.value),
            format!("{:.3} to {:.3}", slope.interval.lower, slope.interval.upper),
        ),
        None => ("none".to_owned(), String::new()),
    };
    let hotness = format!("{:.1} %", subject.share * 100.0);
    let rest = format!("{}, {}: {verdict}", subject.function, subject.computation.name());
    line([&slope, &interval, &hotness, &subject.runs.len().to_string()], &rest)
}

/// The mean, as in the last row of the paper's table, and how many are near 1.
fn summary(record: &Record) -> String {
    let slopes: Vec<f64> =
        record.subjects.iter().filter_map(Subject::fit).map(|slope| slope.value).collect();
    if slopes.is_empty() {
        return "No slope: the program did not become slower.\n".to_owned();
    }
    let near = slopes.iter().filter(|slope| (*slope - 1.0).abs() <= record.delta).count();
    format!(
        "\nMean slope {:.3}; {near} of {} within ± {:.0} % of 1.\n",
        slopes.iter().sum::<f64>() / slopes.len() as f64,
        slopes.len(),
        record.delta * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::check::record::tests::subject;
    use crate::profile::check::record::{LeftOut, VERSION};

    #[test]
    fn a_table_has_slopes_with_intervals_verdicts_and_their_mean() {
        let record = Record {
            szc_check: VERSION,
            command: vec!["./a".into(), "1".into()],
            profiler: "perf record".into(),
            seed: 7,
            delta: 0.03,
            left_out: vec![LeftOut { function: "g".into(), why: "does not move".into() }],
            subjects: vec![subject(1.0, 0.001), subject(0.3, 0.001)],
        };
        let text = report(&record);
        assert!(text.starts_with("./a 1\nperf record: seconds of a function"), "{text}");
        assert!(text.contains("f, fibonacci: actionable"), "{text}");
        assert!(text.contains("f, fibonacci: not actionable"), "{text}");
        assert!(text.contains("Mean slope 0.650; 1 of 2 within ± 3 % of 1."), "{text}");
        assert!(text.contains("ten hottest: g does not move."), "{text}");
        let none = Record { subjects: vec![subject(1.0, 0.0)], ..record };
        let cut = Subject { runs: Vec::new(), ..none.subjects[0].clone() };
        let text = report(&Record { subjects: vec![cut], ..none });
        assert!(text.contains("No slope"), "{text}");
    }
}
