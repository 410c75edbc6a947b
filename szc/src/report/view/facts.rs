//! Facts about how an experiment was made, as lines of text.
#![forbid(unsafe_code)]

use crate::samples::SamplesFile;

/// The command line as a shell reads it.
#[must_use]
pub fn command_line(file: &SamplesFile) -> String {
    file.command_line.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
}

/// The command line with the experiment's seed, so that it is the same experiment again; of a file
/// that was made of others, what made it.
#[must_use]
pub fn reproduction(file: &SamplesFile) -> String {
    let options = file.command_line.iter().take_while(|word| *word != "--");
    let has_seed = options.clone().any(|word| word == "--seed" || word.starts_with("--seed="));
    if has_seed || !file.was_measured() {
        return command_line(file);
    }
    let mut args: Vec<String> = file.command_line.iter().map(|word| quoted(word)).collect();
    let place = args.len().min(2);
    args.insert(place, format!("--seed {}", file.design.plan.seed));
    args.join(" ")
}

/// `word` in the form that POSIX shells read as this one word.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("--seed=7"), "--seed=7");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$(rm)"), "'$(rm)'");
    }
}
