//! The last head that was parsed, and its meaning.
//!
//! A server under load repeats its head byte for byte, except for the date, which changes each
//! second. Comparing two hundred bytes costs a tenth of parsing them.

use crate::head::{self, Head};
use crate::malformed::Malformed;

/// The length, in bytes, of the longest head in the memo.
const LONGEST: usize = 2048;

/// The last head that was parsed, and its meaning.
#[derive(Clone, Debug, Default)]
pub struct HeadMemo {
    /// The head through its empty line; empty before the first one.
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl HeadMemo {
    /// Parses the head at the start of `input`, or recognises it: the meaning of a head depends
    /// only on its own bytes.
    #[inline]
    pub(crate) fn parse(&mut self, input: &[u8]) -> Result<Option<Head>, Malformed> {
        match self.head {
            Some(head) if input.starts_with(&self.bytes) => Ok(Some(head)),
            _ => self.parse_unknown(input),
        }
    }

    fn parse_unknown(&mut self, input: &[u8]) -> Result<Option<Head>, Malformed> {
        let head = head::parse(input)?;
        if let Some(head) = head.filter(|head| head.len <= LONGEST) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&input[..head.len]);
            self.head = Some(head);
        }
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expect, ResponseParser};

    const SHORT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    const LONGER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: 1\r\n\r\nhi";
    const OTHER: &[u8] = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    #[test]
    fn what_is_known_says_the_same_as_what_is_parsed() {
        let mut memo = HeadMemo::default();
        for input in [SHORT, SHORT, LONGER, SHORT, OTHER, OTHER, SHORT, SHORT] {
            let known = memo.parse(input).unwrap();
            assert_eq!(known, head::parse(input).unwrap());
            assert!(known.is_some());
        }
    }

    #[test]
    fn a_piece_of_a_known_head_is_no_head() {
        let mut memo = HeadMemo::default();
        memo.parse(SHORT).unwrap();
        assert_eq!(memo.parse(&SHORT[..20]).unwrap(), None);
    }

    #[test]
    fn a_memo_serves_several_parsers() {
        let mut memo = HeadMemo::default();
        for (input, status, reusable) in
            [(SHORT, 200, true), (OTHER, 404, false), (SHORT, 200, true)]
        {
            let mut parser = ResponseParser::new();
            parser.begin(Expect::Other);
            let fed = parser.feed_knowing(&mut memo, input, &mut ()).unwrap();
            assert!(fed.done && fed.used == input.len());
            assert_eq!((parser.status(), parser.reusable()), (status, reusable));
        }
    }
}
