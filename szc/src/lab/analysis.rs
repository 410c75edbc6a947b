//! The results of a samples file with their sentences.
#![forbid(unsafe_code)]

use crate::report::sentence::put_into_words;
use crate::results;
use crate::samples::SamplesFile;

/// Writes down all results that follow from the runs of `file`, sentences included.
pub fn analyse(file: &mut SamplesFile) {
    results::analyse(file);
    put_into_words(file);
}
