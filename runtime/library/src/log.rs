//! The line of `SZC_LOG` of a library in a program without a runtime: it says that nothing was
//! randomized, and why, where a user would otherwise look for it in vain.
//!
//! Called before the library's constructors. No allocation; the few functions of libc are weak
//! references.

use crate::system::{self, BUFFER_BYTES};
use core::ffi::CStr;

/// Text of bounded length; what does not fit is dropped.
struct Text {
    bytes: [u8; BUFFER_BYTES],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; BUFFER_BYTES], length: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            // One byte stays 0: the text can be a path.
            if self.length + 1 < BUFFER_BYTES {
                self.bytes[self.length] = byte;
                self.length += 1;
            }
        }
    }

    fn decimal(&mut self, value: u32) {
        let mut digits = [0; 10];
        let mut first = digits.len();
        let mut rest = value;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[first..]);
    }

    /// A name in a JSON string. What would have to be escaped becomes a question mark.
    fn name(&mut self, name: &[u8]) {
        for &byte in name {
            let plain = byte >= b' ' && byte != b'"' && byte != b'\\' && byte < 0x7f;
            self.push(&[if plain { byte } else { b'?' }]);
        }
    }

    fn written(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The path with each `%p` replaced by the process number.
fn path_for(pattern: &[u8], process: u32) -> Text {
    let mut path = Text::new();
    let mut rest = pattern;
    while let [first, behind @ ..] = rest {
        if let [b'%', b'p', behind @ ..] = rest {
            path.decimal(process);
            rest = behind;
        } else {
            path.push(&[*first]);
            rest = behind;
        }
    }
    path
}

fn line_for(library: &[u8], process: u32) -> Text {
    let mut line = Text::new();
    line.push(b"{\"abi\":");
    line.decimal(szc_abi::ABI_VERSION);
    line.push(b",\"pid\":");
    line.decimal(process);
    line.push(b",\"seed\":0,\"interval_ms\":0,\"randomize\":{\"code\":false,\"stack\":false,\"heap\":false}");
    line.push(b",\"code_refused\":\"the program was not built by szc\"");
    line.push(
        b",\"functions\":{\"total\":0,\"movable\":0,\"pinned\":0},\"epochs\":0,\"relocations\":0",
    );
    line.push(
        b",\"code_bytes_live\":0,\"code_bytes_retained\":0,\"exhausted\":false,\"library\":\"",
    );
    line.name(library.get(..BUFFER_BYTES / 2).unwrap_or(library));
    line.push(b"\"}\n");
    line
}

/// Writes the line, if there is a log.
pub fn write() {
    let Some(pattern) = system::variable(c"SZC_LOG") else { return };
    let process = system::process_id();
    let path = path_for(pattern.to_bytes(), process);
    let Ok(path) = CStr::from_bytes_until_nul(&path.bytes) else { return };
    let library = system::own_path().map_or(&b""[..], CStr::to_bytes);
    system::append(path, line_for(library, process).written());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_number_stands_in_the_path_and_in_the_line() {
        assert_eq!(path_for(b"/a/%p.%d%", 407).written(), b"/a/407.%d%");
        let line = line_for(b"/x/\"a\\b\n.so", 407);
        let text = core::str::from_utf8(line.written()).unwrap();
        let beginning = format!("{{\"abi\":{},\"pid\":407,", szc_abi::ABI_VERSION);
        assert!(text.starts_with(&beginning), "{text}");
        assert!(text.ends_with(",\"library\":\"/x/?a?b?.so\"}\n"), "{text}");
    }

    #[test]
    fn a_name_that_is_too_long_leaves_the_line_complete() {
        let line = line_for(&[b'x'; 2 * BUFFER_BYTES], 1);
        assert!(line.written().ends_with(b"x\"}\n") || line.written().ends_with(b"\"}\n"));
    }
}
