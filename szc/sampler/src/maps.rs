//! What a process that is there has mapped, as the kernel would report it.
#![forbid(unsafe_code)]

use std::fs;
use std::io;

use crate::event::Map;

/// What a process has mapped to execute, as if it were reported at a time.
///
/// # Errors
/// There is no such process, or its mappings cannot be read.
pub fn mapped(pid: u32, time: u64) -> io::Result<Vec<Map>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    Ok(maps.lines().filter_map(|line| parse_map(line, pid, time)).collect())
}

/// A line of /proc/PID/maps, if that memory is executable.
fn parse_map(line: &str, pid: u32, time: u64) -> Option<Map> {
    let mut rest = line;
    let mut field = || {
        let (field, behind) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        rest = behind;
        field
    };
    let (range, rights, offset) = (field(), field(), field());
    let (_device, _inode) = (field(), field());
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    let (start, end) = (number(start)?, number(end)?);
    let path = match rest.trim_start() {
        "" => "//anon",
        path => path,
    };
    rights.contains('x').then_some(Map {
        pid,
        time,
        start,
        bytes: end.checked_sub(start)?,
        offset: number(offset)?,
        path: path.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_maps_is_read_if_its_memory_is_executable() {
        let text = "55d0-65d0 r-xp 00001000 fe:00 1234                 /usr/bin/a b";
        let map = Map {
            pid: 3,
            time: 9,
            start: 0x55d0,
            bytes: 0x1000,
            offset: 0x1000,
            path: "/usr/bin/a b".into(),
        };
        assert_eq!(parse_map(text, 3, 9), Some(map));
        assert_eq!(parse_map(&text.replace("r-xp", "rw-p"), 3, 9), None);
        let anonymous = parse_map("55d0-65d0 rwxp 00000000 00:00 0 ", 3, 9).unwrap();
        assert_eq!(anonymous.path, "//anon");
    }
}
