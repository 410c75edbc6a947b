//! What the compiler left about single functions: the records of the section `szc_functions`.

use crate::read::Image;
use szc_abi::Reason;
use szc_abi::stack::{FUNCTIONS_SECTION, FunctionRecord, Stay};

/// One record, with the function it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Address of its flags.
    pub flags_at: u64,
    /// [`FunctionRecord::flags`].
    pub flags: u16,
    /// Address of the function's entry.
    pub entry: u64,
    /// Bytes of the function, or of its first part, as it was compiled.
    pub size: u64,
    /// It pads its frame itself.
    pub padded: bool,
    /// Its frame may have another size in copies, as far as the compiler knows.
    pub resizable: bool,
    /// It seems to bound the stack by addresses.
    pub bounds_stack: bool,
    /// Addresses of its variables may be kept, so they must stay where they are in the frame.
    pub addressed: bool,
    /// Why it is pinned, if the compiler says so.
    pub pinned: Option<Reason>,
}

/// All records of an image.
pub fn all<'image>(image: &'image Image<'_>) -> impl Iterator<Item = Record> + 'image {
    image.sections.iter().filter(|section| section.name == FUNCTIONS_SECTION).flat_map(|section| {
        let places = (section.address..).step_by(FunctionRecord::BYTES);
        section.data.chunks_exact(FunctionRecord::BYTES).zip(places).filter_map(read)
    })
}

fn read((bytes, address): (&[u8], u64)) -> Option<Record> {
    let record = FunctionRecord::read(bytes)?;
    // Linkers pad sections with zeros.
    (record.entry != 0).then(|| Record {
        flags_at: address + FunctionRecord::FLAGS_AT,
        flags: record.flags,
        entry: address.wrapping_add_signed(i64::from(record.entry)),
        size: record.size.into(),
        padded: record.flags & FunctionRecord::FLAG_PADDED != 0,
        resizable: record.flags & FunctionRecord::FLAG_RESIZABLE != 0,
        bounds_stack: record.flags & FunctionRecord::FLAG_BOUNDS_STACK != 0,
        addressed: record.flags & FunctionRecord::FLAG_ADDRESSED != 0,
        pinned: Stay::from_code(record.stay).map(Reason::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_relative_to_its_own_place() {
        let record = FunctionRecord { entry: -0x100, size: 64, flags: 1, stay: Stay::Naked as u8 };
        assert_eq!(
            read((&record.encode(), 0x2000)),
            Some(Record {
                flags_at: 0x2008,
                flags: 1,
                entry: 0x1f00,
                size: 64,
                padded: true,
                resizable: false,
                bounds_stack: false,
                addressed: false,
                pinned: Some(Reason::Naked)
            })
        );
        assert_eq!(read((&[0; FunctionRecord::BYTES], 0x2000)), None);
    }
}
