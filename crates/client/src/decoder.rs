//! Decoding of compressed bodies: gzip, deflate, br and zstd (RFC 9110, section 8.4.1; RFC 8878).
//!
//! A [`Decoder`] takes a body in the parts in which it arrives, and returns the decoded content in
//! parts of at most 32 KiB. A few bytes can decode to gigabytes, so there is a limit.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use std::fmt;
use zstd::stream::raw::{self, InBuffer, Operation, OutBuffer};

/// The value of `Accept-Encoding` for users of a [`Decoder`].
pub const ACCEPT_ENCODING: &str = "gzip, deflate, br, zstd";

/// The most bytes to which one body may decode.
pub const LONGEST_DECODED: u64 = 256 << 20;

/// The window of gzip and deflate, as a power of two.
const WINDOW_BITS: u8 = 15;
/// The number of bytes that are decoded at once.
const OUTPUT: usize = 32 * 1024;

thread_local! {
    /// The buffer of decoded bytes: one for all decoders of a thread, of which there may be
    /// thousands.
    static DECODED: RefCell<Vec<u8>> = RefCell::new(vec![0; OUTPUT]);
}

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentCoding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950; or only RFC 1951, which some servers send under the same name.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

/// A reason why a body can't be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A coding that was not requested.
    #[error("the body comes in the coding `{0}`, which is none of gzip, deflate, br and zstd")]
    Unknown(String),
    /// A body that breaks the format of its coding.
    #[error("the body is no valid {0}")]
    Corrupt(ContentCoding),
    /// A body that ends too early.
    #[error("the body ends in the middle of its {0}")]
    Cut(ContentCoding),
    /// A body that decodes to more bytes than allowed.
    #[error("the body of {coding} decompresses to more than {most} bytes")]
    TooLong {
        /// The body's coding.
        coding: ContentCoding,
        /// The most bytes.
        most: u64,
    },
}

impl ContentCoding {
    /// Reads the value of a Content-Encoding; `None` if the body is not compressed.
    ///
    /// # Errors
    /// For an unknown coding, or several of them.
    pub fn parse(value: &[u8]) -> Result<Option<ContentCoding>, DecodeError> {
        let is = |names: &[&str]| {
            let mut names = names.iter();
            names.any(|name| value.eq_ignore_ascii_case(name.as_bytes()))
        };
        if is(&["gzip", "x-gzip"]) {
            return Ok(Some(ContentCoding::Gzip));
        }
        if is(&["deflate"]) {
            return Ok(Some(ContentCoding::Deflate));
        }
        if is(&["br"]) {
            return Ok(Some(ContentCoding::Brotli));
        }
        if is(&["zstd"]) {
            return Ok(Some(ContentCoding::Zstd));
        }
        if is(&["identity", ""]) {
            return Ok(None);
        }
        let name = String::from_utf8_lossy(value);
        Err(DecodeError::Unknown(name.into_owned()))
    }
}

impl fmt::Display for ContentCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ContentCoding::Gzip => "gzip",
            ContentCoding::Deflate => "deflate",
            ContentCoding::Brotli => "br",
            ContentCoding::Zstd => "zstd",
        })
    }
}

/// Decodes bodies of one coding, one after the other.
#[derive(Debug)]
pub struct Decoder {
    coding: ContentCoding,
    state: State,
    /// True if the body's coding has ended; it may begin again after that.
    is_at_end: bool,
    /// True if a byte of the body has arrived.
    has_begun: bool,
    decoded: u64,
    most: u64,
}

