//! The peak memory of a child, without what this process has.
//!
//! Linux keeps the greatest resident size that a process had in any program (`ru_maxrss` of
//! getrusage(2)), the one that called `execve` included. Before that a child of ours has what fork
//! copied, and what it ran through of our text, of which the kernel maps 64 KiB around each page
//! that is touched. So unused heap is given back before the fork, and behind it the child gives up
//! the text and lets the kernel begin its peak again (/proc/PID/clear_refs, proc(5)). Written pages
//! stay: about 2 MiB.

use std::fs;
use std::ops::Range;

use nix::libc;

/// Where the text of this process lies, found before a fork.
pub(super) struct Text(Vec<Range<usize>>);

impl Text {
    /// Looks where it is; nowhere, if there is no /proc.
    pub(super) fn of_this_process() -> Self {
        Self(in_maps(&fs::read_to_string("/proc/self/maps").unwrap_or_default()))
    }
}

/// Mappings of files that are executed, which nobody writes.
fn in_maps(maps: &str) -> Vec<Range<usize>> {
    let of_line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let is_text = fields.next()? == "r-xp" && fields.nth(3)?.starts_with('/');
        let at = |text| usize::from_str_radix(text, 16).ok();
        is_text.then_some(at(start)?..at(end)?)
    };
    maps.lines().filter_map(of_line).collect()
}

/// Before the fork: gives memory back that was freed.
pub(super) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes an integer, and may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Between fork and exec, as the last: makes the calling process as small as it can be, and its
/// peak that. Where the kernel does not let it, the peak stays what it is. Allocates nothing.
pub(super) fn begin_again(text: &Text) {
    for range in &text.0 {
        // SAFETY: the pages are those of a file, which nobody has changed, as the mapping cannot be
        // written: what is touched again is read again.
        unsafe {
            libc::madvise(
                range.start as *mut libc::c_void,
                range.end - range.start,
                libc::MADV_DONTNEED,
            )
        };
    }
    // SAFETY: the path is a string that lives for ever; the descriptor is used and closed here.
    unsafe {
        let file = libc::open(c"/proc/self/clear_refs".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, c"5".as_ptr().cast(), 1);
            libc::close(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_is_mapped_from_files_and_executed() {
        let maps = "\
            1000-3000 r--p 00000000 fe:00 12 /a/program\n\
            3000-9000 r-xp 00002000 fe:00 12 /a/program with a name\n\
            9000-a000 rw-p 00008000 fe:00 12 /a/program\n\
            b000-c000 r-xp 00000000 00:00 0\n\
            d000-e000 r-xp 00000000 00:00 0 [vdso]\n\
            f000-10000 r-xp 00001000 fe:00 13 /a/library.so\n";
        assert_eq!(in_maps(maps), [0x3000..0x9000, 0xf000..0x10000]);
    }
}
