//! Which layout of a program tells most of its call paths apart.
#![forbid(unsafe_code)]

use std::fs;

use object::{Object as _, ObjectKind, ObjectSection as _};
use szc_abi::{TABLE_SECTION, Table};
use szc_sampler::copies::ImagePads;
use szc_sampler::heights::map::PathMap;
use szc_sampler::heights::search::{Chosen, best};

/// The best of the layouts of the seeds from 1 on, if szc built the program of a map.
pub fn search(map: &PathMap, layouts: u32) -> Option<Chosen> {
    let programs = (0..).zip(&map.files).filter_map(|(index, path)| Some((index, program(path)?)));
    let (file, program) = programs.into_iter().next()?;
    best(map, (file, &program), 1..=u64::from(layouts))
}

/// The movable functions of a program, and those whose frames have pads, at addresses as linked;
/// nothing if none have.
fn program(path: &str) -> Option<ImagePads> {
    let data = fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    // Libraries have layouts of their own, by other seeds.
    if file.kind() != ObjectKind::Executable {
        file.section_by_name(".interp")?;
    }
    let table = Table::parse(file.section_by_name(TABLE_SECTION)?.data().ok()?).ok()?;
    let address = |start: u32| table.header().link_base() + u64::from(start);
    let all = || (0..table.movable_count()).filter_map(|index| table.movable(index));
    let mut starts: Vec<u64> = all().map(|function| address(function.start)).collect();
    let mut functions: Vec<(u64, u64)> = all()
        .filter(szc_abi::Movable::has_frame)
        .map(|function| (address(function.start), function.name_hash))
        .collect();
    // Without the pass no frame has a pad.
    if functions.is_empty() {
        return None;
    }
    starts.sort_unstable();
    functions.sort_unstable();
    Some(ImagePads { functions: functions.into(), starts: starts.into(), ..ImagePads::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_szc_did_not_build_has_no_layouts() {
        let map = PathMap { files: vec!["/proc/self/exe".into()], ..PathMap::default() };
        assert_eq!(search(&map, 9), None);
        assert_eq!(search(&PathMap::default(), 9), None);
    }
}
