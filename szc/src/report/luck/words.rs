//! What functions, frames and blocks are called where their luck is told.
#![forbid(unsafe_code)]

use crate::samples::luck::{Feature, NamedRecord, Part};
use crate::samples::printable;

/// What the columns of the table are.
#[must_use]
pub const fn head(part: Part) -> [&'static str; 6] {
    let [whose, what] = match part {
        Part::Code => ["function", "what of its address"],
        Part::Stack => ["function", "what of its frame"],
        Part::Heap => ["blocks", "what of them"],
    };
    [whose, what, "share", "adjusted p", "best", "worst"]
}

/// What layouts are of.
#[must_use]
pub const fn noun(part: Part) -> &'static str {
    match part {
        Part::Code => "code",
        Part::Stack => "frames",
        Part::Heap => "blocks",
    }
}

/// What is counted that ran, or was there, in all layouts.
#[must_use]
pub const fn counted(part: Part) -> &'static str {
    match part {
        Part::Code | Part::Stack => "functions",
        Part::Heap => "sizes of blocks",
    }
}

/// The function, the pair or the blocks that are named.
#[must_use]
pub fn whose(named: &NamedRecord) -> String {
    let function = called(&named.function, Some(named.feature));
    named
        .from
        .as_ref()
        .map_or_else(|| function.clone(), |from| format!("{} and {function}", printable(from)))
}

/// A function, or blocks by their sizes.
#[must_use]
pub fn called(name: &str, feature: Option<Feature>) -> String {
    if feature != Some(Feature::Draw) {
        return printable(name);
    }
    match name.split_once('-') {
        Some(("0", most)) => format!("blocks of up to {most} bytes"),
        Some((least, "")) => format!("blocks of {least} bytes and more"),
        Some((least, most)) => format!("blocks of {least} to {most} bytes"),
        None => printable(name),
    }
}

/// What of it goes with the time: a function's offset, or the draw of blocks.
#[must_use]
pub fn possession(named: &NamedRecord) -> String {
    if named.feature == Feature::Draw {
        return format!("the draw of {}", whose(named));
    }
    format!("{}'s {}", whose(named), feature(named.feature))
}

/// What of an address is looked at, in words.
#[must_use]
pub const fn feature(feature: Feature) -> &'static str {
    match feature {
        Feature::Half => "offset mod 32",
        Feature::Line => "offset mod 64",
        Feature::Page => "eighth of a page",
        Feature::FrameLine => "frame mod 64",
        Feature::FramePage => "frame by eighths of a page",
        Feature::FrameSet => "frame by lines of a page",
        Feature::PadPage => "pad by eighths of a page",
        Feature::PadSet => "pad by lines",
        Feature::GapPage => "distance in a page by eighths",
        Feature::GapSet => "distance in a page by lines",
        Feature::Draw => "draw",
    }
}

/// What a class of it is.
#[must_use]
pub const fn class(feature: Feature) -> &'static str {
    if matches!(feature, Feature::Draw) { "draws" } else { "offsets" }
}

/// A share of the variance.
#[must_use]
pub fn share(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_called_by_their_sizes() {
        let blocks = |sizes| called(sizes, Some(Feature::Draw));
        assert_eq!(blocks("0-32"), "blocks of up to 32 bytes");
        assert_eq!(blocks("33-64"), "blocks of 33 to 64 bytes");
        assert_eq!(blocks("16385-"), "blocks of 16385 bytes and more");
        assert_eq!(called("0-32", None), "0-32");
    }
}
