//! The bytes of protocol buffers, as far as pprof's need them.
//!
//! Source: "Protocol Buffers: Encoding", protobuf.dev.

/// A message that is being written.
#[derive(Default)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Its bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push((value & 0x7f) as u8);
    }

    fn key(&mut self, field: u32, wire_type: u64) {
        self.varint(u64::from(field) << 3 | wire_type);
    }

    /// Adds a number; 0 is what a field has anyway.
    pub fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, 0);
            self.varint(value);
        }
    }

    /// Adds bytes, also none.
    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Adds numbers side by side.
    pub fn numbers(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let mut packed = Self::default();
        values.into_iter().for_each(|value| packed.varint(value));
        self.bytes(field, &packed.bytes);
    }

    /// Adds a message.
    pub fn message(&mut self, field: u32, value: Self) {
        self.bytes(field, &value.into_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_published_examples() {
        // Of "Encoding": a = 150; b = "testing"; c = { a = 150 }; f = [3, 270, 86942].
        let mut inner = Message::default();
        inner.number(1, 150);
        let mut message = Message::default();
        message.bytes(2, b"testing");
        message.message(3, inner);
        message.numbers(6, [3, 270, 86_942]);
        let expected = [
            &[0x12, 0x07][..],
            b"testing",
            &[0x1a, 0x03, 0x08, 0x96, 0x01],
            &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ];
        assert_eq!(message.into_bytes(), expected.concat());
    }
}
