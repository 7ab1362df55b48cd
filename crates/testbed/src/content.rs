//! What stands in a response's body, and in which pieces it is sent.

use crate::alarm::{Alarm, Sleep};
use crate::answer::{Answer, Drip};
use hyper::body::Bytes;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// A body that says nothing is cut from this.
static FILLER: [u8; 64 * 1024] = [b'x'; 64 * 1024];

/// The bytes of a chunk, where the response is chunked and nothing else is asked for.
const CHUNK_BYTES: u64 = 4096;

/// The bytes of a body.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// So many bytes that say nothing.
    Filler(u64),
    Text(Bytes),
}

impl Content {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Filler(size) => *size,
            Self::Text(text) => text.len() as u64,
        }
    }

    /// The bytes from `start` on, at most `most` of them; fewer at the end, and where the filler
    /// is shorter.
    pub(crate) fn piece(&self, start: u64, most: u64) -> Bytes {
        let size = most.min(self.size() - start);
        match self {
            Self::Filler(_) => {
                Bytes::from_static(&FILLER[..size.min(FILLER.len() as u64) as usize])
            }
            Self::Text(text) => text.slice(start as usize..(start + size) as usize),
        }
    }
}

/// How many bytes of a body go in one piece.
pub(crate) fn piece_size(answer: &Answer) -> u64 {
    match answer.drip {
        Some(drip) => drip.bytes.get().min(FILLER.len() as u64),
        None if answer.chunked || answer.trailers => CHUNK_BYTES,
        None => FILLER.len() as u64,
    }
}

/// Says when the next drip is due: the first at once, each other one `every` after the one before
/// was due.
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

    #[test]
    fn pieces_cover_the_content_and_end_with_it() {
        let text = Content::Text(Bytes::from_static(b"abcdefg"));
        let pieces: Vec<Bytes> = [0, 3, 6].map(|start| text.piece(start, 3)).into();
        assert_eq!(pieces, ["abc", "def", "g"]);
        assert_eq!(text.size(), 7);
    }

    #[test]
    fn a_filler_comes_in_pieces_as_long_as_there_are() {
        let filler = Content::Filler(100_000);
        assert_eq!(filler.piece(0, u64::MAX).len(), FILLER.len());
        assert_eq!(filler.piece(99_990, 4096).len(), 10);
    }
}
