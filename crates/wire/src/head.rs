//! The head of a response: its status line and the fields that frame the body (RFC 9112, sections
//! 4, 6 and 9.3).

use crate::excerpt::Excerpt;
use crate::fields::{empty_line, is_in_any_case, line_end, list, value_of};
use crate::malformed::Malformed;

/// The beginning of every response.
const START: &[u8] = b"HTTP/1.";

/// The length of the shortest status line: version, blank, status, and the byte that ends it.
const SHORTEST_STATUS_LINE: usize = "HTTP/1.1 200\n".len();

/// A parsed head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The length in bytes, from the status line through the empty line.
    pub(crate) len: usize,
    /// The length of the status line in bytes, including its end.
    pub(crate) status_line_len: usize,
    /// The status, three digits, 100 to 999.
    pub(crate) status: u16,
    /// True for HTTP/1.0, in which connections stay open only by agreement.
    pub(crate) is_http10: bool,
    /// The fields that describe the body and the connection.
    pub(crate) framing: Framing,
}

/// The fields of a head that describe the body and the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Framing {
    /// `Content-Length`, below 2^63.
    pub(crate) length: Option<u64>,
    /// The last coding of `Transfer-Encoding`.
    pub(crate) coding: Option<Coding>,
    /// True if `Connection` has `close`.
    pub(crate) close: bool,
    /// True if `Connection` has `keep-alive`.
    pub(crate) keep_alive: bool,
}

/// The end of a body with a transfer coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// After the last chunk.
    Chunked,
    /// At the end of the connection.
    Other,
}

/// Parses the head at the start of `input`; `None` while it is incomplete.
///
/// An error may be returned even for an incomplete head.
pub(crate) fn parse(input: &[u8]) -> Result<Option<Head>, Malformed> {
    let Some((status, is_http10)) = status_line(input)? else {
        return Ok(None);
    };
    let Some(status_line_len) = line_end(input) else {
        return Ok(None);
    };
    let mut len = status_line_len;
    let mut framing = Framing::default();
    loop {
        let rest = &input[len..];
        let empty_line = empty_line(rest);
        if empty_line > 0 {
            len += empty_line;
            return Ok(Some(Head {
                len,
                status_line_len,
                status,
                is_http10,
                framing,
            }));
        }
        let Some(end) = line_end(rest) else {
            return Ok(None);
        };
        framing.note(&rest[..end])?;
        len += end;
    }
}

impl Head {
    /// True if another head follows (RFC 9110, section 15.2). A 101 is final: another protocol
    /// follows it.
    pub(crate) fn is_interim(&self) -> bool {
        self.status < 200 && self.status != 101
    }
}

/// Checks that `bytes`, all that have arrived so far, may be the start of a response.
pub(crate) fn check_start(bytes: &[u8]) -> Result<(), Malformed> {
    let len = bytes.len().min(START.len());
    if bytes[..len] != START[..len] {
        return Err(Malformed::NotHttp(Excerpt::of(bytes)));
    }
    Ok(())
}

/// Returns the status, and whether the version is 1.0; `None` while the line is too short.
///
/// The reason phrase is ignored and may be missing.
#[inline]
fn status_line(input: &[u8]) -> Result<Option<(u16, bool)>, Malformed> {
    let Some((b"HTTP/1.", [minor @ b'0'..=b'9', b' ', rest @ ..])) = input.split_first_chunk()
    else {
        return no_status_line(input);
    };
    match rest {
        [
            a @ b'1'..=b'9',
            b @ b'0'..=b'9',
            c @ b'0'..=b'9',
            b' ' | b'\t' | b'\r' | b'\n',
            ..,
        ] => Ok(Some((number([*a, *b, *c]), *minor == b'0'))),
        _ => no_status_line(input),
    }
}

fn number(digits: [u8; 3]) -> u16 {
    digits
        .iter()
        .fold(0, |n, digit| n * 10 + u16::from(digit - b'0'))
}

#[cold]
fn no_status_line(input: &[u8]) -> Result<Option<(u16, bool)>, Malformed> {
    check_start(input)?;
    if input.len() < SHORTEST_STATUS_LINE && !input.contains(&b'\n') {
        return Ok(None);
    }
    Err(Malformed::StatusLine(Excerpt::of_line(input)))
}

impl Framing {
    /// Evaluates one line, if it is one of the three relevant fields.
    #[inline]
    fn note(&mut self, line: &[u8]) -> Result<(), Malformed> {
        match line[0] | 0x20 {
            b'c' => {
                if let Some(value) = value_of(line, b"content-length") {
                    self.note_length(value)?;
                } else if let Some(value) = value_of(line, b"connection") {
                    self.note_connection(value);
                }
            }
            b't' => {
                if let Some(value) = value_of(line, b"transfer-encoding") {
                    self.note_coding(value);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn note_connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.close |= is_in_any_case(option, b"close");
            self.keep_alive |= is_in_any_case(option, b"keep-alive");
        }
    }

    /// Evaluates a length. Several equal lengths, in one field or in many, count as one (RFC 9110,
    /// section 8.6).
    fn note_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for element in value.split(|&b| b == b',') {
            let length = length(element.trim_ascii())
                .ok_or_else(|| Malformed::ContentLength(Excerpt::of(value.trim_ascii())))?;
            match self.length.replace(length) {
                Some(other) if other != length => {
                    return Err(Malformed::ContentLengths(other, length));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Evaluates transfer codings. `identity`, which older servers send, does not count as a
    /// coding.
    fn note_coding(&mut self, value: &[u8]) {
        for coding in list(value) {
            if is_in_any_case(coding, b"chunked") {
                self.coding = Some(Coding::Chunked);
            } else if !is_in_any_case(coding, b"identity") {
                self.coding = Some(Coding::Other);
            }
        }
    }
}

/// Reads a decimal number below 2^63 that consists of digits only.
fn length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let length = digits.iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    (length <= i64::MAX as u64).then_some(length)
}

#[cfg(test)]
mod tests;