/// A library's state of decoding a body.
enum State {
    Inflate(Decompress),
    Brotli(Box<Brotli>),
    Zstd(raw::Decoder<'static>),
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// The result of one step.
struct Step {
    used: usize,
    written: usize,
    is_at_end: bool,
}

impl Decoder {
    /// Creates a decoder for bodies of this coding that decode to at most this many bytes each.
    pub fn new(coding: ContentCoding, most: u64) -> Self {
        Decoder {
            coding,
            state: State::new(coding),
            is_at_end: false,
            has_begun: false,
            decoded: 0,
            most,
        }
    }

    /// Returns the coding.
    pub fn coding(&self) -> ContentCoding {
        self.coding
    }

    /// Returns the number of bytes to which the body has decoded so far.
    pub fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Prepares the decoder for the next body, whatever the state of the one before.
    pub fn restart(&mut self) {
        self.state.restart(self.coding);
        (self.is_at_end, self.has_begun, self.decoded) = (false, false, 0);
    }

    /// Decodes the next part of the body, and passes the decoded bytes to `take`.
    ///
    /// # Errors
    /// If the body is invalid or too long. No more of it is decoded then.
    pub fn feed(
        &mut self,
        mut part: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), DecodeError> {
        DECODED.with_borrow_mut(|output| {
            loop {
                if self.is_at_end && !self.goes_on(part) {
                    return Ok(());
                }
                self.sniff(part);
                let step = self
                    .state
                    .step(part, output)
                    .ok_or(DecodeError::Corrupt(self.coding))?;
                part = &part[step.used..];
                self.is_at_end = step.is_at_end;
                self.decoded += step.written as u64;
                if self.decoded > self.most {
                    let (coding, most) = (self.coding, self.most);
                    return Err(DecodeError::TooLong { coding, most });
                }
                take(&output[..step.written]);
                let is_still = step.used == 0 && step.written == 0;
                let has_more_to_give = step.written == output.len();
                if !step.is_at_end && (is_still || part.is_empty() && !has_more_to_give) {
                    return Ok(());
                }
            }
        })
    }

    /// Checks, after the body has ended, that its coding has ended too.
    ///
    /// # Errors
    /// If the coding has not ended.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.is_at_end || !self.has_begun {
            true => Ok(()),
            false => Err(DecodeError::Cut(self.coding)),
        }
    }

    /// True if a further member (gzip) or frame (zstd) begins with these bytes. Other data after an
    /// end is ignored, as in browsers and curl.
    fn goes_on(&mut self, part: &[u8]) -> bool {
        let begins_again = match self.coding {
            ContentCoding::Gzip => part.first() == Some(&0x1f),
            ContentCoding::Zstd => !part.is_empty(),
            ContentCoding::Deflate | ContentCoding::Brotli => false,
        };
        if begins_again {
            self.state.restart(self.coding);
            self.is_at_end = false;
        }
        begins_again
    }

    /// Examines the first byte of a body with coding deflate: only with a header of zlib are its
    /// low bits 8 and its high ones at most 7.
    fn sniff(&mut self, part: &[u8]) {
        let Some(&first) = part.first() else { return };
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let is_bare = first & 0x0f != 8 || first >> 4 > 7;
        if self.coding == ContentCoding::Deflate && is_bare {
            self.state = State::Inflate(Decompress::new(false));
        }
    }
}

impl State {
    fn new(coding: ContentCoding) -> State {
        match coding {
            ContentCoding::Gzip => State::Inflate(Decompress::new_gzip(WINDOW_BITS)),
            ContentCoding::Deflate => State::Inflate(Decompress::new(true)),
            ContentCoding::Brotli => State::Brotli(Box::new(brotli())),
            ContentCoding::Zstd => State::Zstd(zstd()),
        }
    }

    fn restart(&mut self, coding: ContentCoding) {
        // A reset of the others loses the format: gzip, zlib or none.
        let is_ready = match self {
            State::Inflate(_) | State::Brotli(_) => false,
            State::Zstd(zstd) => zstd.reinit().is_ok(),
        };
        if !is_ready {
            *self = State::new(coding);
        }
    }

    /// Decodes as much as fits into `output`; `None` if the data is invalid.
    fn step(&mut self, part: &[u8], output: &mut [u8]) -> Option<Step> {
        match self {
            State::Inflate(inflate) => step_inflate(inflate, part, output),
            State::Brotli(state) => step_brotli(state, part, output),
            State::Zstd(zstd) => step_zstd(zstd, part, output),
        }
    }
}

