//! Strings in Huffman code (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length follow each other in the order of their symbols,
//! followed by the longer ones. The lengths therefore define the whole code, and the tables are
//! computed from them at compile time.

/// The length, in bits, of each byte's code, and of the code for the end of a string (256), which
/// is never sent.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// The length of the longest code, in bits.
const MAX_BITS: usize = 30;
const END_OF_STRING: u16 = 256;

/// The canonical code, with tables for both directions.
struct Code {
    /// The code of each symbol, in the lowest bits.
    codes: [u32; 257],
    /// The symbols in the order of their codes.
    order: [u16; 257],
    /// For each length: the first code, aligned to the left of 32 bits.
    first: [u64; MAX_BITS + 1],
    /// For each length: the first longer code, aligned in the same way.
    limit: [u64; MAX_BITS + 1],
    /// For each length: the index in `order` of its first symbol.
    start: [usize; MAX_BITS + 1],
}

static CODE: Code = Code::canonical();

impl Code {
    const fn canonical() -> Self {
        let mut code = Code {
            codes: [0; 257],
            order: [0; 257],
            first: [0; MAX_BITS + 1],
            limit: [0; MAX_BITS + 1],
            start: [0; MAX_BITS + 1],
        };
        let mut next: u64 = 0;
        let mut placed = 0;
        let mut bits = 1;
        while bits <= MAX_BITS {
            next <<= 1;
            code.first[bits] = next << (32 - bits);
            code.start[bits] = placed;
            let mut symbol = 0;
            while symbol < LENGTHS.len() {
                if LENGTHS[symbol] as usize == bits {
                    code.codes[symbol] = next as u32;
                    code.order[placed] = symbol as u16;
                    placed += 1;
                    next += 1;
                }
                symbol += 1;
            }
            code.limit[bits] = next << (32 - bits);
            bits += 1;
        }
        code
    }

    /// Returns the symbol whose code begins `window`, and the length of the code in bits.
    fn symbol(&self, window: u32) -> (u16, usize) {
        let window = u64::from(window);
        let mut bits = 5;
        while window >= self.limit[bits] && bits < MAX_BITS {
            bits += 1;
        }
        let nth = (window - self.first[bits]) >> (32 - bits);
        (self.order[self.start[bits] + nth as usize], bits)
    }
}

/// Returns the number of bytes that `text` takes in Huffman code.
pub(super) fn encoded_len(text: &[u8]) -> usize {
    let bits = |&byte: &u8| usize::from(LENGTHS[usize::from(byte)]);
    text.iter().map(bits).sum::<usize>().div_ceil(8)
}

/// Appends `text` in Huffman code, padded with the first bits of the code for the end.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut window, mut held) = (0_u64, 0_u32);
    for &byte in text {
        let bits = u32::from(LENGTHS[usize::from(byte)]);
        window = window << bits | u64::from(CODE.codes[usize::from(byte)]);
        held += bits;
        while held >= 8 {
            held -= 8;
            out.push((window >> held) as u8);
        }
    }
    if held > 0 {
        out.push((window << (8 - held)) as u8 | (0xff >> held));
    }
}

/// Appends the bytes that `coded` encodes. `None` if it contains the code for the end, or is padded
/// with more than seven bits or with other bits than that code's.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = coded.iter();
    let (mut window, mut held) = (0_u64, 0_usize);
    loop {
        while held <= 32 {
            let Some(&byte) = rest.next() else { break };
            window = window << 8 | u64::from(byte);
            held += 8;
        }
        if held == 0 {
            return Some(());
        }
        let (symbol, bits) = CODE.symbol(leading(window, held));
        if bits > held {
            let is_filling = held < 8 && window & ((1 << held) - 1) == (1 << held) - 1;
            return is_filling.then_some(());
        }
        if symbol == END_OF_STRING {
            return None;
        }
        out.push(symbol as u8);
        held -= bits;
    }
}

/// Returns the first 32 of the `held` lowest bits, padded with ones if there are fewer.
fn leading(window: u64, held: usize) -> u32 {
    if held >= 32 {
        (window >> (held - 32)) as u32
    } else {
        let missing = 32 - held;
        ((window << missing) | ((1 << missing) - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(coded: &[u8]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        decode(coded, &mut text).map(|()| text)
    }

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut coded = Vec::new();
        encode(text, &mut coded);
        coded
    }

    #[test]
    fn the_examples_of_the_rfc_are_coded_as_it_shows() {
        let cases: [(&[u8], &[u8]); 3] = [
            (
                b"www.example.com",
                b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff",
            ),
            (b"no-cache", b"\xa8\xeb\x10\x64\x9c\xbf"),
            (b"302", b"\x64\x02"),
        ];
        for (text, coded) in cases {
            assert_eq!(encoded(text), coded);
            assert_eq!(decoded(coded).as_deref(), Some(text));
        }
    }

    #[test]
    fn the_codes_fill_all_of_their_room() {
        assert_eq!(CODE.limit[MAX_BITS], 1 << 32);
        assert_eq!(CODE.codes[256], (1 << 30) - 1);
    }

    #[test]
    fn the_end_of_a_string_is_never_sent() {
        assert_eq!(decoded(&[0xff; 4]), None);
    }

    #[test]
    fn a_string_is_filled_up_with_less_than_a_byte_of_ones() {
        assert_eq!(decoded(b""), Some(vec![]));
        assert_eq!(decoded(b"\x07").as_deref(), Some(&b"0"[..]));
        assert_eq!(decoded(b"\x00").as_deref(), None);
        assert_eq!(decoded(b"\x07\xff"), None);
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(text in prop::collection::vec(any::<u8>(), 0..100)) {
            let coded = encoded(&text);
            prop_assert_eq!(coded.len(), encoded_len(&text));
            prop_assert_eq!(decoded(&coded), Some(text));
        }

        #[test]
        fn what_is_decoded_has_one_code(coded in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(text) = decoded(&coded) {
                prop_assert_eq!(encoded(&text), coded);
            }
        }
    }
}
