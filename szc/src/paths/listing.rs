//! The rows of the table with the source and the instructions of their blocks.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;

use super::code::Code;
use super::merge::Merged;
use super::places::Places;
use super::rows::Row;
use super::text::{number, period};

/// Most blocks of a row that are listed.
const MAX_BLOCKS: usize = 64;

/// Lines of source files, by path; none of a file that cannot be read.
#[derive(Default)]
struct Sources(HashMap<String, Vec<String>>);

impl Sources {
    fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read(file).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
        });
        lines.get((line as usize).checked_sub(1)?).map(|text| text.trim())
    }
}

/// All of it.
pub(super) fn listing(
    merged: &Merged,
    rows: &[Row<'_>],
    places: &mut Places,
    code: &mut Code,
) -> String {
    let (mut text, mut sources) = (String::new(), Sources::default());
    for (index, row) in rows.iter().enumerate() {
        let (lower, upper) = (number(row.interval.lower), number(row.interval.upper));
        let interval =
            if merged.is_exact() { String::new() } else { format!(" ({lower} to {upper})") };
        let blocks = row.key.blocks.len();
        let each = period(&row.key.blocks);
        let times = if each < blocks {
            format!(", {} times the same {each}", blocks / each)
        } else {
            String::new()
        };
        text += &format!(
            "\n{}. {}{interval} executions of {blocks} blocks{times}, some {} cycles each\n",
            index + 1,
            number(row.count),
            row.cycles
        );
        let path = merged.programs.get(row.key.program).map(String::as_str).unwrap_or_default();
        for &block in row.key.blocks[..each].iter().take(MAX_BLOCKS) {
            let place = places.of(&merged.programs, row.key.program, block);
            let source = place.file.as_deref().zip(place.line);
            let source = source.and_then(|(file, line)| sources.line(file, line));
            text += &format!("   {}  {}", place.short(), source.unwrap_or_default());
            text.truncate(text.trim_end().len());
            text.push('\n');
            for (address, instruction) in code.listing(path, block) {
                text += &format!("      {address:8x}  {instruction}\n");
            }
        }
        if each > MAX_BLOCKS {
            text += &format!("   … and {} more\n", each - MAX_BLOCKS);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::options::Weight;
    use super::super::rows::{rows, tests::merged};
    use super::*;

    #[test]
    fn rows_have_their_numbers_and_blocks_that_come_again_are_listed_once() {
        let merged = merged(1000, &[(&[16, 32], 100), (&[16; 4], 80)]);
        let mut code = Code::default();
        let rows = rows(&merged, Weight::Count, 2, &mut code);
        let text = listing(&merged, &rows, &mut Places::default(), &mut code);
        let first = "\n1. 320.0 k (253.7 k to 398.3 k) executions of 4 blocks, 4 times the same 1, \
                     some 4 cycles each\n   [p]+0xf\n\n2. ";
        assert!(text.starts_with(first), "{text}");
        assert!(text.ends_with("   [p]+0xf\n   [p]+0x1f\n"), "{text}");
    }

    #[test]
    fn lines_of_files_that_are_there_are_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "a\n  b c\n").unwrap();
        let mut sources = Sources::default();
        let path = file.path().to_str().unwrap();
        assert_eq!(sources.line(path, 2), Some("b c"));
        assert_eq!(sources.line(path, 0), None);
        assert_eq!(sources.line(path, 3), None);
        assert_eq!(sources.line("/nowhere", 1), None);
    }
}
