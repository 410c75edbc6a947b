//! Where the bytes of files for debuggers and profilers go. What they take is counted first, by the
//! same code.

#![forbid(unsafe_code)]

/// A part of a file, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
}

/// Takes bytes, or only counts them.
pub struct Sink<'a> {
    out: Option<&'a mut [u8]>,
    /// Bytes taken so far.
    pub at: usize,
}

impl<'a> Sink<'a> {
    /// One that counts, or fills `out` from its start; what does not fit there is left out.
    pub fn new(out: Option<&'a mut [u8]>) -> Self {
        Self { out, at: 0 }
    }

    /// Takes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(out) = self.out.as_mut().and_then(|out| out.get_mut(self.at..end)) {
            out.copy_from_slice(bytes);
        }
        self.at = end;
    }

    /// Takes so many zeros.
    pub fn zeros(&mut self, count: usize) {
        for _ in 0..count {
            self.bytes(&[0]);
        }
    }

    /// Takes two bytes.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Takes four bytes.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Takes eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// A signed LEB128 number.
    pub fn signed(&mut self, mut value: i64) {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            let is_last = (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0);
            self.bytes(&[if is_last { low } else { low | 0x80 }]);
            if is_last {
                return;
            }
        }
    }

    /// What `contents` writes, behind its length and filled up to a multiple of 8 with
    /// `DW_CFA_nop`, which is 0.
    pub fn entry(&mut self, contents: impl FnOnce(&mut Self)) {
        let at = self.at;
        self.u32(0);
        contents(self);
        self.zeros(self.at.next_multiple_of(8) - self.at);
        let length = (self.at - at - 4) as u32;
        if let Some(field) = self.out.as_mut().and_then(|out| out.get_mut(at..at + 4)) {
            field.copy_from_slice(&length.to_le_bytes());
        }
    }
}
