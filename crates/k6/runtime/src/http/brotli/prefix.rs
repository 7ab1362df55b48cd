//! Prefix codes (RFC 7932, 3): the bits that stand for each symbol, fewer for those that occur
//! often, and their description in the stream.

use super::bits::Bits;

/// The longest code of a symbol.
const LONGEST: u8 = 15;
/// The longest code of the length of a code.
const LONGEST_OF_LENGTHS: u8 = 5;

/// The symbols of lengths of codes: each length, and these two.
const LENGTHS: usize = 18;
/// The length before, three to six times.
const REPEAT: u8 = 16;
/// The length 0, three to ten times.
const ZEROS: u8 = 17;
/// The length before the first one, for [`REPEAT`].
const LENGTH_BEFORE: u8 = 8;

/// The order of the lengths of codes for lengths (section 3.5).
const ORDER: [usize; LENGTHS] = [1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// The code of those lengths: the bits, and how many.
const LENGTH_OF_LENGTH: [(u32, u32); 6] = [(0, 2), (7, 4), (3, 3), (2, 2), (1, 2), (15, 4)];

/// A prefix code for an alphabet.
pub(super) struct PrefixCode {
    /// By symbol; 0 for what does not occur, and for what occurs alone.
    lengths: Vec<u8>,
    /// By symbol, the first bit the lowest.
    codes: Vec<u32>,
    /// The symbols that occur, up to five.
    used: Vec<usize>,
}

impl PrefixCode {
    /// The code for symbols that occur this often.
    pub(super) fn new(counts: &[u32]) -> PrefixCode {
        PrefixCode::limited(counts, LONGEST)
    }

    fn limited(counts: &[u32], longest: u8) -> PrefixCode {
        let used = (0..counts.len()).filter(|symbol| counts[*symbol] > 0);
        let lengths = lengths(counts, longest);
        PrefixCode {
            codes: codes(&lengths),
            lengths,
            used: used.take(5).collect(),
        }
    }

    /// Writes a symbol.
    pub(super) fn put(&self, symbol: usize, bits: &mut Bits) {
        bits.put(self.codes[symbol], self.lengths[symbol].into());
    }

    /// Writes what a reader makes the code from.
    pub(super) fn describe(&self, bits: &mut Bits) {
        match self.used.len() {
            0..=4 => self.describe_few(bits),
            _ => self.describe_many(bits),
        }
    }

    /// Writes up to four symbols themselves (section 3.4).
    fn describe_few(&self, bits: &mut Bits) {
        let mut symbols = self.used.clone();
        if symbols.is_empty() {
            // A code that nothing is written in.
            symbols.push(0);
        }
        symbols.sort_by_key(|symbol| (self.lengths[*symbol], *symbol));
        bits.put(1, 2);
        bits.put(symbols.len() as u32 - 1, 2);
        let symbol_bits = (self.lengths.len() - 1).ilog2() + 1;
        for symbol in &symbols {
            bits.put(*symbol as u32, symbol_bits);
        }
        if symbols.len() == 4 {
            let is_deep = self.lengths[symbols[3]] == 3;
            bits.put(is_deep.into(), 1);
        }
    }

    /// Writes the lengths of all codes, in a code of their own (section 3.5).
    fn describe_many(&self, bits: &mut Bits) {
        let shortened = shortened(&self.lengths);
        let mut counts = [0; LENGTHS];
        for (symbol, _) in &shortened {
            counts[usize::from(*symbol)] += 1;
        }
        let code = PrefixCode::limited(&counts, LONGEST_OF_LENGTHS);
        // None of the first lengths is left out.
        bits.put(0, 2);
        code.describe_lengths(bits);
        for (symbol, extra) in shortened {
            code.put(symbol.into(), bits);
            match symbol {
                REPEAT => bits.put(extra, 2),
                ZEROS => bits.put(extra, 3),
                _ => {}
            }
        }
    }

    /// Writes the lengths of codes for lengths. They end where the code is complete.
    fn describe_lengths(&self, bits: &mut Bits) {
        let alone = (self.used.len() == 1).then(|| self.used[0]);
        let length = |symbol: &usize| match alone {
            Some(alone) => u8::from(*symbol == alone),
            None => self.lengths[*symbol],
        };
        let written = match alone {
            Some(_) => LENGTHS,
            None => {
                1 + ORDER
                    .iter()
                    .rposition(|symbol| length(symbol) > 0)
                    .unwrap_or(0)
            }
        };
        for symbol in &ORDER[..written] {
            let (number, count) = LENGTH_OF_LENGTH[usize::from(length(symbol))];
            bits.put(number, count);
        }
    }
}

/// Returns the lengths of the codes for symbols that occur this often (Huffman 1952). Where one
/// would be longer than allowed, rare symbols are taken for more frequent ones.
fn lengths(counts: &[u32], longest: u8) -> Vec<u8> {
    let mut least = 1;
    loop {
        let lengths = unlimited_lengths(counts, least);
        if lengths.iter().all(|length| *length <= longest) {
            return lengths;
        }
        least *= 2;
    }
}

/// Returns the lengths if each symbol that occurs does so `least` times or more often.
fn unlimited_lengths(counts: &[u32], least: u32) -> Vec<u8> {
    // A node has a count and, if it is no symbol, two nodes below it.
    let symbols = (0..counts.len()).filter(|symbol| counts[*symbol] > 0);
    let mut leaves: Vec<(u32, usize)> = symbols
        .map(|symbol| (counts[symbol].max(least), symbol))
        .collect();
    leaves.sort_unstable();
    let mut inner: Vec<(u32, [usize; 2])> = Vec::with_capacity(leaves.len());
    // Both queues are in order of their counts, so that the rarest is at the front of one.
    let (mut next_leaf, mut next_inner) = (0, 0);
    while inner.len() + 1 < leaves.len() {
        let mut rarest = || {
            let leaf = leaves.get(next_leaf).map(|leaf| leaf.0);
            let node = inner.get(next_inner).map(|node| node.0);
            match node.is_none_or(|node| leaf.is_some_and(|leaf| leaf <= node)) {
                true => {
                    next_leaf += 1;
                    (leaf.unwrap_or(0), next_leaf - 1)
                }
                false => {
                    next_inner += 1;
                    (node.unwrap_or(0), leaves.len() + next_inner - 1)
                }
            }
        };
        let (one, other) = (rarest(), rarest());
        inner.push((one.0 + other.0, [one.1, other.1]));
    }
    depths(&leaves, &inner, counts.len())
}

/// Returns how deep each symbol lies below the last of the inner nodes.
fn depths(leaves: &[(u32, usize)], inner: &[(u32, [usize; 2])], symbols: usize) -> Vec<u8> {
    let mut lengths = vec![0; symbols];
    let mut of_inner = vec![0_u8; inner.len()];
    for (index, (_, below)) in inner.iter().enumerate().rev() {
        let depth = of_inner[index].saturating_add(1);
        for node in below {
            match node.checked_sub(leaves.len()) {
                Some(node) => of_inner[node] = depth,
                None => lengths[leaves[*node].1] = depth,
            }
        }
    }
    lengths
}

/// Returns the codes of these lengths: in the order of lengths and then of symbols (section 3.2).
fn codes(lengths: &[u8]) -> Vec<u32> {
    let mut codes = vec![0; lengths.len()];
    let mut next = 0_u32;
    for length in 1..=LONGEST {
        for symbol in (0..lengths.len()).filter(|symbol| lengths[*symbol] == length) {
            codes[symbol] = next.reverse_bits() >> (32 - u32::from(length));
            next += 1;
        }
        next <<= 1;
    }
    codes
}

/// Returns the lengths with runs as one symbol or few, each with its extra number. Zeros at the
/// end are left out.
fn shortened(lengths: &[u8]) -> Vec<(u8, u32)> {
    let end = 1 + lengths.iter().rposition(|length| *length > 0).unwrap_or(0);
    let mut symbols = Vec::new();
    let mut before = LENGTH_BEFORE;
    for run in lengths[..end].chunk_by(|one, other| one == other) {
        let (length, mut count) = (run[0], run.len());
        if length != 0 && length != before {
            symbols.push((length, 0));
            count -= 1;
        }
        let (symbol, digit_bits) = match length {
            0 => (ZEROS, 3),
            _ => (REPEAT, 2),
        };
        match count {
            0..3 => symbols.extend(std::iter::repeat_n((length, 0), count)),
            _ => repeat(symbol, count, digit_bits, &mut symbols),
        }
        if length != 0 {
            before = length;
        }
    }
    symbols
}

/// Adds a run of three or more: each repetition of the symbol multiplies what came before it, as
/// digits of a number do.
fn repeat(symbol: u8, count: usize, digit_bits: u32, symbols: &mut Vec<(u8, u32)>) {
    let start = symbols.len();
    let mut rest = count as u32 - 3;
    loop {
        symbols.push((symbol, rest & ((1 << digit_bits) - 1)));
        rest >>= digit_bits;
        if rest == 0 {
            break;
        }
        rest -= 1;
    }
    symbols[start..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_more_often_the_shorter() {
        let code = PrefixCode::new(&[1, 0, 8, 4, 1, 2]);
        assert_eq!(code.lengths, [4, 0, 1, 2, 4, 3]);
        assert_eq!(code.codes, [0b0111, 0, 0, 0b01, 0b1111, 0b011]);
    }

    #[test]
    fn no_code_is_longer_than_allowed() {
        let mut counts = vec![1, 1];
        while counts.len() < 30 {
            counts.push(counts[counts.len() - 1] + counts[counts.len() - 2]);
        }
        let lengths = lengths(&counts, 15);
        assert_eq!(lengths.iter().max(), Some(&15));
        let room: u32 = lengths.iter().map(|length| 1 << (15 - length)).sum();
        assert_eq!(room, 1 << 15);
    }

    /// Reads shortened lengths as section 3.5 says.
    fn whole(symbols: &[(u8, u32)]) -> Vec<u8> {
        let (mut lengths, mut before) = (Vec::new(), LENGTH_BEFORE);
        let (mut run_of, mut run) = (0, 0);
        for (symbol, extra) in symbols {
            let digit_bits = match *symbol {
                REPEAT => 2,
                ZEROS => 3,
                length => {
                    lengths.push(length);
                    before = if length == 0 { before } else { length };
                    (run_of, run) = (0, 0);
                    continue;
                }
            };
            let earlier = if run_of == *symbol { run } else { 0 };
            let multiplied = if earlier > 0 {
                (earlier - 2) << digit_bits
            } else {
                0
            };
            run = multiplied + extra + 3;
            run_of = *symbol;
            let length = if *symbol == ZEROS { 0 } else { before };
            lengths.extend((earlier..run).map(|_| length));
        }
        lengths
    }

    proptest! {
        #[test]
        fn shortened_lengths_are_the_same(
            runs in prop::collection::vec((0..16_u8, 1..300_usize), 1..8),
        ) {
            let run = |(length, count)| std::iter::repeat_n(length, count);
            let mut lengths: Vec<u8> = runs.into_iter().flat_map(run).collect();
            lengths.push(3);
            prop_assert_eq!(whole(&shortened(&lengths)), lengths);
        }
    }
}
