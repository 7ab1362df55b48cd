//! Distributions as text: HdrHistogram's compressed V2 encoding in base64.
//!
//! The encoding is common to the HdrHistogram libraries of all languages (class `AbstractHistogram`
//! of <https://github.com/HdrHistogram/HdrHistogram>): a cookie and a length, then, deflated, a
//! header of 40 bytes and the counts as zig-zag LEB128 numbers, of which negative ones stand for a
//! run of zeros. All histograms of a saved run have the same bounds and precision, so that any
//! reader can add them up.

use super::metrics::WrittenTrends;
use crate::distribution::{DIGITS, Distribution, LONGEST_NS};
use crate::error::DecodeError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use std::io::Read;

/// The first bytes of the compressed encoding.
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// The room for the bytes that zlib may add to its input.
const ROOM: usize = 256;
/// The first bytes of the uncompressed encoding.
const COOKIE: u32 = 0x1c84_9313;
/// The size of the header: cookie, payload's length, normalizing offset, digits, lowest, highest,
/// ratio.
const HEADER_BYTES: usize = 40;
/// A limit above the size of all decompressed counts within Loadline's bounds: 33 k numbers of at
/// most 9 bytes.
const MOST_BYTES: u64 = 1 << 20;
/// A limit above the values of any run; it keeps sums over many intervals far from overflow.
const MOST_VALUES: u64 = 1 << 48;

/// Encodes distributions as text. It reuses its buffers and the deflater, which is an aligned block
/// of 380 KB. Ten of these per second, allocated and freed between small blocks that stay, left
/// holes that glibc (before 2.38) did not reuse, so that the memory of a long run grew without end.
pub(crate) struct Encoder {
    /// A histogram with the bounds of the file; distributions are copied into it to be encoded.
    full_range: Histogram<u64>,
    serializer: V2Serializer,
    plain: Vec<u8>,
    deflater: Compress,
    bytes: Vec<u8>,
    trends: WrittenTrends,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder::new()
    }
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder {
            full_range: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
                .expect("1 ns to an hour with three digits are valid bounds"),
            serializer: V2Serializer::new(),
            plain: Vec::new(),
            deflater: Compress::new(Compression::default(), true),
            bytes: Vec::new(),
            trends: WrittenTrends::default(),
        }
    }

    /// Returns the numbers of values of trends that were encoded.
    pub(crate) fn trends(&mut self) -> &mut WrittenTrends {
        &mut self.trends
    }

    /// Returns the distribution as text, or `None` if it is empty.
    pub(crate) fn encode(&mut self, distribution: &Distribution) -> Option<String> {
        self.full_range
            .set_to(distribution.recorded()?)
            .expect("a distribution holds nothing longer than an hour");
        self.plain.clear();
        self.serializer
            .serialize(&self.full_range, &mut self.plain)
            .expect("counts stay below 2^63 and memory takes all bytes");
        self.deflate();
        Some(STANDARD.encode(&self.bytes))
    }

    /// Compresses `plain` into `bytes`, including the cookie and the length.
    fn deflate(&mut self) {
        self.deflater.reset();
        self.bytes.clear();
        self.bytes.extend(COMPRESSED_COOKIE.to_be_bytes());
        self.bytes.extend([0; size_of::<u32>()]);
        let begin = self.bytes.len();
        loop {
            // Room for the remaining input, in case it does not become shorter.
            let done = self.deflater.total_in() as usize;
            self.bytes.reserve(self.plain.len() - done + ROOM);
            let (plain, bytes) = (&self.plain[done..], &mut self.bytes);
            let status = self
                .deflater
                .compress_vec(plain, bytes, FlushCompress::Finish)
                .expect("a stream that was just begun takes all bytes");
            if status == Status::StreamEnd {
                break;
            }
        }
        let length = (self.bytes.len() - begin) as u32;
        self.bytes[begin - size_of::<u32>()..begin].copy_from_slice(&length.to_be_bytes());
    }
}

/// Decodes the distribution of a text.
pub(crate) fn decode(text: &str) -> Result<Distribution, DecodeError> {
    let inflated = inflate(&STANDARD.decode(text)?)?;
    check(&inflated)?;
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut inflated.as_slice())
        .map_err(|_| DecodeError::Encoding)?;
    if histogram.len() > MOST_VALUES {
        return Err(DecodeError::Count);
    }
    Ok(Distribution::from_histogram(&histogram))
}

fn inflate(encoded: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let (cookie, rest) = split_u32(encoded).ok_or(DecodeError::Encoding)?;
    let (length, deflated) = split_u32(rest).ok_or(DecodeError::Encoding)?;
    if cookie != COMPRESSED_COOKIE || length as usize != deflated.len() {
        return Err(DecodeError::Encoding);
    }
    let mut inflated = Vec::new();
    ZlibDecoder::new(deflated)
        .take(MOST_BYTES)
        .read_to_end(&mut inflated)
        .map_err(DecodeError::Compression)?;
    Ok(inflated)
}

/// Checks values that the library's decoder does not check: it reserves the memory that header and
/// length request, and its sums may overflow.
fn check(inflated: &[u8]) -> Result<(), DecodeError> {
    let (header, payload) = inflated
        .split_at_checked(HEADER_BYTES)
        .ok_or(DecodeError::Encoding)?;
    let word = |at: usize| split_u32(&header[at..]).map_or(0, |(word, _)| word);
    if word(0) != COOKIE || word(4) as usize != payload.len() {
        return Err(DecodeError::Encoding);
    }
    let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
    if word(12) != u32::from(DIGITS) || long(16) != 1 || long(24) != LONGEST_NS {
        return Err(DecodeError::Bounds);
    }
    // Seven continued bytes in a row make a number of at least 50 bits.
    if payload
        .windows(7)
        .any(|bytes| bytes.iter().all(|byte| byte & 0x80 != 0))
    {
        return Err(DecodeError::Count);
    }
    Ok(())
}

/// Returns the first four bytes as a number, most significant first, and the rest.
fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*first), rest))
}