fn brotli() -> Brotli {
    let alloc = StandardAlloc::default;
    BrotliState::new(alloc(), alloc(), alloc())
}

/// Without a dictionary only the allocation can fail.
fn zstd() -> raw::Decoder<'static> {
    raw::Decoder::new().expect("memory for a decoder")
}

fn step_inflate(inflate: &mut Decompress, part: &[u8], output: &mut [u8]) -> Option<Step> {
    let (used_before, written_before) = (inflate.total_in(), inflate.total_out());
    let status = inflate
        .decompress(part, output, FlushDecompress::None)
        .ok()?;
    Some(Step {
        used: (inflate.total_in() - used_before) as usize,
        written: (inflate.total_out() - written_before) as usize,
        is_at_end: status == Status::StreamEnd,
    })
}

fn step_brotli(state: &mut Brotli, part: &[u8], output: &mut [u8]) -> Option<Step> {
    let (mut left, mut used) = (part.len(), 0);
    let (mut room, mut written, mut total) = (output.len(), 0, 0);
    let result = BrotliDecompressStream(
        &mut left,
        &mut used,
        part,
        &mut room,
        &mut written,
        output,
        &mut total,
        state,
    );
    let is_at_end = match result {
        BrotliResult::ResultFailure => return None,
        BrotliResult::ResultSuccess => true,
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => false,
    };
    Some(Step {
        used,
        written,
        is_at_end,
    })
}

