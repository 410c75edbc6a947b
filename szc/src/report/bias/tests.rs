//! Tests of what is said of setups.

use super::*;
use crate::examples::file_of;
use crate::samples::Command;
use crate::samples::bias::{Factor, SetupRecord};

fn file(programs: &[u64], bias: BiasRecord) -> SamplesFile {
    let mut file = file_of(programs, 2);
    file.command = Command::Bias;
    file.bias = Some(bias);
    file
}

fn factor(p: Option<f64>, straddles: Option<bool>) -> FactorRecord {
    let setup = |size_bytes, value| SetupRecord { size_bytes, order: None, layout: None, value };
    FactorRecord {
        factor: Factor::Env,
        setups: vec![setup(0, 1.02), setup(16, 0.91), setup(32, 1.0)],
        lowest: 0.91,
        highest: 1.02,
        height: 0.1209,
        straddles,
        p,
        sd_setups: p.map(|_| 0.02),
    }
}

fn of_factor(p: Option<f64>) -> String {
    let bias = BiasRecord { factors: vec![factor(p, Some(true))], ..BiasRecord::default() };
    report(&file(&[1000, 1000], bias), false)
}

#[test]
fn a_factor_that_matters_is_told_from_one_that_does_not() {
    let text = of_factor(Some(1e-9));
    let said = "What changes the answer is the size of the environment: B / A is between 0.910 \
                (+16 bytes) and 1.020 (+0 bytes) in 3 setups, and which is faster depends on it.";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("12.09 %"), "{text}");
    assert!(of_factor(Some(0.3)).contains("not more than blocks of one setup"));
    assert!(of_factor(None).contains("--repeats 2"));
}

#[test]
fn of_one_program_the_values_are_amounts() {
    let bias = BiasRecord { factors: vec![factor(Some(0.0), None)], ..BiasRecord::default() };
    let text = report(&file(&[1000], bias), true);
    assert!(text.contains("CPU time of A is between 910.0 ms (+16 bytes)"), "{text}");
    assert!(!text.contains("depends on it"));
}

#[test]
fn each_cause_has_its_verdict() {
    let cause = |cause, verdict, remains| CauseRecord {
        cause,
        effect: 1.1,
        interval: [1.0, 1.2],
        remains,
        p_gone: 1.0,
        p_remains: 1.0,
        verdict,
    };
    let causal = CausalRecord {
        sizes_bytes: [16, 512],
        n: 20,
        effect: 1.331,
        interval: [1.3, 1.36],
        shown: true,
        causes: vec![
            cause(Condition::Stack, CauseVerdict::Confirmed, 0.01),
            cause(Condition::Contents, CauseVerdict::Rejected, 0.99),
            cause(Condition::Heap, CauseVerdict::Undecided, 0.5),
        ],
    };
    let of = |causal| {
        report(&file(&[1000], BiasRecord { causal: Some(causal), ..BiasRecord::default() }), false)
    };
    let text = of(causal.clone());
    for said in [
        "1.331 times as large at +512 as at +16 bytes",
        "Cause confirmed: the start of the stack. With it held, 1 % of the difference remain.",
        "Cause rejected: the contents of the environment.",
        "Not decided whether the start of the heap is a cause",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let none = of(CausalRecord { shown: false, ..causal });
    assert!(none.contains("no cause to name") && !none.contains("Cause "), "{none}");
}

#[test]
fn setups_at_random_come_with_what_a_single_one_says() {
    let drawn = DrawnRecord {
        n: 412,
        value: 1.007,
        interval: [1.004, 1.01],
        precision: 0.003,
        sd_setups: 0.02,
        wrong_side: Some(0.36),
        off: 0.62,
        setups: Vec::new(),
    };
    let bias = BiasRecord { drawn: Some(drawn), ..BiasRecord::default() };
    let text = report(&file(&[1000, 1000], bias), false);
    assert!(text.contains("B / A is 1.0070: 95 % interval 1.0040 to 1.0100 (± 0.3 %)"), "{text}");
    assert!(text.contains("off by more than 1 % in 62 % of cases"), "{text}");
    assert!(text.contains("takes the slower for the faster one in 36 %"), "{text}");
}

#[test]
fn without_results_that_is_said() {
    let mut file = file(&[1000], BiasRecord::default());
    file.bias = None;
    assert!(report(&file, false).starts_with("Nothing is known yet"));
}
