//! What profilers say of a program, as tables.
#![forbid(unsafe_code)]

use super::analysis::Agreement;
use super::record::Record;

/// The tables.
pub(super) fn report(record: &Record, top: usize) -> String {
    let count = record.profilers.len();
    let mut text = format!("{}\n", record.command.join(" "));
    for (index, profiled) in record.profilers.iter().enumerate() {
        text += &format!("{}: {}, mean of {} runs\n", label(index), profiled.profiler, record.runs);
    }
    text += &format!("\n{}function\n", columns((0..count).map(label)));
    for name in shown(record, top) {
        let shares = record.profilers.iter().map(|profiled| percent(profiled.share(name)));
        text += &format!("{}{name}\n", columns(shares));
    }
    text += &format!("\nUnion_n, how many functions the n hottest of all are: n to {count}·n\n");
    let unions = record.unions.iter().enumerate();
    let unions: Vec<String> = unions.map(|(at, union)| format!("{}: {union}", at + 1)).collect();
    text += &format!("  {}\n\nThe hottest function by pairs\n", unions.join("   "));
    for pair in &record.pairs {
        let [a, b] = pair.profilers.map(label);
        let [one, other] = &pair.hottest;
        let says = |function: usize| {
            format!(
                "{} by {a}, {} by {b}",
                percent(pair.shares[0][function]),
                percent(pair.shares[1][function])
            )
        };
        text += &match pair.agreement {
            Agreement::Agree => format!("  {a} and {b} agree: {one}, {}\n", says(0)),
            Agreement::CallerCallee => format!(
                "  {a} and {b}, caller and callee: {one}, {}; {other}, {}\n",
                says(0),
                says(1)
            ),
            Agreement::Disagree => {
                format!("  {a} and {b} disagree: {one}, {}; {other}, {}\n", says(0), says(1))
            }
        };
    }
    if !record.has_calls {
        text +=
            "  No profiler has seen calls: callers and callees count as disagreement. Use -g.\n";
    }
    text + &observed(record) + &format!("\nSeed {}\n", record.seed)
}

fn observed(record: &Record) -> String {
    let Some(first) = record.observed.first() else { return String::new() };
    let mut text = format!(
        "\nObserver effect: {} has {} as szc sees it, and with\n",
        first.function,
        percent(first.without)
    );
    for (index, one) in record.observed.iter().enumerate() {
        text += &match one.with {
            Some(with) => format!(
                "  {} {}, {:.2} points\n",
                label(index),
                percent(with),
                100.0 * (with - one.without).abs()
            ),
            None => format!("  {} it is not seen: it does not run as it is\n", label(index)),
        };
    }
    text
}

/// A, B, C …
fn label(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|&index| index < 26)
        .map_or_else(|| format!("#{index}"), |index| char::from(b'A' + index).to_string())
}

fn columns(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| format!("{cell:>9}   ")).collect()
}

/// The hottest of each.
fn shown(record: &Record, top: usize) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for profiled in &record.profilers {
        for name in profiled.hottest().into_iter().take(top) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let share = |name: &str| record.profilers.iter().map(|one| one.share(name)).sum::<f64>();
    names.sort_by(|a, b| share(b).total_cmp(&share(a)));
    names
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::disagree::analysis::tests::three;
    use crate::profile::disagree::analysis::{pairs, unions};
    use crate::profile::disagree::record::Observed;

    #[test]
    fn tables_show_shares_unions_pairs_and_the_observer_effect() {
        let profilers = three();
        let seen = |with| Observed { function: "f".into(), without: 0.6, with };
        let record = Record {
            szc_disagree: 1,
            command: vec!["./a".into()],
            seed: 3,
            runs: 5,
            unions: unions(&profilers, 2),
            pairs: pairs(&profilers, &[].into()),
            has_calls: false,
            profilers,
            observed: vec![seen(Some(0.55)), seen(None)],
        };
        let text = report(&record, 2);
        assert!(text.contains("  60.00 %     50.00 %     10.00 %   f\n"), "{text}");
        assert!(text.contains("1: 2   2: 4\n"), "{text}");
        assert!(text.contains("A and B agree: f, 60.00 % by A, 50.00 % by B"), "{text}");
        assert!(text.contains("A and C disagree: f, 60.00 % by A, 10.00 % by C; i, 0.00 %"));
        assert!(text.contains("No profiler has seen calls"), "{text}");
        assert!(text.contains("  A 55.00 %, 5.00 points\n  B it is not seen"), "{text}");
    }
}
