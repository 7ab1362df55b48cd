//! Compression of request bodies in Brotli (RFC 7932).
//!
//! A body is cut into pieces, and each piece is one meta-block: copies of what came before
//! (section 4 and 5) and literals, in three prefix codes of its own. The dictionary, the contexts
//! of literals and the types of blocks are not used: they are worth a few percent of the size, and
//! tables of half a megabyte in the program.

mod bits;
mod copies;
mod prefix;

use bits::Bits;
use copies::{Copies, EarlierCopy, WINDOW_BITS};
use prefix::PrefixCode;

/// The bytes of a piece, whose length is written in four digits of sixteen.
const PIECE: usize = 1 << 16;

/// The sizes of the alphabets (section 3.3 and 5).
const LITERALS: usize = 256;
const COMMANDS: usize = 704;
/// The distances without direct ones and postfix bits (section 4).
const DISTANCES: usize = 64;

/// The numbers of extra bits of codes for lengths of literals and of copies (section 5). Each code
/// begins where the one before ends.
const LITERALS_EXTRA: [u8; 24] = [
    0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12, 14, 24,
];
const COPY_EXTRA: [u8; 24] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 24,
];
/// The shortest copy that a code stands for.
const SHORTEST_COPY: usize = 2;

/// Returns the bytes as a stream of Brotli.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    // The window as a number of bits from 18 to 24 (section 9.1).
    bits.put(1 | (WINDOW_BITS - 17) << 1, 4);
    let mut copies = Copies::of(bytes);
    let mut last_distance = 4;
    for start in (0..bytes.len()).step_by(PIECE) {
        let end = bytes.len().min(start + PIECE);
        let commands = commands(&mut copies, start, end, &mut last_distance);
        meta_block(&bytes[start..end], &commands, &mut bits);
    }
    // The last meta-block is empty.
    bits.put(0b11, 2);
    bits.into_bytes()
}

/// A code with its extra bits.
#[derive(Clone, Copy, Default)]
struct Coded {
    code: usize,
    extra: u32,
    extra_bits: u8,
}

/// Literals and the copy that follows.
struct Command {
    /// The number of literals.
    literals: usize,
    /// The bytes of the piece that the copy stands for; none at the end of a piece.
    copied: usize,
    code: usize,
    literals_length: Coded,
    copy_length: Coded,
    /// None where the code says that it is the last one, and at the end of a piece.
    distance: Option<Coded>,
}

/// Divides a piece into commands.
fn commands(
    copies: &mut Copies<'_>,
    start: usize,
    end: usize,
    last_distance: &mut usize,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let (mut literals_from, mut at) = (start, start);
    while at < end {
        match copies.best(at, end, *last_distance) {
            Some(copy) => {
                let literals = at - literals_from;
                commands.push(Command::new(literals, copy, *last_distance));
                *last_distance = copy.distance;
                copies.pass(at, at + copy.length);
                at += copy.length;
                literals_from = at;
            }
            None => {
                copies.pass(at, at + 1);
                at += 1;
            }
        }
    }
    if literals_from < end {
        commands.push(Command::at_the_end(end - literals_from));
    }
    commands
}

impl Command {
    fn new(literals: usize, copy: EarlierCopy, last_distance: usize) -> Command {
        let literals_length = length_code(&LITERALS_EXTRA, 0, literals);
        let copy_length = length_code(&COPY_EXTRA, SHORTEST_COPY, copy.length);
        let is_last = copy.distance == last_distance;
        let is_implied = is_last && literals_length.code < 8 && copy_length.code < 16;
        let distance = match is_last {
            // The code of the last distance.
            true => Coded::default(),
            false => distance_code(copy.distance),
        };
        Command {
            literals,
            copied: copy.length,
            code: command_code(literals_length.code, copy_length.code, is_implied),
            literals_length,
            copy_length,
            distance: (!is_implied).then_some(distance),
        }
    }