fn step_zstd(zstd: &mut raw::Decoder<'static>, part: &[u8], output: &mut [u8]) -> Option<Step> {
    let (mut input, mut output) = (InBuffer::around(part), OutBuffer::around(output));
    let hint = zstd.run(&mut input, &mut output).ok()?;
    Some(Step {
        used: input.pos(),
        written: output.pos(),
        is_at_end: hint == 0,
    })
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Inflate(_) => "Inflate",
            State::Brotli(_) => "Brotli",
            State::Zstd(_) => "Zstd",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    const CODINGS: [ContentCoding; 4] = [
        ContentCoding::Gzip,
        ContentCoding::Deflate,
        ContentCoding::Brotli,
        ContentCoding::Zstd,
    ];

    fn encoded(coding: ContentCoding, body: &[u8]) -> Vec<u8> {
        let level = Compression::default();
        match coding {
            ContentCoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(body).expect("no I/O");
                encoder.finish().expect("no I/O")
            }
            ContentCoding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(body).expect("no I/O");
                encoder.finish().expect("no I/O")
            }
            ContentCoding::Brotli => {
                let mut encoded = Vec::new();
                let params = brotli::enc::BrotliEncoderParams {
                    quality: 4,
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut &*body, &mut encoded, &params).expect("no I/O");
                encoded
            }
            ContentCoding::Zstd => zstd::encode_all(body, 3).expect("no I/O"),
        }
    }

    /// Returns the decoded body, if it arrives in parts of this length.
    fn decode(decoder: &mut Decoder, body: &[u8], length: usize) -> Result<Vec<u8>, DecodeError> {
        let mut decoded = Vec::new();
        for part in body.chunks(length) {
            decoder.feed(part, |part| decoded.extend_from_slice(part))?;
        }
        decoder.finish().map(|()| decoded)
    }

    fn text(length: usize) -> Vec<u8> {
        let words = (0..).flat_map(|word: u32| format!("{} ", word % 997).into_bytes());
        words.take(length).collect()
    }

    #[test]
    fn one_decoder_decodes_body_after_body_in_any_parts() {
        for coding in CODINGS {
            let mut decoder = Decoder::new(coding, LONGEST_DECODED);
            for (length, parts) in [(10_000, 1), (0, 7), (200_000, 1_000), (100, 1 << 20)] {
                let body = text(length);
                decoder.restart();
                let decoded = decode(&mut decoder, &encoded(coding, &body), parts);
                assert!(decoded == Ok(body), "{coding} of {length} by {parts}");
                assert_eq!(decoder.decoded(), length as u64);
            }
        }
    }

    #[test]
    fn deflate_without_its_header_is_read_too() {
        let body = text(5_000);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&body).expect("no I/O");
        let bare = encoder.finish().expect("no I/O");
        let mut decoder = Decoder::new(ContentCoding::Deflate, LONGEST_DECODED);
        assert!(decode(&mut decoder, &bare, 3) == Ok(body.clone()));
        decoder.restart();
        let whole = encoded(ContentCoding::Deflate, &body);
        assert!(decode(&mut decoder, &whole, 3) == Ok(body));
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
            let two = [encoded(coding, b"one "), encoded(coding, b"two")].concat();
            for parts in [1, 5, 1_000] {
                let mut decoder = Decoder::new(coding, LONGEST_DECODED);
                let decoded = decode(&mut decoder, &two, parts);
                assert_eq!(decoded, Ok(b"one two".to_vec()), "{coding} by {parts}");
            }
        }
    }

    #[test]
    fn a_body_that_is_cut_or_changed_is_found() {
        for coding in CODINGS {
            let whole = encoded(coding, &text(20_000));
            let mut decoder = Decoder::new(coding, LONGEST_DECODED);
            let cut = decode(&mut decoder, &whole[..whole.len() / 2], 100);
            assert_eq!(cut, Err(DecodeError::Cut(coding)), "{coding}");
            decoder.restart();
            let wrong = decode(&mut decoder, &[0xff; 200], 100);
            assert_eq!(wrong, Err(DecodeError::Corrupt(coding)), "{coding}");
            decoder.restart();
            assert!(decode(&mut decoder, &whole, 100) == Ok(text(20_000)));
        }
    }

    #[test]
    fn a_bomb_of_zeros_ends_at_the_bound() {
        let zeros = vec![0; 3 << 20];
        for coding in CODINGS {
            let bomb = encoded(coding, &zeros);
            assert!(bomb.len() < 20_000, "{coding}");
            let most = 1 << 20;
            let mut decoder = Decoder::new(coding, most);
            let mut longest = 0;
            let fed = decoder.feed(&bomb, |part| longest = longest.max(part.len()));
            assert_eq!(fed, Err(DecodeError::TooLong { coding, most }));
            assert!(decoder.decoded() <= most + OUTPUT as u64 && longest <= OUTPUT);
        }
    }

    #[test]
    fn a_coding_is_known_by_its_name() {
        let parse = |name: &str| ContentCoding::parse(name.as_bytes());
        assert_eq!(parse("GZIP"), Ok(Some(ContentCoding::Gzip)));
        assert_eq!(parse("x-gzip"), Ok(Some(ContentCoding::Gzip)));
        assert_eq!(parse("identity"), Ok(None));
        for coding in CODINGS {
            assert_eq!(parse(&coding.to_string()), Ok(Some(coding)));
            assert!(ACCEPT_ENCODING.contains(&coding.to_string()));
        }
        let several = DecodeError::Unknown("gzip, br".to_owned());
        assert_eq!(parse("gzip, br"), Err(several));
    }

    proptest! {
        #[test]
        fn no_body_does_harm(
            body in prop::collection::vec(any::<u8>(), 0..2_000),
            index in 0..4_usize,
            parts in 1..100_usize,
        ) {
            let mut decoder = Decoder::new(CODINGS[index], 1 << 20);
            let _ = decode(&mut decoder, &body, parts);
            prop_assert!(decoder.decoded() <= (1 << 20) + OUTPUT as u64);
            decoder.restart();
            let whole = encoded(CODINGS[index], &body);
            prop_assert!(decode(&mut decoder, &whole, parts) == Ok(body));
        }
    }
}
