//! Tests of what is computed from setups.

use super::*;
use crate::examples::file_of;
use crate::samples::bias::CauseVerdict;
use crate::samples::setups::Condition;
use crate::samples::{Command, RuleRecord};

/// 16 sizes of the environment, each in two blocks. `time` gives the milliseconds of a run of a
/// program in a setup.
fn file(
    programs: usize,
    setups: Setups,
    blocks: u32,
    time: impl Fn(usize, Setup) -> f64,
) -> SamplesFile {
    let mut file = file_of(&vec![1000; programs], 1);
    file.command = Command::Bias;
    file.design.rule = RuleRecord::Sequential;
    file.design.plan.setups = Some(setups);
    file.design.plan.blocks = blocks;
    file.design.complete_blocks = blocks;
    file.runs.clear();
    for block in 0..blocks {
        for run in file.design.plan.block_runs(block) {
            let noise = f64::from((block * 7 + run.position * 5) % 11) / 11.0;
            let milliseconds = time(run.program, run.setup.unwrap()) + noise;
            let mut sample = crate::examples::sample_of(block, run.position, run.program, 1);
            sample.sys_us = 0;
            sample.user_us = format!("{:.0}", milliseconds * 1000.0).parse().unwrap();
            file.runs.push(sample);
        }
    }
    file
}

const SWEEP: Setups = Setups {
    sizes: 16,
    step_bytes: 256,
    drawn: false,
    repeats: 2,
    orders: 0,
    layouts: [0; 3],
    contrast: None,
};

#[test]
fn the_setup_that_is_slow_is_found_and_the_ratio_straddles_one() {
    let slow = |program, setup: Setup| match (program, setup.size_bytes) {
        (0, 512) => 1100.0,
        (0, _) => 1000.0,
        _ => 1020.0,
    };
    let file = file(2, SWEEP, 32, slow);
    let found = bias(&file).unwrap();
    let [factor] = &found.factors[..] else { panic!("{found:?}") };
    assert_eq!((factor.factor, factor.setups.len()), (Factor::Env, 16));
    assert_eq!(factor.straddles, Some(true));
    assert!((factor.height - 0.1).abs() < 0.003, "{factor:?}");
    assert!(factor.p.unwrap() < 1e-6 && factor.sd_setups.unwrap() > 0.02, "{factor:?}");
    assert_eq!(extreme_sizes(&file).unwrap()[0], 512);
}

#[test]
fn an_order_of_objects_is_a_factor_beside_the_environment() {
    let slow = |_, setup: Setup| if setup.order == 3 { 1100.0 } else { 1000.0 };
    let setups = Setups { orders: 8, ..SWEEP };
    let found = bias(&file(1, setups, 48, slow)).unwrap();
    let [env, link] = &found.factors[..] else { panic!("{found:?}") };
    assert_eq!((env.factor, env.setups.len()), (Factor::Env, 16));
    assert!(env.p.unwrap() > 0.01, "{env:?}");
    assert_eq!((link.factor, link.setups.len()), (Factor::Link, 8));
    assert!(link.p.unwrap() < 1e-6 && (link.height - 0.1).abs() < 0.003, "{link:?}");
    let slowest = link.setups.iter().find(|setup| setup.value == link.highest).unwrap();
    assert_eq!(slowest.order, Some(3));
}

#[test]
fn drawn_setups_of_two_factors_say_whose_the_differences_are() {
    let slow = |_, setup: Setup| 1000.0 * (1.0 + 0.02 * f64::from(setup.order % 4));
    let setups = Setups { orders: 8, drawn: true, ..SWEEP };
    let found = bias(&file(1, setups, 400, slow)).unwrap();
    let [env, link] = &found.split[..] else { panic!("{found:?}") };
    assert_eq!((env.factor, link.factor), (Factor::Env, Factor::Link));
    // Of the logarithms of 1, 1.02, 1.04 and 1.06, each twice.
    assert!((link.sd - 0.0234).abs() < 0.004 && link.p < 1e-6, "{link:?}");
    assert!(env.sd < 0.006 && env.p > 1e-4, "{env:?}");
}

