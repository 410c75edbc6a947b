//! Response files: `@file` stands for the arguments in that file.
//!
//! They are read only to learn what an invocation does; clang gets the `@file` itself
//! unless an argument inside it is the driver's own. The splitting is that of LLVM's
//! `TokenizeGNUCommandLine`, which is no shell's (as of crate `shlex`): a backslash counts inside
//! single quotes, too, and `#` begins no comment.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Response files may name response files; clang rejects a cycle, and so this deep is only
/// reached by what clang will reject.
const MAX_DEPTH: usize = 32;

/// The arguments that `argument` stands for: its own if it is no response file that can be
/// read, in which case clang takes it for the name of an input and says so.
pub(super) fn expand(argument: &OsStr) -> Vec<OsString> {
    let mut args = Vec::new();
    expand_into(argument, 0, &mut args);
    args
}

fn expand_into(argument: &OsStr, depth: usize, args: &mut Vec<OsString>) {
    let text = argument
        .as_bytes()
        .strip_prefix(b"@")
        .filter(|_| depth < MAX_DEPTH)
        .and_then(|path| fs::read(OsStr::from_bytes(path)).ok());
    match text {
        Some(text) => {
            for arg in split(&text) {
                expand_into(&arg, depth + 1, args);
            }
        }
        None => args.push(argument.to_owned()),
    }
}

/// Splits at white space outside quotes; a backslash takes the next byte literally, inside
/// quotes of either kind too.
fn split(text: &[u8]) -> Vec<OsString> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut args = Vec::new();
    let mut arg = Vec::new();
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => arg.push(bytes.next().unwrap_or(byte)),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => arg.push(byte),
            (b'"' | b'\'', None) => quote = Some(byte),
            (b' ' | b'\t' | b'\n' | b'\r' | b'\0', None) => {
                if !arg.is_empty() {
                    args.push(OsString::from_vec(std::mem::take(&mut arg)));
                }
            }
            (_, None) => arg.push(byte),
        }
    }
    if !arg.is_empty() {
        args.push(OsString::from_vec(arg));
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &tempfile::TempDir, name: &str, text: &str) -> OsString {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("the temporary directory is writable");
        let mut argument = OsString::from("@");
        argument.push(path);
        argument
    }

    #[test]
    fn quotes_and_backslashes_protect_white_space() {
        let args = split(b"-c 'a b.c'\t\"c \\\" d.c\"\n-o x\\ y.o -DS='q w'e '' end");
        assert_eq!(args, ["-c", "a b.c", "c \" d.c", "-o", "x y.o", "-DS=q we", "end"]);
    }

    #[test]
    fn a_response_file_may_name_another() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let inner = write(&dir, "inner", "-O2 x.c");
        let outer =
            write(&dir, "outer", &format!("-c {} -Wall", inner.to_str().expect("a UTF-8 path")));
        assert_eq!(expand(&outer), ["-c", "-O2", "x.c", "-Wall"]);
    }

    #[test]
    fn a_response_file_that_names_itself_ends() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = write(&dir, "self", "");
        fs::write(dir.path().join("self"), path.as_bytes()).expect("writable");
        assert_eq!(expand(&path).as_slice(), std::slice::from_ref(&path));
    }

    #[test]
    fn what_cannot_be_read_stays_an_argument() {
        assert_eq!(expand(OsStr::new("@no/such/file")), ["@no/such/file"]);
        assert_eq!(expand(OsStr::new("plain.c")), ["plain.c"]);
    }
}
