//! Text of bounded length, and numbers in it: what the runtime and the part of it in libraries
//! write to logs. No allocation, usable in a signal handler.
//!
//! `core::fmt` is not used in the runtime: it calls through tables of functions, which the link
//! step cannot follow, so it could not know that those functions must not move.

use core::ffi::CStr;

/// Decimal digits of the largest `u64`.
const DIGITS: usize = 20;

/// Text of bounded length; what does not fit is dropped.
#[derive(Clone, Copy)]
pub struct Buffer<const N: usize> {
    bytes: [u8; N],
    length: usize,
    /// Something was dropped.
    truncated: bool,
}

impl<const N: usize> Buffer<N> {
    /// No text.
    pub const fn new() -> Self {
        Self { bytes: [0; N], length: 0, truncated: false }
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Whether something did not fit.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The text up to its first NUL, as the kernel takes it; nothing if it does not leave room for
    /// one, or was truncated.
    pub fn as_c_str(&self) -> Option<&CStr> {
        let text = self.bytes.get(..=self.length).filter(|_| !self.truncated)?;
        CStr::from_bytes_until_nul(text).ok()
    }

    /// Forgets the text.
    pub fn clear(&mut self) {
        (self.length, self.truncated) = (0, false);
        self.end();
    }

    /// Adds bytes as they are. (Never inlined: a line of a log is made of a hundred pieces.)
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8]) -> &mut Self {
        for &byte in bytes {
            if self.length < N {
                self.bytes[self.length] = byte;
                self.length += 1;
            } else {
                self.truncated = true;
            }
        }
        self.end();
        self
    }

    /// Puts a NUL behind the text, if there is room.
    fn end(&mut self) {
        if let Some(behind) = self.bytes.get_mut(self.length) {
            *behind = 0;
        }
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.push(text.as_bytes())
    }

    /// Adds `true` or `false`.
    pub fn truth(&mut self, value: bool) -> &mut Self {
        self.text(if value { "true" } else { "false" })
    }

    /// Adds a path with each `%p` in it replaced by a process number.
    pub fn path_of_process(&mut self, pattern: &[u8], process: u32) -> &mut Self {
        let mut rest = pattern;
        while let [first, behind @ ..] = rest {
            if let [b'%', b'p', behind @ ..] = rest {
                self.decimal(u64::from(process));
                rest = behind;
            } else {
                self.push(&[*first]);
                rest = behind;
            }
        }
        self
    }

    /// Adds a number in decimal.
    pub fn decimal(&mut self, value: u64) -> &mut Self {
        self.number(value, 10)
    }

    /// Adds a number in hexadecimal.
    pub fn hexadecimal(&mut self, value: u64) -> &mut Self {
        self.number(value, 16)
    }

    fn number(&mut self, mut value: u64, base: u64) -> &mut Self {
        let mut digits = [0; DIGITS];
        let mut first = DIGITS;
        loop {
            first -= 1;
            // What is left of a division by 10 or 16 is a small number.
            let digit = (value % base).to_le_bytes()[0];
            digits[first] = b"0123456789abcdef"[usize::from(digit)];
            value /= base;
            if value == 0 {
                return self.push(&digits[first..]);
            }
        }
    }
}

impl<const N: usize> Default for Buffer<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// The number that decimal digits stand for.
#[must_use]
pub fn parse_decimal(digits: &[u8]) -> Option<u64> {
    parse(digits, 10)
}

/// The number that hexadecimal digits stand for.
#[must_use]
pub fn parse_hexadecimal(digits: &[u8]) -> Option<u64> {
    parse(digits, 16)
}

fn parse(digits: &[u8], base: u32) -> Option<u64> {
    let value = |byte: u8| char::from(byte).to_digit(base).map(u64::from);
    let add = |sum: u64, &byte: &u8| sum.checked_mul(u64::from(base))?.checked_add(value(byte)?);
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for value in [0, 9, 10, 255, u64::MAX] {
            let mut buffer = Buffer::<32>::new();
            assert_eq!(parse_decimal(buffer.decimal(value).bytes()), Some(value));
            assert_eq!(buffer.bytes(), value.to_string().as_bytes());
            buffer.clear();
            assert_eq!(parse_hexadecimal(buffer.hexadecimal(value).bytes()), Some(value));
            assert_eq!(buffer.bytes(), format!("{value:x}").as_bytes());
        }
        for wrong in [&b""[..], b"-1", b"1x", b"18446744073709551616"] {
            assert_eq!(parse_decimal(wrong), None);
        }
    }

    #[test]
    fn the_process_number_stands_in_a_path_wherever_it_is_asked_for() {
        let mut buffer = Buffer::<64>::new();
        buffer.path_of_process(b"/a/%p-%p.%d%", 407);
        assert_eq!(buffer.as_c_str(), Some(c"/a/407-407.%d%"));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_no_path() {
        let mut buffer = Buffer::<4>::new();
        assert_eq!(buffer.push(b"/ab").as_c_str(), Some(c"/ab"));
        assert_eq!(buffer.push(b"c").as_c_str(), None, "there is no room for the NUL");
        assert!(!buffer.is_truncated());
        assert_eq!(buffer.push(b"d").bytes(), b"/abc");
        assert_eq!(buffer.as_c_str(), None);
        assert!(buffer.is_truncated());
        buffer.clear();
        assert_eq!(buffer.push(b"/").as_c_str(), Some(c"/"));
    }
}
