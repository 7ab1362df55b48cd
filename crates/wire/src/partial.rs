//! A block that arrives in pieces, kept until its empty line has arrived.

use memchr::memchr_iter;

use crate::MAX_HEAD_BYTES;
use crate::fields::empty_line;

/// The pieces of a block so far. It begins at the start of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial {
    bytes: Vec<u8>,
}

/// The result of adding a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gathered {
    /// The number of bytes of the piece that were used.
    pub(crate) used: usize,
    /// True if the block is complete.
    pub(crate) whole: bool,
}

impl Partial {
    /// Adds the part of `piece` that belongs to the block, or the first byte above the limit.
    ///
    /// Only the new bytes are examined, so many small pieces cost no more than few large ones.
    pub(crate) fn gather(&mut self, piece: &[u8]) -> Gathered {
        let end = self.end_in(piece);
        let used = end
            .unwrap_or(piece.len())
            .min(MAX_HEAD_BYTES + 1 - self.bytes.len());
        self.bytes.extend_from_slice(&piece[..used]);
        Gathered {
            used,
            whole: end == Some(used),
        }
    }

    /// Returns the gathered bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if more bytes were gathered than a block may have.
    pub(crate) fn is_too_long(&self) -> bool {
        self.bytes.len() > MAX_HEAD_BYTES
    }

    /// Returns the position in `piece` at which the block ends, after its empty line.
    fn end_in(&self, piece: &[u8]) -> Option<usize> {
        let begun = match self.bytes.as_slice() {
            [] | [.., b'\n'] => empty_line(piece),
            [b'\r'] | [.., b'\n', b'\r'] => usize::from(piece.first() == Some(&b'\n')),
            _ => 0,
        };
        if begun > 0 {
            Some(begun)
        } else {
            block_end(piece)
        }
    }
}

/// Returns the end of the first empty line that follows a line's end.
fn block_end(bytes: &[u8]) -> Option<usize> {
    memchr_iter(b'\n', bytes).find_map(|lf| {
        let next = lf + 1;
        let empty_line = empty_line(&bytes[next..]);
        (empty_line > 0).then_some(next + empty_line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gathers two pieces. Returns the end of the block in both together.
    fn end_of(first: &[u8], second: &[u8]) -> Option<usize> {
        let mut partial = Partial::default();
        let gathered = partial.gather(first);
        if gathered.whole {
            return Some(gathered.used);
        }
        assert_eq!(gathered.used, first.len());
        let gathered = partial.gather(second);
        gathered.whole.then_some(first.len() + gathered.used)
    }

    #[test]
    fn finds_the_empty_line_across_every_cut() {
        for (block, end) in [
            (&b"A: 1\r\nB: 2\r\n\r\nbody\r\n\r\n"[..], 14),
            (b"A: 1\nB: 2\n\nbody", 11),
            (b"A: 1\r\n\nbody", 7),
            (b"A: 1\n\r\nbody", 7),
            (b"\r\nbody", 2),
            (b"\nbody", 1),
        ] {
            for cut in 0..=block.len() {
                assert_eq!(
                    end_of(&block[..cut], &block[cut..]),
                    Some(end),
                    "{block:?} at {cut}"
                );
            }
        }
    }

    #[test]
    fn a_carriage_return_alone_ends_nothing() {
        assert_eq!(end_of(b"A: 1\r", b"\r\nB"), None);
        assert_eq!(end_of(b"A: 1\n\r", b"\r\nB"), None);
        assert_eq!(end_of(b"A\r", b"\n"), None);
    }

    #[test]
    fn a_fold_is_no_empty_line() {
        assert_eq!(end_of(b"A: 1\r\n", b" \r\nB"), None);
    }

    #[test]
    fn stops_at_the_first_byte_too_many() {
        let mut partial = Partial::default();
        assert_eq!(partial.gather(&[b'a'; MAX_HEAD_BYTES]).used, MAX_HEAD_BYTES);
        assert!(!partial.is_too_long());
        assert_eq!(
            partial.gather(b"aaa\n\n"),
            Gathered {
                used: 1,
                whole: false
            }
        );
        assert!(partial.is_too_long());
    }

    #[test]
    fn a_block_may_have_the_full_length() {
        let mut partial = Partial::default();
        let mut block = vec![b'a'; MAX_HEAD_BYTES - 2];
        block.extend_from_slice(b"\n\nbody");
        let gathered = partial.gather(&block);
        assert_eq!(
            gathered,
            Gathered {
                used: MAX_HEAD_BYTES,
                whole: true
            }
        );
        assert!(!partial.is_too_long());
    }
}
