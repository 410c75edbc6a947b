//! What may be selected: patterns for programs and libraries, sources, and functions.
#![forbid(unsafe_code)]

use std::path::Path;

/// A path or name in which `%` and `*` stand for anything. One without a slash at its beginning may
/// match behind any slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// From an option.
    pub fn new(text: &str) -> Self {
        Self(text.replace('*', "%"))
    }

    /// Whether a name or path matches.
    pub fn matches(&self, text: &str) -> bool {
        if matches(self.0.as_bytes(), text.as_bytes()) {
            return true;
        }
        let mut behind = text.match_indices('/').map(|(at, _)| &text[at + 1..]);
        !self.0.starts_with('/') && behind.any(|rest| matches(self.0.as_bytes(), rest.as_bytes()))
    }
}

fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return text.is_empty() };
    if *first == b'%' {
        return (0..=text.len()).any(|at| matches(rest, &text[at..]));
    }
    text.split_first().is_some_and(|(begin, behind)| begin == first && matches(rest, behind))
}

/// What may be selected.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Programs and libraries; if there are none, the program of each process.
    pub binaries: Vec<Pattern>,
    /// Sources; if there are none, all.
    pub sources: Vec<Pattern>,
    /// Sources that are left out.
    pub source_excludes: Vec<Pattern>,
    /// Functions that are left out.
    pub function_excludes: Vec<Pattern>,
}

impl Scope {
    /// Whether code of a program or library may be selected.
    pub fn has_binary(&self, path: &str, program: Option<&Path>) -> bool {
        if self.binaries.is_empty() {
            return program.is_some_and(|program| program == Path::new(path));
        }
        self.binaries.iter().any(|pattern| pattern.matches(path))
    }

    /// Whether lines of a source may.
    pub fn has_source(&self, file: &str) -> bool {
        let is_in = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(file));
        (self.sources.is_empty() || is_in(&self.sources)) && !is_in(&self.source_excludes)
    }

    /// Whether code of a function may.
    pub fn has_function(&self, name: &str) -> bool {
        !self.function_excludes.iter().any(|pattern| pattern.matches(name))
    }

    /// In words.
    pub fn describe(&self) -> Vec<String> {
        let kinds = [
            ("binary", &self.binaries),
            ("source", &self.sources),
            ("not source", &self.source_excludes),
            ("not function", &self.function_excludes),
        ];
        let words = |(kind, patterns): (&str, &Vec<Pattern>)| {
            patterns.iter().map(|pattern| format!("{kind} {}", pattern.0)).collect::<Vec<_>>()
        };
        kinds.into_iter().flat_map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_path_a_part_of_one_behind_a_slash_or_has_signs_for_anything() {
        let matches = |pattern: &str, text| Pattern::new(pattern).matches(text);
        assert!(matches("/home/a/src/b.c", "/home/a/src/b.c") && matches("b.c", "/home/a/src/b.c"));
        assert!(matches("src/b.c", "/home/a/src/b.c") && matches("src/%", "/home/a/src/b.c"));
        assert!(matches("%/src/%", "/home/a/src/b.c") && matches("*.c", "b.c"));
        assert!(!matches("b.c", "/home/bb.c") && !matches("/src/b.c", "/home/src/b.c"));
        assert!(!matches("a", "b") && matches("%", ""));
    }

    #[test]
    fn by_default_the_program_itself_may_be_selected_with_all_its_sources() {
        let scope = Scope::default();
        let program = Some(Path::new("/bin/a"));
        assert!(scope.has_binary("/bin/a", program) && !scope.has_binary("/lib/libc.so", program));
        assert!(scope.has_source("x.c") && scope.has_function("f"));
    }

    #[test]
    fn what_is_excluded_is_out_of_scope_whatever_else_is_said() {
        let scope = Scope {
            sources: vec![Pattern::new("src/%")],
            source_excludes: vec![Pattern::new("b.c")],
            function_excludes: vec![Pattern::new("main")],
            ..Scope::default()
        };
        assert!(scope.has_source("/x/src/a.c") && !scope.has_source("/x/src/b.c"));
        assert!(!scope.has_source("/x/a.c") && !scope.has_function("main"));
    }
}