    /// Literals up to the end of a piece, which no copy follows.
    fn at_the_end(literals: usize) -> Command {
        let literals_length = length_code(&LITERALS_EXTRA, 0, literals);
        Command {
            literals,
            copied: 0,
            code: command_code(literals_length.code, 0, false),
            literals_length,
            copy_length: Coded::default(),
            distance: None,
        }
    }
}

/// Returns the code of a length, if the first code stands for `first`.
fn length_code(extra_bits: &[u8; 24], first: usize, length: usize) -> Coded {
    let (mut code, mut begin) = (0, first);
    while code + 1 < extra_bits.len() && length >= begin + (1 << extra_bits[code]) {
        begin += 1 << extra_bits[code];
        code += 1;
    }
    Coded {
        code,
        extra: (length - begin) as u32,
        extra_bits: extra_bits[code],
    }
}

/// Returns the code that stands for both lengths (section 5): a cell has eight codes of each, and
/// the first two cells imply the last distance.
fn command_code(literals: usize, copy: usize, is_last_distance: bool) -> usize {
    /// The number of the cell by the upper bits of both codes.
    const CELLS: [[usize; 3]; 3] = [[2, 3, 6], [4, 5, 8], [7, 9, 10]];
    let cell = match is_last_distance {
        true => copy >> 3,
        false => CELLS[literals >> 3][copy >> 3],
    };
    cell << 6 | (literals & 7) << 3 | copy & 7
}

/// Returns the code of a distance without postfix (section 4): its two upper bits, and the number
/// of those below.
fn distance_code(distance: usize) -> Coded {
    let number = distance + 3;
    let extra_bits = number.ilog2() - 1;
    let upper = (number >> extra_bits) & 1;
    Coded {
        code: 16 + ((extra_bits as usize - 1) << 1 | upper),
        extra: (number & ((1 << extra_bits) - 1)) as u32,
        extra_bits: extra_bits as u8,
    }
}

/// Writes a piece (section 9.2 and 9.3).
fn meta_block(piece: &[u8], commands: &[Command], bits: &mut Bits) {
    // Not the last one, four digits for the length, and compressed.
    bits.put(0, 1 + 2);
    bits.put(piece.len() as u32 - 1, 16);
    bits.put(0, 1);
    // One type of block each, no postfix bits, no direct distances, the contexts of the first mode,
    // and one prefix code each for literals and distances.
    bits.put(0, 3 + 2 + 4 + 2 + 1 + 1);
    let codes = Codes::of(piece, commands);
    codes.literals.describe(bits);
    codes.commands.describe(bits);
    codes.distances.describe(bits);
    let mut rest = piece;
    for command in commands {
        codes.commands.put(command.code, bits);
        command.literals_length.put_extra(bits);
        command.copy_length.put_extra(bits);
        for literal in &rest[..command.literals] {
            codes.literals.put(usize::from(*literal), bits);
        }
        if let Some(distance) = command.distance {
            codes.distances.put(distance.code, bits);
            distance.put_extra(bits);
        }
        rest = &rest[command.literals + command.copied..];
    }
}

impl Coded {
    fn put_extra(self, bits: &mut Bits) {
        bits.put(self.extra, self.extra_bits.into());
    }
}

/// The prefix codes of a piece.
struct Codes {
    literals: PrefixCode,
    commands: PrefixCode,
    distances: PrefixCode,
}

