//! Finds the libraries that szc has linked, among all images that are loaded, by their notes.
//!
//! Sources: dl_iterate_phdr(3); System V ABI, chapter 5 (program header, note section).

use crate::arch;
use crate::os::{self, Errno, File, PAGE_BYTES};
use core::ffi::{CStr, c_char, c_int, c_void};
use szc_abi::elf::{PROGRAM_HEADER_BYTES, PT_LOAD, PT_NOTE, segments_in};
use szc_abi::library::{LibraryImage, LibraryNote, NOTE_DESCRIPTOR_AT, NOTE_NAME, NOTE_TYPE};

/// A library in memory.
pub struct Found<'a> {
    /// Address of its ELF header.
    pub base: usize,
    /// The path that it was loaded from.
    pub path: &'a CStr,
    /// Digest of its table, 0 if it has none.
    pub table_digest: u64,
    /// What it says about itself. Addresses are 0 or lie in the library.
    pub image: LibraryImage,
    /// Where its note says the version.
    version_at: usize,
}

impl Found<'_> {
    /// Makes the note one that is never found again, in memory, for as long as the library is
    /// loaded.
    pub fn hide(&self) -> Result<(), Errno> {
        let memory = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE)?;
        // SAFETY: nothing reads the note but `find`, in this process alone: the mapping is private.
        unsafe { memory.write_at(&[0; VERSION_BYTES], self.version_at) }
    }

    /// The last part of its path.
    pub fn file_name(&self) -> &[u8] {
        self.path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or(&[])
    }
}

/// The first fields of `struct dl_phdr_info`.
#[repr(C)]
struct Info {
    bias: usize,
    path: *const c_char,
    headers: *const u8,
    count: u16,
}

/// Bytes of the version in a note.
const VERSION_BYTES: usize = 4;

type Visit<'a> = &'a mut dyn FnMut(&Found<'_>);

/// Calls `visit` with each library that szc has linked, in the order of loading.
pub fn for_each(mut visit: Visit<'_>) {
    if let Some(iterate) = arch::weak_iterate_images() {
        // SAFETY: it calls back before it returns, with this argument.
        unsafe { iterate(look, (&raw mut visit).cast()) };
    }
}

/// # Safety
/// As dl_iterate_phdr(3) calls it; `visit` is a [`Visit`].
unsafe extern "C" fn look(info: *const c_void, _bytes: usize, visit: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; headers and path stay as long as the image.
    unsafe {
        let info = &*info.cast::<Info>();
        let headers = core::slice::from_raw_parts(
            info.headers,
            usize::from(info.count) * PROGRAM_HEADER_BYTES,
        );
        if let Some(found) = find(info, headers) {
            let visit = &mut *visit.cast::<Visit<'_>>();
            visit(&found);
        }
    }
    0
}

/// # Safety
/// The headers must be those of an image that is loaded.
unsafe fn find<'a>(info: &Info, headers: &[u8]) -> Option<Found<'a>> {
    let segments = |kind| segments_in(headers).filter(move |segment| segment.kind == kind);
    for segment in segments(PT_NOTE) {
        // SAFETY: a note's segment is part of a loaded one.
        let notes = unsafe {
            core::slice::from_raw_parts(
                (info.bias + segment.address as usize) as *const u8,
                segment.bytes,
            )
        };
        let Some(at) = note_in(notes, segment.alignment) else { continue };
        let descriptor = notes.get(at..at + LibraryNote::BYTES)?;
        let table_digest = u64::from_le_bytes(*descriptor.first_chunk()?);
        let field = descriptor.get(LibraryNote::IMAGE_AT..)?;
        let distance = i32::from_le_bytes(*field.first_chunk()?);
        let version = u32::from_le_bytes(*field.get(4..)?.first_chunk()?);
        if version != szc_abi::ABI_VERSION {
            return None;
        }
        let version_at = field.as_ptr() as usize + size_of_val(&distance);
        let image = (field.as_ptr() as usize).wrapping_add_signed(distance as isize);
        let lowest = segments(PT_LOAD).map(|load| load.address as usize).min()?;
        let highest = segments(PT_LOAD).map(|load| load.address as usize + load.bytes).max()?;
        let inside = |address: usize| (info.bias + lowest..=info.bias + highest).contains(&address);
        if !inside(image) {
            return None;
        }
        // SAFETY: it lies in the image, where the link step has put it.
        let image = unsafe { (image as *const LibraryImage).read_unaligned() };
        let addresses = [
            image.functions,
            image.functions_end,
            image.tables,
            image.tables_end,
            image.pad_state_offset,
        ];
        if !addresses.into_iter().all(|address| address == 0 || inside(address)) {
            return None;
        }
        return Some(Found {
            base: info.bias + (lowest & !(PAGE_BYTES - 1)),
            // SAFETY: the loader's name of the image.
            path: unsafe { CStr::from_ptr(info.path) },
            table_digest,
            image,
            version_at,
        });
    }
    None
}

/// Offset of the descriptor of szc's note.
fn note_in(notes: &[u8], alignment: usize) -> Option<usize> {
    let alignment = if alignment == 8 { 8 } else { 4 };
    let mut at = 0usize;
    loop {
        let word = |index: usize| {
            let bytes = notes.get(at + 4 * index..)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let (name, descriptor, kind) = (word(0)? as usize, word(1)? as usize, word(2)?);
        let name_at = at + 12;
        let descriptor_at = (name_at + name).next_multiple_of(alignment);
        if kind == NOTE_TYPE
            && notes.get(name_at..name_at + name)? == NOTE_NAME.as_slice()
            && descriptor >= LibraryNote::BYTES
        {
            return Some(descriptor_at);
        }
        at = (descriptor_at + descriptor).next_multiple_of(alignment);
    }
}

const _: () = assert!(NOTE_DESCRIPTOR_AT == 12 + NOTE_NAME.len());

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, descriptor: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, descriptor.len() as u32, kind] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(descriptor);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn the_note_is_found_behind_others_and_not_where_there_is_none() {
        let others = [note(b"GNU\0", 3, &[7; 20]), note(b"szc\0", 2, &[1; 16])].concat();
        let whole = [others.clone(), note(b"szc\0", 1, &[9; 16])].concat();
        let at = note_in(&whole, 4).expect("there is one");
        assert_eq!(whole[at..at + 16], [9; 16]);
        assert_eq!(note_in(&others, 4), None);
        assert_eq!(note_in(&whole[..others.len() + 15], 4), None);
        assert_eq!(note_in(&[0xff; 40], 4), None);
    }

    #[test]
    fn test_programs_have_no_library_of_szc() {
        let mut count = 0;
        for_each(&mut |_| count += 1);
        assert_eq!(count, 0);
    }
}
