//! Small whole numbers in few bits: Rice's code, whose parameter follows the numbers.
//!
//! A number is divided by a power of two: the quotient is written as so many ones and a zero, the
//! remainder in its bits. The power is chosen by both sides from the numbers so far, as in JPEG-LS
//! (ITU-T T.87, A.5.1), so that it need not be sent. A quotient that would be long is replaced by
//! the number's length and its bits.

/// The longest quotient. As many ones introduce a number that is written with its length.
const LONGEST_QUOTIENT: u32 = 20;
/// The bits of the length of such a number.
const LENGTH_BITS: u32 = 6;
/// The number of numbers after which those before count half.
const MEMORY: u64 = 16;
/// The most bits of a remainder.
const MOST_BITS: u32 = 32;

/// Bits one after the other, the first one in the highest bit of the first byte.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The bits that do not fill a byte yet, at the low end, and their number.
    open: u64,
    open_bits: u32,
}

impl BitWriter {
    /// Appends the low `bits` bits of a number, at most 32.
    fn append(&mut self, number: u64, bits: u32) {
        self.open = self.open << bits | (number & ((1 << bits) - 1));
        self.open_bits += bits;
        while self.open_bits >= 8 {
            self.open_bits -= 8;
            self.bytes.push((self.open >> self.open_bits) as u8);
        }
    }

    /// Returns the bytes; the last one is filled up with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        if self.open_bits > 0 {
            let missing = 8 - self.open_bits;
            self.append(0, missing);
        }
        self.bytes
    }
}

/// Reads bits in the order in which they were written.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The number of bits that have been read.
    read: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, read: 0 }
    }

    /// Returns the next bits, at least 57 of them, at the high end; zeros follow the last one.
    fn ahead(&self) -> u64 {
        let rest = self.bytes.get(self.read / 8..).unwrap_or_default();
        let mut eight = [0; 8];
        let count = rest.len().min(eight.len());
        eight[..count].copy_from_slice(&rest[..count]);
        u64::from_be_bytes(eight) << (self.read % 8)
    }

    /// Skips bits; `None` if there are fewer.
    fn skip(&mut self, bits: u32) -> Option<()> {
        self.read += bits as usize;
        (self.read <= self.bytes.len() * 8).then_some(())
    }

    /// Takes a number of `bits` bits, at most 32.
    fn take(&mut self, bits: u32) -> Option<u64> {
        let ahead = self.ahead();
        self.skip(bits)?;
        Some(ahead.checked_shr(u64::BITS - bits).unwrap_or(0))
    }

    /// Takes ones up to the first zero, which is taken too, or up to the longest quotient.
    fn take_ones(&mut self) -> Option<u32> {
        let ones = self.ahead().leading_ones().min(LONGEST_QUOTIENT);
        let ends = u32::from(ones < LONGEST_QUOTIENT);
        self.skip(ones + ends)?;
        Some(ones)
    }
}

/// The code of a sequence of numbers that resemble each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rice {
    /// The sum of the numbers that are remembered, and how many they are.
    sum: u64,
    count: u64,
}

impl Rice {
    /// Creates the code of numbers that are expected to be about this large at first.
    pub(super) fn new(expected: u64) -> Self {
        Rice {
            sum: expected,
            count: 1,
        }
    }

    /// Returns the number of bits of a remainder: the smallest power of two that is not less than
    /// the mean times ln 2 (about 11/16), the best one for numbers that are spread geometrically.
    fn bits(&self) -> u32 {
        let best = (self.sum * 11).div_ceil(self.count * 16).max(1);
        best.next_power_of_two().ilog2().min(MOST_BITS)
    }

    fn remember(&mut self, number: u64) {
        // A single number far from the others does not make the next ones expensive.
        let most = (self.sum / self.count + 1) * 8;
        self.sum += number.min(most).min(1 << MOST_BITS);
        self.count += 1;
        if self.count == MEMORY {
            self.sum /= 2;
            self.count /= 2;
        }
    }

    /// Writes a number of less than 63 bits.
    pub(super) fn write(&mut self, to: &mut BitWriter, number: u64) {
        let bits = self.bits();
        let quotient = number >> bits;
        if quotient < u64::from(LONGEST_QUOTIENT) {
            let quotient = quotient as u32;
            to.append(((1 << quotient) - 1) << 1, quotient + 1);
            to.append(number, bits);
        } else {
            write_long(to, number);
        }
        self.remember(number);
    }

    /// Reads a number; `None` at the end of the bits, or if there is none.
    pub(super) fn read(&mut self, from: &mut BitReader<'_>) -> Option<u64> {
        let bits = self.bits();
        let quotient = from.take_ones()?;
        let number = if quotient < LONGEST_QUOTIENT {
            u64::from(quotient) << bits | from.take(bits)?
        } else {
            read_long(from)?
        };
        self.remember(number);
        Some(number)
    }
}

fn write_long(to: &mut BitWriter, number: u64) {
    let length = u64::BITS - number.leading_zeros();
    to.append((1 << LONGEST_QUOTIENT) - 1, LONGEST_QUOTIENT);
    to.append(u64::from(length), LENGTH_BITS);
    to.append(number >> 32, length.saturating_sub(32));
    to.append(number, length.min(32));
}

fn read_long(from: &mut BitReader<'_>) -> Option<u64> {
    let length = from.take(LENGTH_BITS)? as u32;
    let high = from.take(length.saturating_sub(32))?;
    Some(high << 32 | from.take(length.min(32))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(numbers: &[u64]) -> Vec<u8> {
        let (mut to, mut code) = (BitWriter::default(), Rice::new(2));
        numbers
            .iter()
            .for_each(|number| code.write(&mut to, *number));
        to.into_bytes()
    }

    #[test]
    fn numbers_that_are_all_zero_take_a_bit_each() {
        assert_eq!(written(&[0; 800]).len(), 101);
        assert!(written(&[]).is_empty());
    }

    #[test]
    fn one_large_number_among_small_ones_costs_little_more_than_its_bits() {
        let mut numbers = vec![1; 400];
        let without = written(&numbers).len();
        numbers.insert(200, 1 << 40);
        let with = written(&numbers).len();
        assert!(with - without <= 16, "{with} {without}");
    }

    #[test]
    fn the_end_of_the_bits_is_the_end_of_the_numbers() {
        let bytes = written(&[5, 6, 1 << 50]);
        for cut in 0..bytes.len() {
            let (mut from, mut code) = (BitReader::new(&bytes[..cut]), Rice::new(2));
            let read = std::iter::from_fn(|| code.read(&mut from)).take(3).count();
            assert!(read < 3, "{cut}");
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back_as_they_went_in(
            numbers in prop::collection::vec(
                prop_oneof![0..4_u64, 0..1_000_u64, 0..1_u64 << 62], 0..200),
        ) {
            let bytes = written(&numbers);
            let (mut from, mut code) = (BitReader::new(&bytes), Rice::new(2));
            let read: Vec<_> = numbers.iter().map(|_| code.read(&mut from)).collect();
            let numbers: Vec<_> = numbers.into_iter().map(Some).collect();
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            let (mut from, mut code) = (BitReader::new(&bytes), Rice::new(2));
            let read = std::iter::from_fn(|| code.read(&mut from)).take(1_000).count();
            prop_assert!(read <= 400);
        }
    }
}
