//! The line of `SZC_LOG` of a library in a program without a runtime: it says that nothing was
//! randomized, and why, where a user would otherwise look for it in vain.
//!
//! Called before the library's constructors. No allocation; the few functions of libc are weak
//! references.

use crate::system::{self, BUFFER_BYTES};
use core::ffi::CStr;
use szc_abi::text::Buffer;

type Text = Buffer<BUFFER_BYTES>;

/// Adds a name to a JSON string. What would have to be escaped becomes a question mark.
fn push_name(line: &mut Text, name: &[u8]) {
    for &byte in name {
        let plain = byte >= b' ' && byte != b'"' && byte != b'\\' && byte < 0x7f;
        line.push(&[if plain { byte } else { b'?' }]);
    }
}

fn line_for(library: &[u8], process: u32) -> Text {
    let mut line = Text::new();
    line.text("{\"abi\":").decimal(u64::from(szc_abi::ABI_VERSION));
    line.text(",\"pid\":").decimal(u64::from(process));
    line.text(",\"seed\":0,\"interval_ms\":0");
    line.text(",\"randomize\":{\"code\":false,\"stack\":false,\"heap\":false}");
    line.text(",\"code_refused\":\"the program was not built by szc\"");
    line.text(",\"functions\":{\"total\":0,\"movable\":0,\"pinned\":0}");
    line.text(",\"epochs\":0,\"relocations\":0,\"code_bytes_live\":0");
    line.text(",\"code_bytes_retained\":0,\"exhausted\":false,\"library\":\"");
    push_name(&mut line, library.get(..BUFFER_BYTES / 2).unwrap_or(library));
    line.text("\"}\n");
    line
}

/// Writes the line, if there is a log.
pub fn write() {
    let Some(pattern) = system::variable(c"SZC_LOG") else { return };
    let process = system::process_id();
    let mut path = Text::new();
    let Some(path) = path.path_of_process(pattern.to_bytes(), process).as_c_str() else { return };
    let library = system::own_path().map_or(&b""[..], CStr::to_bytes);
    system::append(path, line_for(library, process).bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_number_stands_in_the_line() {
        let line = line_for(b"/x/\"a\\b\n.so", 407);
        let text = core::str::from_utf8(line.bytes()).unwrap();
        let beginning = format!("{{\"abi\":{},\"pid\":407,", szc_abi::ABI_VERSION);
        assert!(text.starts_with(&beginning), "{text}");
        assert!(text.ends_with(",\"library\":\"/x/?a?b?.so\"}\n"), "{text}");
    }

    #[test]
    fn a_name_that_is_too_long_leaves_the_line_complete() {
        let line = line_for(&[b'x'; 2 * BUFFER_BYTES], 1);
        assert!(line.bytes().ends_with(b"x\"}\n") || line.bytes().ends_with(b"\"}\n"));
    }
}