#[test]
fn layouts_of_code_are_told_from_those_of_frames_and_heap() {
    let slow = |_, setup: Setup| 1000.0 * (1.0 + 0.02 * f64::from(setup.layouts[0] % 4));
    let setups = Setups { sizes: 0, layouts: [8, 8, 8], ..SWEEP };
    let each = bias(&file(1, setups, 48, slow)).unwrap();
    let [code, stack, heap] = &each.factors[..] else { panic!("{each:?}") };
    assert_eq!([code.factor, stack.factor, heap.factor], Factor::ALL[2..]);
    assert!(code.p.unwrap() < 1e-6 && (code.height - 0.06).abs() < 0.003, "{code:?}");
    assert!(stack.p.unwrap() > 0.01 && heap.p.unwrap() > 0.01, "{stack:?} {heap:?}");
    let crossed = bias(&file(1, Setups { drawn: true, ..setups }, 300, slow)).unwrap();
    let [code, stack, heap] = &crossed.split[..] else { panic!("{crossed:?}") };
    let [low, high] = code.interval.unwrap();
    assert!((code.sd - 0.0234).abs() < 0.004 && low > 0.01 && high < 0.06, "{code:?}");
    for other in [stack, heap] {
        assert!(other.interval.unwrap()[0] < 0.003, "{other:?}");
    }
}

#[test]
fn setups_that_are_alike_are_called_so() {
    let file = file(1, SWEEP, 32, |_, _| 1000.0);
    let factor = &bias(&file).unwrap().factors[0];
    assert!(factor.p.unwrap() > 0.01 && factor.straddles.is_none(), "{factor:?}");
}

#[test]
fn the_cause_is_what_removes_the_difference() {
    let contrast = Contrast { sizes_bytes: [0, 512], stack: true, heap: true };
    let setups = Setups { contrast: Some(contrast), ..SWEEP };
    // Slow at one position of the stack.
    let by_stack = |_, setup: Setup| {
        let position = setup.variables_bytes()[0] + setup.variables_bytes()[1];
        if (position + setup.lowered_bytes()) % 4096 == 512 { 1100.0 } else { 1000.0 }
    };
    let file = file(1, setups, 32 + 20, by_stack);
    let causal = bias(&file).unwrap().causal.unwrap();
    assert!(causal.shown && causal.n == 20 && (causal.effect - 1.1).abs() < 0.01, "{causal:?}");
    let verdicts: Vec<_> = causal.causes.iter().map(|cause| (cause.cause, cause.verdict)).collect();
    assert_eq!(
        verdicts,
        [
            (Condition::Stack, CauseVerdict::Confirmed),
            (Condition::Contents, CauseVerdict::Rejected),
            (Condition::Heap, CauseVerdict::Rejected),
        ]
    );
    assert!(is_answered(&file.design, &file.design.plan, 52, &file.runs));
    assert!(!is_answered(&file.design, &file.design.plan, 40, &file.runs));
}

#[test]
fn drawn_setups_say_how_often_a_single_one_misleads() {
    let setups = Setups { sizes: 256, step_bytes: 16, drawn: true, ..SWEEP };
    // B is 1 % slower in the mean, by ±3 % over setups.
    let by_size = |program, setup: Setup| match program {
        0 => 1000.0,
        _ => 980.0 + 60.0 * f64::from(setup.size_bytes) / 4080.0,
    };
    let mut file = file(2, setups, 200, by_size);
    file.design.precision = Some(0.005);
    let drawn = bias(&file).unwrap().drawn.unwrap();
    assert!((drawn.value - 1.01).abs() < 0.005, "{drawn:?}");
    assert_eq!(drawn.setups.len(), 200);
    let expected = |setup: &SetupRecord| 0.98 + 0.06 * f64::from(setup.size_bytes) / 4080.0;
    assert!(drawn.setups.iter().all(|setup| (setup.value - expected(setup)).abs() < 0.002));
    assert!(drawn.interval[0] < drawn.value && drawn.value < drawn.interval[1]);
    assert!((drawn.sd_setups - 0.0172).abs() < 0.003, "{drawn:?}");
    let wrong = drawn.wrong_side.unwrap();
    assert!((0.15..0.45).contains(&wrong) && (0.4..0.7).contains(&drawn.off), "{drawn:?}");
    assert!(is_answered(&file.design, &file.design.plan, 200, &file.runs));
}
