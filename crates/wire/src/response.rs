//! The response parser: a small state machine from bytes to one whole message.
//!
//! It goes through phases: the head, then a body of one of three framings, then *whole*. A head in
//! pieces is gathered in a [`Partial`] and parsed when it is complete, so that every way of cutting
//! the input gives the same result; everything else is read in place.

use crate::MAX_HEAD_BYTES;
use crate::body::{Body, Expect};
use crate::chunk::{Chunk, Next};
use crate::excerpt::Excerpt;
use crate::fields::{each_field, empty_line};
use crate::head::{self, Head};
use crate::malformed::Malformed;
use crate::memo::HeadMemo;
use crate::partial::Partial;
use crate::sink::Sink;

/// The most bytes of empty lines that are skipped before the status lines of one message.
const MAX_EMPTY_LINE_BYTES: u8 = 8;

/// Reads one message after the other from the bytes of a connection.
///
/// For each message: [`begin`](Self::begin), then [`feed`](Self::feed) the received bytes, or
/// report bytes that were dropped unread with [`discarded`](Self::discarded), until one of them
/// returns that the message is whole; [`close`](Self::close) when the peer has closed its side.
/// After an error the parser is unusable until the next `begin`.
///
/// The parser holds no allocated memory between messages.
#[derive(Clone, Debug, Default)]
pub struct ResponseParser {
    phase: Phase,
    /// The head or the trailers, if they arrive in pieces and are still incomplete.
    partial: Option<Box<Partial>>,
    head_len: u64,
    body_len: u64,
    interim: u32,
    status: u16,
    expect: Expect,
    /// The number of bytes of empty lines that were skipped.
    empty_line_bytes: u8,
    started: bool,
    /// True if the head allows the connection to be reused after the whole message.
    keeps_connection: bool,
    announces_close: bool,
}

/// The part of a message that is read next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// A head, of an interim response or of the final one.
    #[default]
    Head,
    /// A body of known length that lacks this many bytes; never 0.
    Length(u64),
    /// A body that ends with the connection.
    UntilClose,
    /// The framing between chunks.
    Framing(Chunk),
    /// A chunk's data that lacks this many bytes; never 0.
    Data(u64),
    /// The trailers after the last chunk.
    Trailers,
    /// Nothing: the message is whole.
    Whole,
}

/// The result of feeding bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// The number of bytes used: all of them, unless the message ended before.
    pub used: usize,
    /// True if the message is whole.
    pub done: bool,
}

impl ResponseParser {
    /// Creates a parser that expects a response to any method but HEAD or CONNECT.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the next message; the state of the last one is lost.
    #[inline]
    pub fn begin(&mut self, expect: Expect) {
        *self = Self {
            expect,
            ..Self::default()
        };
    }

    /// Reads bytes up to the end of the message. Bytes after it are left: they belong to the next
    /// message.
    ///
    /// A message whose body ends with the connection is never completed by feeding: see
    /// [`close`](Self::close).
    #[inline]
    pub fn feed<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> Result<Fed, Malformed> {
        self.feed_parts(None, input, sink)
    }

    /// Reads bytes like [`feed`](Self::feed), but does not parse a head again that `memo`
    /// recognises. One memo may serve any number of parsers.
    #[inline]
    pub fn feed_knowing<S: Sink>(
        &mut self,
        memo: &mut HeadMemo,
        input: &[u8],
        sink: &mut S,
    ) -> Result<Fed, Malformed> {
        self.feed_parts(Some(memo), input, sink)
    }

    #[inline]
    fn feed_parts<S: Sink>(
        &mut self,
        mut memo: Option<&mut HeadMemo>,
        input: &[u8],
        sink: &mut S,
    ) -> Result<Fed, Malformed> {
        let mut used = 0;
        while used < input.len() && self.phase != Phase::Whole {
            used += self.read(memo.as_deref_mut(), &input[used..], sink)?;
        }
        Ok(Fed {
            used,
            done: self.phase == Phase::Whole,
        })
    }

    /// Reports that the peer closed its side. Ends a message whose body ends with the connection;
    /// has no effect on a message that is already whole.
    ///
    /// # Errors
    /// [`Malformed::NoAnswer`] if nothing of the message had arrived (apart from empty lines), else
    /// [`Malformed::Truncated`] if it wasn't whole.
    pub fn close(&mut self) -> Result<(), Malformed> {
        match self.phase {
            Phase::UntilClose | Phase::Whole => {
                self.phase = Phase::Whole;
                Ok(())
            }
            Phase::Head
            | Phase::Length(_)
            | Phase::Framing(_)
            | Phase::Data(_)
            | Phase::Trailers => match self.started {
                true => Err(Malformed::Truncated),
                false => Err(Malformed::NoAnswer),
            },
        }
    }