impl Codes {
    fn of(piece: &[u8], commands: &[Command]) -> Codes {
        let mut of_literals = [0; LITERALS];
        let mut of_commands = [0; COMMANDS];
        let mut of_distances = [0; DISTANCES];
        let mut rest = piece;
        for command in commands {
            of_commands[command.code] += 1;
            for literal in &rest[..command.literals] {
                of_literals[usize::from(*literal)] += 1;
            }
            if let Some(distance) = command.distance {
                of_distances[distance.code] += 1;
            }
            rest = &rest[command.literals + command.copied..];
        }
        Codes {
            literals: PrefixCode::new(&of_literals),
            commands: PrefixCode::new(&of_commands),
            distances: PrefixCode::new(&of_distances),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a stream with a library.
    fn read(stream: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut stream = stream;
        brotli_decompressor::BrotliDecompress(&mut stream, &mut bytes).unwrap();
        bytes
    }

    /// Returns the size of the stream, which is read back.
    fn size(bytes: &[u8]) -> usize {
        let stream = compressed(bytes);
        assert!(read(&stream) == bytes, "{} bytes", bytes.len());
        stream.len()
    }

    /// Numbers that are the same in each run of the tests, and look random.
    fn numbers() -> impl Iterator<Item = usize> {
        let next = |number: &u64| Some(number.wrapping_mul(6_364_136_223_846_793_005) + 1);
        std::iter::successors(Some(1), next).map(|number| (number >> 33) as usize)
    }

    fn documents(count: usize) -> Vec<u8> {
        let words = [
            "user", "Berlin", "Jordan", "order", "true", "1204", "shipping", "café",
        ];
        let mut numbers = numbers();
        let mut next = || numbers.next().unwrap();
        let line = |number| {
            let (name, place) = (words[next() % 8], words[next() % 8]);
            format!(
                "{{\"id\":{number},\"name\":\"{name}\",\"place\":\"{place}\",\"sum\":{}}}\n",
                next() % 100_000
            )
        };
        (0..count).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn nothing_is_a_stream_too() {
        assert_eq!(size(b""), 1);
    }

    #[test]
    fn few_bytes_grow_by_few() {
        for text in ["a", "ab", "abc", "abcd", "abcde", "aaaaaaaaaaaaaaaa"] {
            let size = size(text.as_bytes());
            assert!(size <= text.len() + 16, "{text}: {size}");
        }
    }

    #[test]
    fn what_is_alike_takes_little_room() {
        assert!(size(&vec![b'x'; 3_000_000]) < 1_000);
        assert!(size("abcdefg".repeat(100_000).as_bytes()) < 400);
    }

    #[test]
    fn documents_take_less_room_than_with_gzip() {
        use flate2::{Compression, write::GzEncoder};
        use std::io::Write;
        for count in [20, 500, 20_000] {
            let bytes = documents(count);
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(&bytes).unwrap();
            let gzip = gzip.finish().unwrap().len();
            let size = size(&bytes);
            assert!(size < gzip, "{count}: {size}, {gzip}");
        }
    }

    #[test]
    fn random_bytes_hardly_grow() {
        let bytes: Vec<u8> = numbers().take(400_000).map(|number| number as u8).collect();
        assert!(size(&bytes) < 402_000);
    }

    #[test]
    fn copies_reach_over_pieces_and_no_further_than_the_window() {
        let part: Vec<u8> = numbers().take(100_000).map(|number| number as u8).collect();
        let near = [&part[..], &part].concat();
        assert!(size(&near) < 102_000);
        let far = [&part[..], &vec![0; 1 << 18], &part].concat();
        assert!(size(&far) > 200_000);
    }

    #[test]
    fn lengths_of_all_codes_are_read_back() {
        for length in (1..200).chain([500, 1_094, 1_095, 2_113, 2_118, 2_200, 6_300, 23_000]) {
            let literals: Vec<u8> = numbers().take(length).map(|number| number as u8).collect();
            size(&literals);
            size(&[&literals[..], &vec![b'y'; length], &literals].concat());
        }
    }

    proptest! {
        #[test]
        fn what_is_read_back_is_what_was_written(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..600),
                prop::collection::vec(0..4_u8, 0..5_000),
                prop::collection::vec(prop_oneof![9 => Just(b'a'), 1 => any::<u8>()], 0..5_000),
            ],
            copies in 1..40_usize,
        ) {
            size(&bytes);
            size(&bytes.repeat(copies));
        }
    }
}
