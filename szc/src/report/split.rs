//! The split of a program's variance in words: a table of shares, and what to do about the largest.
#![forbid(unsafe_code)]

use szc_stats::describe::median;

use super::number::percent;
use super::text::align;
use crate::samples::design::{Bases, Part};
use crate::samples::{PartRecord, SamplesFile, SplitRecord, SummaryRecord};

/// A pair with more of the squares of its part stands alone: of 6 normal differences one has as
/// much in 4 % of experiments, of 10 in 0.2 %, simulated.
const DISTURBED: f64 = 0.8;

/// The table: a line for the machine, one for each part, one for the total. Empty without a split.
#[must_use]
pub fn split_table(file: &SamplesFile, summary: &SummaryRecord) -> String {
    let Some(split) = &summary.split else {
        return String::new();
    };
    let name = summary.metric.title();
    let head = [format!("variance of {name}"), "share".to_owned(), "95 % interval".to_owned()];
    let mut rows = vec![[&head[..], &["sd".to_owned()]].concat()];
    for found in &split.parts {
        rows.push(vec![
            title(file, found.part),
            whole_percent(found.share),
            format!("{} to {}", whole_percent(found.interval[0]), whole_percent(found.interval[1])),
            percent(found.variance.max(0.0).sqrt()),
        ]);
    }
    rows.push(vec![
        "all drawn anew".to_owned(),
        whole_percent(1.0),
        String::new(),
        percent(split.total.sqrt()),
    ]);
    align(&rows)
}

fn title(file: &SamplesFile, part: Part) -> String {
    let kernel = file.design.plan.bases == Bases::Kernel;
    match part {
        Part::Machine if kernel => "machine, and bases that the kernel draws",
        Part::Machine => "machine",
        Part::Code => "code: places of functions",
        Part::Stack => "stack: pads of frames",
        Part::Heap => "heap: places of blocks",
        Part::Bases if kernel => "bases: left to the kernel",
        Part::Bases => "bases: start of stack and mappings",
        Part::All => "all",
    }
    .to_owned()
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// What the split rests on, and one sentence of advice.
#[must_use]
pub fn split_remarks(file: &SamplesFile, summary: &SummaryRecord) -> Vec<String> {
    let Some(split) = &summary.split else {
        return Vec::new();
    };
    vec![
        format!(
            "The variance is split by {} pairs of runs for each part, alike but for it; shares of \
             parts that act together sum to more than 100 %, and each interval is for itself.",
            split.pairs
        ),
        advice(file, summary, split),
    ]
}

/// By which of three the variance is most: the machine, what an epoch draws anew, and what stays
/// where it is as long as the program runs.
fn advice(file: &SamplesFile, summary: &SummaryRecord, split: &SplitRecord) -> String {
    let (part, largest) = split.largest_pair;
    if largest > DISTURBED {
        return format!(
            "Advice: measure again, with more --runs or on a quieter machine. One pair makes up {} \
             of what runs differ by of which {} was drawn anew, so that a disturbed run may be \
             taken for it.",
            whole_percent(largest),
            match part {
                Part::Machine => "nothing",
                Part::Code => "the code",
                Part::Stack => "the stack",
                Part::Heap => "the heap",
                Part::Bases => "the bases",
                Part::All => "everything",
            }
        );
    }
    let share = |wanted: &[Part]| -> f64 {
        let parts = split.parts.iter().filter(|found| wanted.contains(&found.part));
        parts.map(|found: &PartRecord| found.share).sum::<f64>().min(1.0)
    };
    let runs = file.runs.iter().filter(|run| run.program == summary.program);
    let epochs: Vec<f64> = runs.filter_map(|run| run.epochs).map(|count| count as f64).collect();
    let is_redrawn = median(&epochs).is_some_and(|epochs| epochs >= 1.0);
    let machine = share(&[Part::Machine]);
    let code = if is_redrawn { share(&[Part::Code]) } else { 0.0 };
    let mut placed_once = vec![Part::Stack, Part::Heap, Part::Bases];
    if !is_redrawn {
        placed_once.push(Part::Code);
    }
    let once = share(&placed_once);
    if once >= machine && once >= code {
        format!(
            "Advice: more runs, not longer ones. {} of the variance is of what is placed once in a \
             run: frames and blocks that live long, bases{}.",
            whole_percent(once),
            if is_redrawn {
                ""
            } else {
                ", and code, since runs are too short for a second layout"
            }
        )
    } else if code >= machine {
        format!(
            "Advice: longer runs, or a shorter SZC_INTERVAL_MS. {} of the variance is the code's, \
             which an epoch places anew.",
            whole_percent(code)
        )
    } else {
        format!(
            "Advice: a quieter machine, or longer runs. {} of the variance is the machine's, which \
             no layout explains.",
            whole_percent(machine)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::parts_of;
    use crate::report::layouts::run_report;

    fn largest(wanted: Part, epochs: u64) -> (SamplesFile, String) {
        let mut file = parts_of(20, |part| match part {
            Part::All => 1100,
            part if part == wanted => 1090,
            _ if wanted == Part::Machine => 1090,
            _ => 1010,
        });
        file.runs.iter_mut().for_each(|run| run.epochs = Some(epochs));
        let text = run_report(&file, false);
        (file, text)
    }

    #[test]
    fn the_largest_part_decides_what_to_do() {
        for (part, epochs, words) in [
            (Part::Machine, 5, "a quieter machine"),
            (Part::Code, 5, "an epoch places anew"),
            (Part::Code, 0, "and code, since runs are too short"),
            (Part::Heap, 5, "more runs, not longer ones"),
            (Part::Bases, 0, "more runs, not longer ones"),
        ] {
            let (_, text) = largest(part, epochs);
            assert!(text.contains(words), "{part:?}: {text}");
        }
    }

    #[test]
    fn a_disturbed_run_is_no_ground_for_advice() {
        let (mut file, _) = largest(Part::Heap, 5);
        let run = file.runs.iter_mut().find(|run| Part::at(run.position) == Part::Code).unwrap();
        run.user_us = 9_000_000;
        let text = run_report(&crate::examples::analysed(file), false);
        assert!(text.contains("measure again") && text.contains("which the code was"), "{text}");
    }

    #[test]
    fn every_part_has_a_line_with_its_share_and_interval() {
        let (mut file, text) = largest(Part::Heap, 5);
        for words in [
            "variance of CPU time",
            "code: places of functions              0 %      0 % to 1 %",
            "heap: places of blocks                81 %   32 % to 100 %",
            "20 pairs of runs for each part",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains("left to the kernel"), "{text}");
        file.design.plan.bases = Bases::Kernel;
        let text = run_report(&file, false);
        assert!(text.contains("machine, and bases that the kernel draws"), "{text}");
    }
}
