//! The references between the functions and data of an image: the first half of the work, which
//! decides nothing yet.

use crate::jump_tables::{self, JumpTables};
use crate::noreturn;
use crate::pc_tables::{self, Covered};
use crate::read::Image;
use crate::survey::Survey;
use szc_abi::Reason;

/// References between functions and data of an image.
#[derive(Debug)]
pub struct References<'data> {
    pub(crate) survey: Survey<'data>,
    pub(crate) jump_tables: JumpTables,
    /// What a table of return addresses covers, if there is one.
    pub(crate) covered: Option<Covered>,
}

impl<'data> References<'data> {
    /// Collects them.
    #[must_use]
    pub fn of(image: &Image<'data>) -> Self {
        let mut survey = Survey::new(image);
        for index in noreturn::falling_through(image, &survey) {
            survey.functions[index].pinned.get_or_insert(Reason::FallsThrough);
        }
        let jump_tables = jump_tables::find(image, &survey);
        Self { survey, jump_tables, covered: pc_tables::covered(image) }
    }
}
