//! The bodies of responses that report errors: a few of each run, as evidence of what went wrong.
//!
//! Nothing is kept unless it is asked for. Then the bytes of a response that comes in pieces are
//! kept until its end, unless its status says that all went well, and parsed once more if it is one
//! of the few that are kept: the path of other requests neither has a receiver of bodies nor a
//! branch for them.

use loadline_client::{ContentCoding, Decoder};
use loadline_metrics::SeriesId;
use loadline_plan::{Plan, mask_response};
use loadline_record::{ErrorResponse, Recorder};
use loadline_wire::{Expect, ResponseParser, Sink};

/// The most bytes of a response that are kept until its end.
pub(crate) const MOST_BYTES: usize = 8 * 1024;
/// The most bytes of a body that are shown, and the most that are decoded of one: secrets are
/// masked before the body is cut.
const MOST_SHOWN: usize = 2 * 1024;
const MOST_DECODED: usize = 2 * MOST_SHOWN;
/// The most bytes to which a body may decode before the rest of it is left alone.
const MOST_UNPACKED: u64 = 1 << 20;

/// Keeps the bodies of error responses.
#[derive(Debug)]
pub(crate) struct ErrorBodies {
    /// The texts that are masked in them.
    secrets: Vec<String>,
}

/// The beginning of a response that has not ended.
#[derive(Debug, Default)]
pub(crate) struct Beginning(Vec<u8>);

/// The body of a response, or its beginning.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The values of the field `Content-Encoding`.
    coding: Vec<u8>,
    bytes: Vec<u8>,
}

/// True if the status reports an error.
pub(crate) fn is_error(status: u16) -> bool {
    status >= 400
}

impl ErrorBodies {
    pub(crate) fn of(plan: &Plan) -> ErrorBodies {
        ErrorBodies {
            secrets: plan.sent_secrets(),
        }
    }

    /// Keeps a response of this series if it is one of those to keep; only then `body` is called.
    /// `length` is that of the whole body as sent, `end_ns` the instant of its end in nanoseconds
    /// from the run's start.
    pub(crate) fn keep(
        &self,
        recorder: &mut Recorder,
        (series, status, end_ns): (SeriesId, u16, u64),
        length: u64,
        body: impl FnOnce() -> Body,
    ) {
        if !recorder.takes_error_response(series, status, end_ns) {
            return;
        }
        let body = body();
        let is_whole = body.bytes.len() as u64 >= length;
        let decoded = body.decoded();
        let text = mask_response(&shown(&decoded), &self.secrets);
        let end = text.floor_char_boundary(MOST_SHOWN);
        let response = ErrorResponse {
            end_ns,
            status,
            is_cut: !is_whole || decoded.len() >= MOST_DECODED || end < text.len(),
            body: text[..end].to_owned(),
        };
        recorder.error_response(series, response);
    }
}

impl Beginning {
    /// Adds the next bytes of the response.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let room = MOST_BYTES.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns the body, as far as it is there.
    pub(crate) fn body(&self, expect: Expect) -> Body {
        let mut body = Body::default();
        let mut parser = ResponseParser::new();
        parser.begin(expect);
        // It was parsed before.
        let _ = parser.feed(&self.0, &mut body);
        body
    }
}

impl Body {
    /// Creates a body that is decoded.
    pub(crate) fn plain(bytes: &[u8]) -> Body {
        Body {
            coding: Vec::new(),
            bytes: bytes[..bytes.len().min(MOST_DECODED)].to_vec(),
        }
    }

    /// Returns the body as its server composed it, as far as it can be decoded.
    fn decoded(&self) -> Vec<u8> {
        let Ok(Some(coding)) = ContentCoding::parse(&self.coding) else {
            return self.bytes[..self.bytes.len().min(MOST_DECODED)].to_vec();
        };
        let mut decoded = Vec::new();
        let mut decoder = Decoder::new(coding, MOST_UNPACKED);
        // What came before an error is worth showing.
        let _ = decoder.feed(&self.bytes, |part| {
            let room = MOST_DECODED - decoded.len();
            decoded.extend_from_slice(&part[..part.len().min(room)]);
        });
        decoded
    }
}

impl Sink for Body {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn header(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"content-encoding") {
            if !self.coding.is_empty() {
                self.coding.push(b',');
            }
            self.coding.extend_from_slice(value);
        }
    }

    fn body(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(part);
    }
}

/// Returns a body as text; a sentence of one that is none.
fn shown(bytes: &[u8]) -> String {
    let is_binary = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    match bytes.iter().any(is_binary) {
        true => "(a body that is no text)".to_owned(),
        false => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use loadline_record::Model;
    use std::io::Write;

    fn kept(bytes: &[u8], secrets: &[&str]) -> Vec<ErrorResponse> {
        let bodies = ErrorBodies {
            secrets: secrets.iter().map(|secret| (*secret).to_owned()).collect(),
        };
        let mut recorder = Recorder::new(Model::Closed);
        let mut parser = ResponseParser::new();
        let mut beginning = Beginning::default();
        for part in bytes.chunks(100) {
            parser.feed(part, &mut ()).unwrap();
            beginning.add(part);
        }
        let response = (SeriesId::default(), parser.status(), 7);
        bodies.keep(&mut recorder, response, parser.body_len(), || {
            beginning.body(Expect::default())
        });
        let snapshot = recorder.take(10);
        let kept = snapshot.error_responses.iter();
        kept.map(|(_, one)| one.clone()).collect()
    }

    fn response(head: &str, body: &[u8]) -> Vec<u8> {
        let length = body.len();
        let head = format!("HTTP/1.1 500 No\r\n{head}Content-Length: {length}\r\n\r\n");
        [head.as_bytes(), body].concat()
    }

    #[test]
    fn a_body_is_kept_without_its_framing_and_its_secrets() {
        let chunked = b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n\
                        5\r\nno da\r\n6\r\nta: pw\r\n0\r\n\r\n";
        let expected = ErrorResponse {
            end_ns: 7,
            status: 500,
            body: "no data: ****".to_owned(),
            is_cut: false,
        };
        assert_eq!(kept(chunked, &["pw"]), [expected]);
    }

    #[test]
    fn a_long_body_is_cut_between_letters() {
        let body = "ä".repeat(50_000);
        let [one] = &kept(&response("", body.as_bytes()), &[])[..] else {
            panic!("one is kept");
        };
        assert_eq!(one.body, "ä".repeat(MOST_SHOWN / 2));
        assert!(one.is_cut);
    }

    #[test]
    fn a_compressed_body_is_decoded() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder
            .write_all("out of stock ".repeat(20).as_bytes())
            .unwrap();
        let body = encoder.finish().unwrap();
        let found = kept(&response("Content-Encoding: gzip\r\n", &body), &[]);
        assert_eq!(found[0].body, "out of stock ".repeat(20));
        assert!(!found[0].is_cut);
    }

    #[test]
    fn what_is_no_text_is_not_shown() {
        let found = kept(&response("", b"\x00\x01PNG"), &[]);
        assert_eq!(found[0].body, "(a body that is no text)");
        let empty = kept(&response("", b""), &[]);
        assert_eq!((empty[0].body.as_str(), empty[0].is_cut), ("", false));
    }
}
