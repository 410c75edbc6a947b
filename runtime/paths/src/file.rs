//! The file that a process leaves: a header, the path of its program, and the profiles of its
//! threads, in words of the machine.

/// What such a file begins with: its form, and the version of it.
const FILE_MAGIC: [u32; 2] = [0x5a43_5041, 1];

/// Words of a header.
pub const HEADER_WORDS: usize = 8;

/// Longest path of a program, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;

/// What a file says of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileHeader {
    /// Its number.
    pub process: u32,
    /// Threads that have a profile in the file.
    pub profiles: u32,
    /// Words of each.
    pub words: u32,
    /// Threads that got none, for want of memory or because there were too many.
    pub unprofiled: u32,
    /// Threads whose profile was given up: a signal's handler left it by a long jump.
    pub abandoned: u32,
    /// Bytes of the program's path, which follows, filled up with zeros to a whole word.
    pub path_bytes: u32,
}

impl FileHeader {
    /// As it stands in a file.
    #[must_use]
    pub fn words(&self) -> [u32; HEADER_WORDS] {
        let [magic, version] = FILE_MAGIC;
        let Self { process, profiles, words, unprofiled, abandoned, path_bytes } = *self;
        [magic, version, process, profiles, words, unprofiled, abandoned, path_bytes]
    }

    /// The header of a file, the words of its path, and those of its profiles; nothing if it is
    /// none, or not whole.
    #[must_use]
    pub fn read(file: &[u32]) -> Option<(Self, &[u32], &[u32])> {
        let (header, rest) = file.split_first_chunk::<HEADER_WORDS>()?;
        let [magic, version, process, profiles, words, unprofiled, abandoned, path_bytes] = *header;
        let header = Self { process, profiles, words, unprofiled, abandoned, path_bytes };
        let path_words = (path_bytes as usize).div_ceil(size_of::<u32>());
        let (path, rest) = rest.split_at_checked(path_words)?;
        let total = (profiles as usize).checked_mul(words as usize)?;
        let is_one = [magic, version] == FILE_MAGIC
            && path_bytes as usize <= MAX_PATH_BYTES
            && (words != 0 || profiles == 0);
        is_one.then_some((header, path, rest.get(..total)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written_and_a_file_that_was_cut_is_none() {
        let header = FileHeader {
            process: 7,
            profiles: 2,
            words: 3,
            unprofiled: 4,
            abandoned: 5,
            path_bytes: 5,
        };
        let mut file = header.words().to_vec();
        file.extend(0..8);
        let (read, path, profiles) = FileHeader::read(&file).unwrap();
        assert_eq!((read, path), (header, &[0, 1][..]));
        assert_eq!(profiles, [2, 3, 4, 5, 6, 7]);
        assert_eq!(FileHeader::read(&file[..15]), None);
        file[1] = 2;
        assert_eq!(FileHeader::read(&file), None);
        assert_eq!(FileHeader::read(&[]), None);
    }
}
