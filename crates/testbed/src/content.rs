//! The content of a response's body, and the pieces in which it is sent.

use crate::alarm::{Alarm, Sleep};
use crate::answer::{Answer, Drip, Encoding};
use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};
use hyper::body::Bytes;
use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// The byte that bodies without content consist of.
const FILL: u8 = b'x';
/// The longest piece of such a body.
const FILLER_BYTES: u64 = 64 * 1024;

/// Returns the source of bodies without content, which is made when it is first needed.
fn filler() -> &'static [u8] {
    static FILLER: OnceLock<Vec<u8>> = OnceLock::new();
    FILLER.get_or_init(|| vec![FILL; FILLER_BYTES as usize])
}

/// The largest size of a compressed body before compression: it is compressed in memory, for each
/// response.
pub(crate) const MOST_COMPRESSED: u64 = 1_000_000_000;

/// The length of a chunk in bytes, if the response is chunked without further options.
const CHUNK_BYTES: u64 = 4096;

/// The bytes of a body.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// This many bytes without content.
    Filler(u64),
    Text(Bytes),
}

impl Content {
    /// Returns the body of a response, from its options.
    pub(crate) fn of(answer: &Answer) -> Content {
        match (&answer.json, answer.encoding) {
            (None, None) => Content::Filler(answer.size),
            (Some(json), None) => Content::Text(json.clone()),
            (None, Some(encoding)) => {
                let filler = io::repeat(FILL).take(answer.size);
                Content::Text(compressed(filler, encoding).into())
            }
            (Some(json), Some(encoding)) => Content::Text(compressed(&json[..], encoding).into()),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Filler(size) => *size,
            Self::Text(text) => text.len() as u64,
        }
    }

    /// Returns the bytes from `start` on, at most `most` of them; fewer at the end, and if the
    /// filler is shorter.
    pub(crate) fn piece(&self, start: u64, most: u64) -> Bytes {
        let size = most.min(self.size() - start);
        match self {
            Self::Filler(_) => Bytes::from_static(&filler()[..size.min(FILLER_BYTES) as usize]),
            Self::Text(text) => text.slice(start as usize..(start + size) as usize),
        }
    }
}

fn compressed(content: impl Read, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    let level = Compression::default();
    let read = match encoding {
        Encoding::Gzip => GzEncoder::new(content, level).read_to_end(&mut bytes),
        Encoding::Deflate => ZlibEncoder::new(content, level).read_to_end(&mut bytes),
    };
    read.expect("nothing that could fail");
    bytes
}

/// Returns the length of a body's pieces in bytes.
pub(crate) fn piece_size(answer: &Answer) -> u64 {
    match answer.drip {
        Some(drip) => drip.bytes.get().min(FILLER_BYTES),
        None if answer.chunked || answer.trailers => CHUNK_BYTES,
        None => FILLER_BYTES,
    }
}

/// Determines when the next drip is due: the first at once, each further one `every` after the due
/// time of the one before.
#[derive(Debug)]
pub(crate) struct Dripper {
    alarm: Alarm,
    every: Duration,
    next: Option<Sleep>,
    due: Option<Instant>,
}

impl Dripper {
    pub(crate) fn new(drip: Drip, alarm: Alarm) -> Self {
        Self {
            alarm,
            every: drip.every,
            next: None,
            due: None,
        }
    }

    pub(crate) fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(next) = &mut self.next {
            ready!(Pin::new(next).poll(cx));
        }
        let due = self.due.unwrap_or_else(Instant::now) + self.every;
        self.next = Some(self.alarm.sleep_until(due));
        self.due = Some(due);
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;

    #[test]
    fn json_stands_in_place_of_the_filler_compressed_or_not() {
        let json = r#"{"id":1}"#;
        let mut answer = Answer {
            json: Some(Bytes::from_static(json.as_bytes())),
            ..Answer::default()
        };
        assert_eq!(Content::of(&answer).piece(0, 100), json);
        answer.encoding = Some(Encoding::Gzip);
        let mut text = String::new();
        let bytes = Content::of(&answer).piece(0, 1000);
        let read = GzDecoder::new(&bytes[..]).read_to_string(&mut text);
        assert_eq!((read.ok(), text.as_str()), (Some(json.len()), json));
    }

    #[test]
    fn pieces_cover_the_content_and_end_with_it() {
        let text = Content::Text(Bytes::from_static(b"abcdefg"));
        let pieces: Vec<Bytes> = [0, 3, 6].map(|start| text.piece(start, 3)).into();
        assert_eq!(pieces, ["abc", "def", "g"]);
        assert_eq!(text.size(), 7);
    }

    #[test]
    fn a_compressed_body_stands_for_as_many_bytes() {
        let answer = Answer {
            size: 10_000,
            encoding: Some(Encoding::Gzip),
            ..Answer::default()
        };
        let content = Content::of(&answer);
        assert!(content.size() < 100);
        let mut body = Vec::new();
        let bytes = content.piece(0, u64::MAX);
        GzDecoder::new(&bytes[..])
            .read_to_end(&mut body)
            .expect("gzip");
        assert_eq!(body, [b'x'; 10_000]);
    }

    #[test]
    fn a_filler_comes_in_pieces_as_long_as_there_are() {
        let filler = Content::Filler(100_000);
        assert_eq!(filler.piece(0, u64::MAX).len() as u64, FILLER_BYTES);
        assert_eq!(filler.piece(99_990, 4096).len(), 10);
    }
}
