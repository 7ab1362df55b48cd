//! The framing of a chunked body (RFC 9112, section 7.1), one byte at a time.
//!
//! Nothing is buffered: a size line may arrive in any pieces. Chunk extensions are skipped.

use memchr::memchr;

use crate::excerpt::Excerpt;
use crate::malformed::Malformed;

/// The position in a chunked body, outside the data of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// At the first digit of a size.
    Size,
    /// After at least one digit; the size so far.
    Digits(u64),
    /// Between the size and its line's end.
    Extension(u64),
    /// At the line end after the data.
    DataEnd,
    /// Within the line end after the data, after its CR.
    DataEndLf,
}

/// The next part of a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// More framing.
    Framing(Chunk),
    /// This many bytes of data, never 0.
    Data(u64),
    /// The trailers, after the last chunk.
    Trailers,
}

impl Chunk {
    /// Reads framing from `input` up to the beginning of data or trailers. Returns the number of
    /// bytes used, and the next part.
    pub(crate) fn read(mut self, input: &[u8]) -> Result<(usize, Next), Malformed> {
        let mut used = 0;
        while used < input.len() {
            let (step, next) = self.step(&input[used..])?;
            used += step;
            match next {
                Next::Framing(chunk) => self = chunk,
                ended @ (Next::Data(_) | Next::Trailers) => return Ok((used, ended)),
            }
        }
        Ok((used, Next::Framing(self)))
    }

    /// Makes one step on input that isn't empty.
    fn step(self, input: &[u8]) -> Result<(usize, Next), Malformed> {
        match self {
            Chunk::Size => Ok((1, Next::Framing(Chunk::Digits(first_digit(input)?)))),
            Chunk::Digits(size) => digit_or_end(size, input),
            Chunk::Extension(size) => Ok(extension(size, input)),
            Chunk::DataEnd => data_end(input),
            Chunk::DataEndLf => line_feed(input),
        }
    }
}

fn first_digit(input: &[u8]) -> Result<u64, Malformed> {
    hex_digit(input[0]).ok_or_else(|| Malformed::ChunkSize(Excerpt::of(input)))
}

fn digit_or_end(size: u64, input: &[u8]) -> Result<(usize, Next), Malformed> {
    match input[0] {
        b'\n' => Ok((1, after_size(size))),
        b'\r' | b';' | b' ' | b'\t' => Ok((1, Next::Framing(Chunk::Extension(size)))),
        byte => {
            let digit = hex_digit(byte).ok_or_else(|| Malformed::ChunkSize(Excerpt::of(input)))?;
            Ok((
                1,
                Next::Framing(Chunk::Digits(with_digit(size, digit, input)?)),
            ))
        }
    }
}

/// Appends a hexadecimal digit to a size, which must stay below 2^63.
fn with_digit(size: u64, digit: u64, input: &[u8]) -> Result<u64, Malformed> {
    if size > (i64::MAX as u64) >> 4 {
        return Err(Malformed::ChunkSizeTooLarge(Excerpt::of(input)));
    }
    Ok(size << 4 | digit)
}

fn hex_digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}

fn extension(size: u64, input: &[u8]) -> (usize, Next) {
    match memchr(b'\n', input) {
        Some(lf) => (lf + 1, after_size(size)),
        None => (input.len(), Next::Framing(Chunk::Extension(size))),
    }
}

fn after_size(size: u64) -> Next {
    if size == 0 {
        Next::Trailers
    } else {
        Next::Data(size)
    }
}

fn data_end(input: &[u8]) -> Result<(usize, Next), Malformed> {
    match input[0] {
        b'\r' => Ok((1, Next::Framing(Chunk::DataEndLf))),
        _ => line_feed(input),
    }
}

fn line_feed(input: &[u8]) -> Result<(usize, Next), Malformed> {
    match input[0] {
        b'\n' => Ok((1, Next::Framing(Chunk::Size))),
        _ => Err(Malformed::ChunkEnd(Excerpt::of(input))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(line: &str) -> Result<(usize, Next), Malformed> {
        Chunk::Size.read(line.as_bytes())
    }

    #[test]
    fn a_size_is_hexadecimal_in_any_case() {
        assert_eq!(size("1aF\r\ndata"), Ok((5, Next::Data(0x1af))));
        assert_eq!(size("0001\ndata"), Ok((5, Next::Data(1))));
        assert_eq!(size("0\r\n\r\n"), Ok((3, Next::Trailers)));
        assert_eq!(size("000\n\n"), Ok((4, Next::Trailers)));
    }

    #[test]
    fn extensions_and_blanks_after_the_size_are_passed_over() {
        assert_eq!(size("5;name=\"a b\"\r\nhello"), Ok((14, Next::Data(5))));
        assert_eq!(size("5 \t\r\nhello"), Ok((5, Next::Data(5))));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for (line, shown) in [
            ("\r\n", "\r\n"),
            ("g\r\n", "g\r\n"),
            ("-1\n", "-1\n"),
            ("5x\n", "x\n"),
        ] {
            assert_eq!(
                size(line),
                Err(Malformed::ChunkSize(Excerpt::of(shown.as_bytes())))
            );
        }
    }

    #[test]
    fn a_size_is_below_two_to_the_63rd() {
        assert_eq!(
            size("7fffffffffffffff\n"),
            Ok((17, Next::Data(i64::MAX as u64)))
        );
        assert_eq!(size("0000000000000000000005\n"), Ok((23, Next::Data(5))));
        assert_eq!(
            size("8000000000000000\n"),
            Err(Malformed::ChunkSizeTooLarge(Excerpt::of(b"0\n")))
        );
    }

    #[test]
    fn data_ends_with_a_line_end() {
        assert_eq!(
            Chunk::DataEnd.read(b"\r\n5\r\nhello"),
            Ok((5, Next::Data(5)))
        );
        assert_eq!(Chunk::DataEnd.read(b"\n5\nhello"), Ok((3, Next::Data(5))));
        assert_eq!(
            Chunk::DataEnd.read(b"x"),
            Err(Malformed::ChunkEnd(Excerpt::of(b"x")))
        );
        assert_eq!(
            Chunk::DataEnd.read(b"\rx"),
            Err(Malformed::ChunkEnd(Excerpt::of(b"x")))
        );
    }

    #[test]
    fn stops_anywhere_and_goes_on() {
        let mut chunk = Chunk::DataEnd;
        let framing = b"\r\n1a;x=y\r\n";
        for (index, byte) in framing.iter().enumerate() {
            let (used, next) = chunk.read(&[*byte]).unwrap();
            assert_eq!(used, 1);
            match next {
                Next::Framing(next) => chunk = next,
                ended => {
                    assert_eq!((index, ended), (framing.len() - 1, Next::Data(0x1a)));
                }
            }
        }
    }
}
