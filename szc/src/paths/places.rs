//! Names of blocks: function and line.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use crate::profile::symbols::Symbols;

/// Where a block is.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Place {
    pub function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Distance from the beginning of the function.
    pub offset: u64,
}

impl Place {
    /// `function:line`, or `function+offset`.
    pub fn short(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.function),
            None => format!("{}+{:#x}", self.function, self.offset),
        }
    }
}

/// What is known of blocks.
#[derive(Default)]
pub(super) struct Places {
    symbols: Symbols,
    known: HashMap<(usize, u32), Place>,
}

impl Places {
    /// That of a block, which is known by the address that its call returns to, as a distance from
    /// the start of the program in memory.
    pub fn of(&mut self, programs: &[String], program: usize, block: u32) -> Place {
        if let Some(place) = self.known.get(&(program, block)) {
            return place.clone();
        }
        let path = programs.get(program).map(String::as_str).unwrap_or_default();
        // The call itself lies in front.
        let distance = u64::from(block.saturating_sub(1));
        let offset = self.symbols.offset_of(path, distance).unwrap_or(distance);
        let mut frames = self.symbols.frames(path, offset);
        // The function that the programmer wrote, and the place in what it was compiled to.
        let in_code = frames.last().map_or(0, |frame| frame.offset);
        let innermost = frames.swap_remove(0);
        let place = Place {
            function: innermost.function,
            file: innermost.file,
            line: innermost.line,
            offset: in_code,
        };
        self.known.insert((program, block), place.clone());
        place
    }
}
