//! Which files' code is mapped in this process (`/proc/self/maps`, proc(5)).
#![forbid(unsafe_code)]

use super::{Errno, File, OPEN_READ};
use szc_abi::text::{parse_decimal, parse_hexadecimal};

/// A mapping of a file that can be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeMapping<'a> {
    /// First address, and the address behind it.
    pub range: (usize, usize),
    /// Offset, device and inode number of the file.
    pub file: [u64; 3],
    /// The program may read it.
    pub readable: bool,
    /// Path of the file.
    pub path: &'a [u8],
}

/// Calls `visit` with each mapping of a file in the file system that can be executed. `buffer` must
/// have room for a line with its path.
///
/// # Errors
/// The kernel does not tell.
pub fn for_each_code(
    buffer: &mut [u8],
    mut visit: impl FnMut(&CodeMapping<'_>),
) -> Result<(), Errno> {
    let file = File::open(c"/proc/self/maps", OPEN_READ)?;
    let mut filled = 0;
    loop {
        let read = file.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        let end = filled + read;
        let mut at = 0;
        while let Some(length) = buffer[at..end].iter().position(|&byte| byte == b'\n') {
            if let Some(mapping) = mapping(&buffer[at..at + length]) {
                visit(&mapping);
            }
            at += length + 1;
        }
        // The start of a line whose end comes with the next reading.
        filled = end - at;
        for index in 0..filled {
            buffer[index] = buffer[at + index];
        }
    }
}

/// A line `START-END PERMISSIONS OFFSET DEVICE INODE PATH`, of an executable mapping of a file.
fn mapping(line: &[u8]) -> Option<CodeMapping<'_>> {
    let mut words = line.splitn(6, |&byte| byte == b' ');
    let mut range = words.next()?.splitn(2, |&byte| byte == b'-');
    let mut address = || Some(parse_hexadecimal(range.next()?)? as usize);
    let range = (address()?, address()?);
    let permissions = words.next()?;
    let offset = parse_hexadecimal(words.next()?)?;
    let mut device = words.next()?.splitn(2, |&byte| byte == b':');
    let mut half = || parse_hexadecimal(device.next()?);
    let device = half()? << 32 | half()?;
    let inode = parse_decimal(words.next()?)?;
    let path = words.next()?.trim_ascii_start();
    // Shared memory without a file has a name, too: where copies of code are that a process has
    // taken since a fork.
    let is_file =
        path.starts_with(b"/") && !path.starts_with(b"/memfd:") && path != b"/dev/zero (deleted)";
    (permissions.get(2) == Some(&b'x') && is_file).then_some(CodeMapping {
        range,
        file: [offset, device, inode],
        readable: permissions.first() == Some(&b'r'),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_code_is_read_and_others_are_passed_over() {
        let line = b"7f1c2a000000-7f1c2a15d000 r-xp 00026000 fe:01 1050 \t   /usr/lib/a b.so";
        let found = CodeMapping {
            range: (0x7f1c_2a00_0000, 0x7f1c_2a15_d000),
            file: [0x26000, 0xfe_0000_0001, 1050],
            readable: true,
            path: b"\t   /usr/lib/a b.so".trim_ascii_start(),
        };
        assert_eq!(mapping(line), Some(found));
        assert_eq!(
            mapping(b"7f1c2a000000-7f1c2a15d000 rw-p 00026000 fe:01 1050 /usr/lib/a.so"),
            None
        );
        assert_eq!(mapping(b"7ffd1000-7ffd3000 r-xp 00000000 00:00 0    [vdso]"), None);
        assert_eq!(mapping(b"7ffd1000-7ffd3000 r-xs 00000000 00:01 9    /memfd:x (deleted)"), None);
        let shared = b"7ffd1000-7ffd3000 r-xs 00000000 00:01 9    /dev/zero (deleted)";
        assert_eq!(mapping(shared), None);
        assert_eq!(mapping(b"7ffd1000-7ffd3000 rwxp 00000000 00:00 0 "), None);
    }

    #[test]
    fn the_code_of_this_test_is_found_however_small_the_readings_are() {
        let here = mapping as *const () as usize;
        for bytes in [8192, 1 << 16] {
            let mut found = Vec::new();
            for_each_code(&mut vec![0; bytes], |mapping| {
                if (mapping.range.0..mapping.range.1).contains(&here) {
                    found.push(mapping.path.to_vec());
                }
            })
            .unwrap();
            let path = std::env::current_exe().unwrap();
            assert_eq!(found, [path.as_os_str().as_encoded_bytes()]);
        }
    }
}
