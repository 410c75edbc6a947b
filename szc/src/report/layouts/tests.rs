//! Sentences about one program.

use super::*;
use crate::examples::{analysed, layouts_of};

fn spread() -> SamplesFile {
    layouts_of(&[(1000, 1), (1100, 0), (1200, 1), (1300, 0), (1400, 1), (1500, 0)])
}

#[test]
fn the_sentence_has_mean_interval_n_and_method() {
    let sentence = run_sentence(&spread(), 0);
    assert!(
        sentence.starts_with("A (-O2) takes 1.250 s of CPU time on average: 95 % interval 1.05"),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("n = 6 layouts (9 runs), t interval of the mean over layouts."),
        "{sentence}"
    );
}

#[test]
fn the_share_of_the_layouts_is_said_with_what_it_rests_on() {
    let remarks = run_remarks(&spread(), 0);
    assert!(
        remarks[0].starts_with("Layouts by seed account for 100 % of the variance (sd 1"),
        "{remarks:?}"
    );
    assert!(remarks[0].contains("3 layouts, each run 2 times"), "{remarks:?}");
    assert!(remarks[1].contains("with a probability of 80 %"), "{remarks:?}");
}

#[test]
fn layouts_that_add_nothing_are_not_given_a_share() {
    let noisy = layouts_of(&[(1000, 90), (1000, 0), (1001, 90), (999, 0), (1000, 80), (1001, 0)]);
    let remarks = run_remarks(&noisy, 0);
    assert!(remarks[0].starts_with("No variance between seeds was found"), "{remarks:?}");
}

#[test]
fn a_precision_that_was_not_reached_is_said() {
    let mut file = spread();
    file.design.precision = Some(0.001);
    file.design.rule = RuleRecord::Sequential;
    let remarks = run_remarks(&analysed(file), 0);
    assert!(remarks[0].contains("was not reached: 6 layouts are too few"), "{remarks:?}");
}

#[test]
fn a_program_that_is_not_randomized_is_about_one_layout() {
    let mut file = spread();
    file.programs[0].randomized = false;
    assert!(run_sentence(&file, 0).contains("one layout only"));
    assert!(run_remarks(&file, 0)[0].contains("only its environment and addresses varied"));
}

#[test]
fn nothing_measured_is_no_result() {
    let file = layouts_of(&[]);
    assert!(run_sentence(&file, 0).starts_with("No result on A (-O2)"));
    assert!(run_remarks(&file, 0).is_empty());
}