    /// Returns the number of bytes, from the next one on, that are payload and may be dropped
    /// unread: the missing bytes of a body of known length or of a chunk's data; `u64::MAX` for a
    /// body that ends with the connection; else 0.
    #[inline]
    pub fn discardable(&self) -> u64 {
        match self.phase {
            Phase::Length(missing) | Phase::Data(missing) => missing,
            Phase::UntilClose => u64::MAX,
            Phase::Head | Phase::Framing(_) | Phase::Trailers | Phase::Whole => 0,
        }
    }

    /// Reports that the next `n` bytes, at most [`discardable`](Self::discardable), were dropped
    /// unread. Returns true if the message is now whole.
    #[inline]
    pub fn discarded(&mut self, n: u64) -> bool {
        debug_assert!(
            n <= self.discardable(),
            "more was dropped than the body had left"
        );
        self.body_len = self.body_len.saturating_add(n);
        self.phase = match self.phase {
            Phase::Length(missing) if missing <= n => Phase::Whole,
            Phase::Length(missing) => Phase::Length(missing - n),
            Phase::Data(missing) if missing <= n => Phase::Framing(Chunk::DataEnd),
            Phase::Data(missing) => Phase::Data(missing - n),
            other @ (Phase::Head
            | Phase::UntilClose
            | Phase::Framing(_)
            | Phase::Trailers
            | Phase::Whole) => other,
        };
        self.phase == Phase::Whole
    }

    /// Returns the status of the final head, 100 to 999, never that of an interim response; 0 until
    /// the final head is complete.
    #[inline]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// True if at least one byte of this message has arrived. Empty lines before it, which some
    /// servers send after the previous message, don't count; interim responses do.
    #[inline]
    pub fn started(&self) -> bool {
        self.started
    }

    /// True if the message is whole and the connection may serve another request: HTTP/1.1 without
    /// `close` or HTTP/1.0 with `keep-alive`, a body that ended before the connection, and no
    /// change to a tunnel or another protocol.
    #[inline]
    pub fn reusable(&self) -> bool {
        self.keeps_connection && self.phase == Phase::Whole
    }

    /// True if the head announces that the connection closes after the message: by the option
    /// `close`, or in HTTP/1.0 without `keep-alive`. Such a server processes no further request
    /// that it received on the connection (RFC 9112, section 9.6).
    #[inline]
    pub fn announces_close(&self) -> bool {
        self.announces_close
    }

    /// Returns the number of bytes before the body: the head, and interim responses and empty lines
    /// before it.
    #[inline]
    pub fn head_len(&self) -> u64 {
        self.head_len
    }

    /// Returns the number of bytes of the payload so far, fed or dropped, without the framing of
    /// chunks.
    #[inline]
    pub fn body_len(&self) -> u64 {
        self.body_len
    }

    /// Returns the number of interim (1xx) responses that were skipped.
    #[inline]
    pub fn interim(&self) -> u32 {
        self.interim
    }

    /// Makes one step on input that isn't empty, in a phase that isn't the last. Returns the number
    /// of bytes used, never 0.
    #[inline]
    fn read<S: Sink>(
        &mut self,
        memo: Option<&mut HeadMemo>,
        input: &[u8],
        sink: &mut S,
    ) -> Result<usize, Malformed> {
        match self.phase {
            Phase::Head => self.read_head(memo, input, sink),
            Phase::Framing(chunk) => self.read_framing(chunk, input),
            Phase::Trailers => self.read_trailers(input, sink),
            Phase::Length(_) | Phase::UntilClose | Phase::Data(_) | Phase::Whole => {
                Ok(self.read_body(input, sink))
            }
        }
    }

