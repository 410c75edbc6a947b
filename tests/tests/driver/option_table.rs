//! The table of options against the installed clang: does the driver agree with it about
//! which arguments are values of options, and which are inputs?

use std::ffi::OsString;
use szc::drive::args::classify;
use szc_tests::tools::Place;

/// Words behind an option, of which it takes the first few as its values.
const BEHIND: usize = 3;

fn args_behind(number: usize) -> [String; BEHIND] {
    std::array::from_fn(|index| format!("behind-{number}-{index}"))
}

/// What a command line has for clang to miss: the arguments it takes for input files.
fn inputs_of_clang(place: &Place, options: &[(usize, String)]) -> Vec<usize> {
    let mut command = place.command("clang-22");
    command.arg("-###").arg("-c");
    for (number, option) in options {
        command.arg(option).args(args_behind(*number));
    }
    let output = command.output().expect("clang-22 starts");
    let missed = String::from_utf8_lossy(&output.stderr);
    options
        .iter()
        .map(|(number, _)| {
            let is_missed =
                |word: &String| missed.contains(&format!("no such file or directory: '{word}'"));
            args_behind(*number).iter().filter(|word| is_missed(word)).count()
        })
        .collect()
}

fn inputs_of_szc((number, option): &(usize, String)) -> usize {
    let args = std::iter::once(option.clone()).chain(args_behind(*number));
    classify(args.map(OsString::from).collect()).facts.files.len()
}

#[test]
fn the_driver_and_clang_agree_about_every_option_that_clang_offers() {
    let place = Place::new();
    let offered = place.run("clang-22", &["--autocomplete=-"]);
    let options: Vec<_> = offered
        .lines()
        .filter_map(|line| line.split('\t').next())
        .map(str::trim)
        // Help texts run over several lines. Warnings are thousands, and all alike.
        .filter(|option| option.starts_with('-') && !option.starts_with("-W"))
        .filter(|option| !matches!(*option, "-###" | "--" | "-gen-reproducer"))
        .filter(|option| {
            !classify(vec![option.into(), "x".into(), "y".into(), "z".into()]).facts.only_asks
        })
        .map(str::to_owned)
        .enumerate()
        .collect();
    assert!(options.len() > 1_000, "clang offers only {}", options.len());

    let mut disagreements = Vec::new();
    for batch in options.chunks(50) {
        for (option, inputs) in batch.iter().zip(inputs_of_clang(&place, batch)) {
            // Options in one batch disturb each other; alone they count.
            if inputs != inputs_of_szc(option) {
                let alone = inputs_of_clang(&place, std::slice::from_ref(option))[0];
                if alone != inputs_of_szc(option) {
                    disagreements.push(format!(
                        "{}: of {BEHIND} args behind it clang takes {alone} for inputs, szc {}",
                        option.1,
                        inputs_of_szc(option)
                    ));
                }
            }
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}
