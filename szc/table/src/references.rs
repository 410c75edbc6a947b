//! Who refers to what in an image: the first half of the work, which decides nothing yet.

use crate::endings;
use crate::jump_tables::{self, Found};
use crate::pc_tables::{self, Covered};
use crate::read::Image;
use crate::survey::Survey;
use szc_abi::Reason;

/// Who refers to what in an image.
#[derive(Debug)]
pub struct References<'data> {
    pub(crate) survey: Survey<'data>,
    pub(crate) found: Found,
    /// What a table of return addresses covers, if there is one.
    pub(crate) covered: Option<Covered>,
}

impl<'data> References<'data> {
    /// Collects them.
    #[must_use]
    pub fn of(image: &Image<'data>) -> Self {
        let mut survey = Survey::new(image);
        for index in endings::run_on(image, &survey) {
            survey.functions[index].pinned.get_or_insert(Reason::FallsThrough);
        }
        let found = jump_tables::find(image, &survey);
        Self { survey, found, covered: pc_tables::covered(image) }
    }
}
