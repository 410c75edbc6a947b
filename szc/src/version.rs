//! Which szc this is.
#![forbid(unsafe_code)]

/// The version in numbers.
pub const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The commit, of a release that was built from a repository.
pub const COMMIT: Option<&str> = option_env!("SZC_COMMIT");

/// Both in words.
#[must_use]
pub fn words() -> String {
    match COMMIT {
        Some(commit) => format!("szc {NUMBER} ({commit})"),
        None => format!("szc {NUMBER}"),
    }
}
