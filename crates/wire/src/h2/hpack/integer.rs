//! Whole numbers after a few flag bits (RFC 7541, section 5.1).

/// The most bytes after the first one: they hold numbers of 28 bits, more than any valid one has.
const MAX_MORE_BYTES: usize = 4;

/// Reads a number at the start of `input`, whose first byte holds it in the `prefix` lowest bits.
/// `None` if the number is cut off or has more than 28 bits after the prefix.
pub(super) fn decode(prefix: u32, input: &mut &[u8]) -> Option<usize> {
    let (&first, rest) = input.split_first()?;
    let most = (1_usize << prefix) - 1;
    let value = usize::from(first) & most;
    if value < most {
        *input = rest;
        return Some(value);
    }
    decode_rest(most, rest, input)
}

fn decode_rest<'a>(mut value: usize, rest: &'a [u8], input: &mut &'a [u8]) -> Option<usize> {
    for (nth, &byte) in rest.iter().take(MAX_MORE_BYTES).enumerate() {
        value += usize::from(byte & 0x7f) << (7 * nth);
        if byte < 0x80 {
            *input = &rest[nth + 1..];
            return Some(value);
        }
    }
    None
}

/// Appends a number; `flags` are the bits above the prefix.
pub(super) fn encode(prefix: u32, flags: u8, value: usize, out: &mut Vec<u8>) {
    let most = (1_usize << prefix) - 1;
    if value < most {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_rfc_are_coded_as_it_shows() {
        let cases: [(u32, usize, &[u8]); 3] =
            [(5, 10, &[10]), (5, 1337, &[31, 154, 10]), (8, 42, &[42])];
        for (prefix, value, coded) in cases {
            let mut out = Vec::new();
            encode(prefix, 0, value, &mut out);
            assert_eq!(out, coded);
            assert_eq!(decode(prefix, &mut &*coded), Some(value));
        }
    }

    #[test]
    fn numbers_that_are_cut_off_or_too_long_are_refused() {
        for input in [
            &[][..],
            &[0x1f],
            &[0x1f, 0x80],
            &[0x1f, 0x80, 0x80, 0x80, 0x80, 0],
        ] {
            assert_eq!(decode(5, &mut &*input), None, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(prefix in 1_u32..=8, value in 0_usize..1 << 28) {
            let mut out = Vec::new();
            encode(prefix, 0, value, &mut out);
            out.push(0xaa);
            let mut input = &out[..];
            prop_assert_eq!(decode(prefix, &mut input), Some(value));
            prop_assert_eq!(input, &[0xaa]);
        }
    }
}
