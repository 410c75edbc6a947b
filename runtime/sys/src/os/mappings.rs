//! What is mapped in this process (`/proc/thread-self/maps`, proc(5)).
//!
//! The process's own file is empty once its first thread has ended.
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

/// A mapping of anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area<'a> {
    /// First address, and the address behind it.
    pub range: (usize, usize),
    /// Each of `r`, `w`, `x`, then `s` or `p`, or `-`.
    permissions: &'a [u8],
    /// Offset, device and inode number of the file.
    file: [u64; 3],
    /// Path of the file, or a name in brackets, or nothing.
    path: &'a [u8],
}

impl Area<'_> {
    /// Whether others may see what is written.
    pub fn is_shared(&self) -> bool {
        self.permissions.get(3) == Some(&b's')
    }

    /// Whether the program may write there now.
    pub fn is_writable(&self) -> bool {
        self.permissions.get(1) == Some(&b'w')
    }

    /// Whether it is the kernel's own, which the program only reads.
    pub fn is_of_kernel(&self) -> bool {
        self.path.starts_with(b"[v")
    }

    fn is_file(&self) -> bool {
        // Shared memory without a file has a name, too: where copies of code are that a process has
        // taken since a fork.
        self.path.starts_with(b"/")
            && !self.path.starts_with(b"/memfd:")
            && self.path != b"/dev/zero (deleted)"
    }

    fn code(&self) -> Option<CodeMapping<'_>> {
        (self.permissions.get(2) == Some(&b'x') && self.is_file()).then_some(CodeMapping {
            range: self.range,
            file: self.file,
            readable: self.permissions.first() == Some(&b'r'),
            path: self.path,
        })
    }
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
    for_each(buffer, |area| {
        if let Some(code) = area.code() {
            visit(&code);
        }
    })
}

/// Calls `visit` with each mapping, in the order of addresses. `buffer` must have room for a line
/// with its path.
///
/// # Errors
/// The kernel does not tell.
pub fn for_each(buffer: &mut [u8], mut visit: impl FnMut(&Area<'_>)) -> Result<(), Errno> {
    let file = File::open(c"/proc/thread-self/maps", OPEN_READ)?;
    let mut filled = 0;
    loop {
        let read = file.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        let end = filled + read;
        let mut at = 0;
        while let Some(length) = buffer[at..end].iter().position(|&byte| byte == b'\n') {
            if let Some(area) = area(&buffer[at..at + length]) {
                visit(&area);
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

/// A line `START-END PERMISSIONS OFFSET DEVICE INODE PATH`.
fn area(line: &[u8]) -> Option<Area<'_>> {
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
    let path = words.next().unwrap_or(&[]).trim_ascii_start();
    Some(Area { range, permissions, file: [offset, device, inode], path })
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
        assert_eq!(area(line).as_ref().and_then(Area::code), Some(found));
        let mapping = |line: &'static [u8]| area(line).unwrap().code().is_some();
        assert!(!mapping(b"7f1c2a000000-7f1c2a15d000 rw-p 00026000 fe:01 1050 /usr/lib/a.so"));
        assert!(!mapping(b"7ffd1000-7ffd3000 r-xp 00000000 00:00 0    [vdso]"));
        assert!(!mapping(b"7ffd1000-7ffd3000 r-xs 00000000 00:01 9    /memfd:x (deleted)"));
        assert!(!mapping(b"7ffd1000-7ffd3000 r-xs 00000000 00:01 9    /dev/zero (deleted)"));
        assert!(!mapping(b"7ffd1000-7ffd3000 rwxp 00000000 00:00 0 "));
        let shared = area(b"7ffd1000-7ffd3000 rw-s 00000000 00:01 9    /dev/zero (deleted)");
        assert!(shared.unwrap().is_shared() && shared.unwrap().is_writable());
        let own = area(b"7ffd1000-7ffd3000 r--p 00000000 00:00 0    [vvar]").unwrap();
        assert!(own.is_of_kernel() && !own.is_shared() && !own.is_writable());
        assert_eq!(area(b"7ffd1000-7ffd3000 ---p 00000000 00:00 0").unwrap().path, b"");
    }

    #[test]
    fn the_code_of_this_test_is_found_however_small_the_readings_are() {
        let here = area as *const () as usize;
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