    /// Reads a head. Anything but a valid head in one piece is gathered, and evaluated when it is
    /// complete (except for its start), so that the result doesn't depend on how the input was cut.
    #[inline]
    fn read_head<S: Sink>(
        &mut self,
        memo: Option<&mut HeadMemo>,
        input: &[u8],
        sink: &mut S,
    ) -> Result<usize, Malformed> {
        if self.partial.is_some() {
            return self.gather_head(input, sink);
        }
        if matches!(input[0], b'\r' | b'\n') {
            return self.pass_over_line_end(input);
        }
        self.started = true;
        let parsed = match memo {
            Some(memo) => memo.parse(input),
            None => head::parse(input),
        };
        match parsed {
            Ok(Some(head)) if head.len <= MAX_HEAD_BYTES => {
                self.head_len += head.len as u64;
                self.take_head(&input[..head.len], &head, sink);
                Ok(head.len)
            }
            _ => self.gather_head(input, sink),
        }
    }

    #[cold]
    fn pass_over_line_end(&mut self, input: &[u8]) -> Result<usize, Malformed> {
        if self.empty_line_bytes == MAX_EMPTY_LINE_BYTES {
            return Err(Malformed::NotHttp(Excerpt::of(input)));
        }
        self.empty_line_bytes += 1;
        self.head_len += 1;
        Ok(1)
    }

    #[cold]
    fn gather_head<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> Result<usize, Malformed> {
        let partial = self.partial.get_or_insert_default();
        let gathered = partial.gather(input);
        head::check_start(partial.bytes())?;
        if partial.is_too_long() {
            return Err(Malformed::HeadTooLong);
        }
        self.head_len += gathered.used as u64;
        if gathered.whole {
            self.take_gathered_head(sink)?;
        }
        Ok(gathered.used)
    }

    fn take_gathered_head<S: Sink>(&mut self, sink: &mut S) -> Result<(), Malformed> {
        let partial = self.partial.take().unwrap_or_default();
        let head = head::parse(partial.bytes())?.expect("a block with its empty line is whole");
        self.take_head(partial.bytes(), &head, sink);
        Ok(())
    }

    #[inline]
    fn take_head<S: Sink>(&mut self, block: &[u8], head: &Head, sink: &mut S) {
        if head.is_interim() {
            self.interim = self.interim.saturating_add(1);
            return;
        }
        if S::NEEDS_HEAD {
            sink.head(block);
            show_head(block, head, sink);
        }
        let body = self.expect.body_after(head);
        self.status = head.status;
        self.keeps_connection = self.expect.keeps_connection(head, body);
        let framing = &head.framing;
        self.announces_close = framing.close || (head.is_http10 && !framing.keep_alive);
        self.phase = Phase::of_body(body);
    }

    #[inline]
    fn read_body<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> usize {
        let missing = usize::try_from(self.discardable()).unwrap_or(usize::MAX);
        let part = &input[..input.len().min(missing)];
        if S::NEEDS_BODY {
            sink.body(part);
        }
        self.discarded(part.len() as u64);
        part.len()
    }

    fn read_framing(&mut self, chunk: Chunk, input: &[u8]) -> Result<usize, Malformed> {
        let (used, next) = chunk.read(input)?;
        self.phase = match next {
            Next::Framing(chunk) => Phase::Framing(chunk),
            Next::Data(size) => Phase::Data(size),
            Next::Trailers => Phase::Trailers,
        };
        Ok(used)
    }

    fn read_trailers<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> Result<usize, Malformed> {
        let no_trailers = empty_line(input);
        if self.partial.is_none() && no_trailers > 0 {
            self.phase = Phase::Whole;
            return Ok(no_trailers);
        }
        let partial = self.partial.get_or_insert_default();
        let gathered = partial.gather(input);
        if partial.is_too_long() {
            return Err(Malformed::TrailersTooLong);
        }
        if gathered.whole {
            self.take_gathered_trailers(sink);
        }
        Ok(gathered.used)
    }

    fn take_gathered_trailers<S: Sink>(&mut self, sink: &mut S) {
        let partial = self.partial.take().unwrap_or_default();
        if S::NEEDS_HEAD {
            show_fields(partial.bytes(), sink);
        }
        self.phase = Phase::Whole;
    }
}

impl Phase {
    fn of_body(body: Body) -> Self {
        match body {
            Body::None => Phase::Whole,
            Body::Length(length) => Phase::Length(length),
            Body::Chunked => Phase::Framing(Chunk::Size),
            Body::UntilClose => Phase::UntilClose,
        }
    }
}

fn show_head<S: Sink>(block: &[u8], head: &Head, sink: &mut S) {
    sink.status(head.status);
    show_fields(&block[head.status_line_len..], sink);
}

fn show_fields<S: Sink>(block: &[u8], sink: &mut S) {
    each_field(block, |name, value| sink.header(name, value));
}

#[cfg(test)]
mod tests;
