//! What the program's start decides about all libraries, those to come too.

use szc_code::budget::Budget;
use szc_layout::rng::Seeds;
use szc_layout::slot::CopyShape;

/// What is to be done with libraries.
pub struct Wanted {
    /// Seeds of all layouts.
    pub seeds: Seeds,
    /// Their code is copied.
    pub code: bool,
    /// What copies are to be like.
    pub shape: CopyShape,
    /// Their frames get pads.
    pub stack: bool,
    /// Memory for copies of the program's code.
    pub budget: Budget,
}
