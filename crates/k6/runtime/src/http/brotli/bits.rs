//! Bits in the order of a stream: the lowest of a byte first.

/// Bits that were written.
#[derive(Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// The bits that fill no byte yet, from the lowest on.
    rest: u64,
    rest_bits: u32,
}

impl Bits {
    /// Adds the lowest `count` bits of a number, at most 32.
    pub(super) fn put(&mut self, number: u32, count: u32) {
        self.rest |= u64::from(number) << self.rest_bits;
        self.rest_bits += count;
        while self.rest_bits >= 8 {
            self.bytes.push(self.rest as u8);
            self.rest >>= 8;
            self.rest_bits -= 8;
        }
    }

    /// Returns all bytes, the last one filled up with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        if self.rest_bits > 0 {
            self.bytes.push(self.rest as u8);
        }
        self.bytes
    }
}
