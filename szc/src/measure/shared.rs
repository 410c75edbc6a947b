//! Functions that two programs share, by the numbers of their canonical names: the runtime draws
//! where each lies by such a number, so under the same seed these lie alike in both.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use object::{Object, ObjectSection};
use szc_abi::{TABLE_SECTION, Table};

use crate::samples::{ProgramRecord, SharedRecord};

/// Notes for each program behind the first how many of its movable functions the first has, too;
/// of programs of which either has no table, nothing.
pub fn note(programs: &mut [ProgramRecord]) {
    let names = |program: &ProgramRecord| {
        names(&program.executable.as_ref()?.path).filter(|names| !names.is_empty())
    };
    let Some((first, others)) = programs.split_first_mut() else {
        return;
    };
    let Some(of_first) = names(first) else {
        return;
    };
    for program in others {
        program.shared = names(program).map(|own| SharedRecord {
            movable: own.len() as u64,
            shared: own.intersection(&of_first).count() as u64,
        });
    }
}

/// The numbers of the names of an image's movable functions.
fn names(path: &Path) -> Option<HashSet<u64>> {
    let data = fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let table = Table::parse(file.section_by_name(TABLE_SECTION)?.data().ok()?).ok()?;
    let functions = (0..table.movable_count()).filter_map(|index| table.movable(index));
    Some(functions.map(|function| function.name_hash).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;
    use crate::samples::Executable;

    #[test]
    fn nothing_is_said_of_files_without_a_table() {
        let executable = Executable { path: "/proc/self/exe".into(), ..Executable::default() };
        let of = |executable| ProgramRecord { executable, ..examples::program("A", "one") };
        let mut programs = [of(Some(executable)), of(None)];
        note(&mut programs);
        assert!(programs.iter().all(|program| program.shared.is_none()));
        note(&mut []);
    }
}
