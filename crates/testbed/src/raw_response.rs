//! Raw responses: responses that no HTTP library would send, written on the bare connection.
//!
//! A raw response has a [`Plan`]: the part of it that is sent, and what happens to the connection
//! afterwards. A response without a fault is sent whole and the connection continues, according to
//! HTTP.

use crate::content::{Dripper, piece_size};
use crate::context::Context;
use crate::fault::{Break, Fault, Point};
use crate::head::{self, Framing};
use crate::line::Line;
use crate::reply::Reply;
use std::future::poll_fn;
use std::io;

/// The bytes that are sent in place of a response.
const GARBAGE: &[u8] = b"\x16\x03\x01\xff\xfe this is no HTTP \x00\x80\r\n\r\n";

/// The bytes that are sent in place of a chunk's size.
const BAD_CHUNK_SIZE: &[u8] = b"no-size\r\n";

/// One chunk of an endless response, and the number of them that are sent at once.
const ENDLESS_CHUNK: &[u8] = b"10\r\nand so on and on\r\n";
const ENDLESS_AT_ONCE: usize = 3_000;

/// The state of the connection after a raw response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// It is to be closed in order.
    Close,
    /// It has ended and can be dropped.
    Gone,
    /// The next request may follow.
    GoOn,
}

/// The part of a response that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Nothing,
    HalfHead,
    Head,
    HalfBody,
    Whole,
    /// Bytes that are not part of it.
    Garbage,
    /// The head, half of the body as a chunk, and a malformed chunk size.
    BadChunk,
    /// The head, and chunks until the client has closed.
    Endless,
}

/// The end of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// As the response announces: the connection continues or is closed.
    AsAnnounced,
    Broken(Break),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    part: Part,
    ending: Ending,
}

impl Plan {
    fn of(fault: Option<Fault>) -> Self {
        let closed = Ending::Broken(Break::Close);
        let (part, ending) = match fault {
            None | Some(Fault::ShortLength) => (Part::Whole, Ending::AsAnnounced),
            Some(Fault::LongLength | Fault::HugeHead) => (Part::Whole, closed),
            Some(Fault::BadChunk) => (Part::BadChunk, closed),
            Some(Fault::Endless) => (Part::Endless, closed),
            Some(Fault::Garbage) => (Part::Garbage, closed),
            Some(Fault::Break { how, at }) => (Part::before(at), Ending::Broken(how)),
        };
        Self { part, ending }
    }
}

impl Part {
    fn before(point: Point) -> Self {
        match point {
            Point::BeforeHead => Part::Nothing,
            Point::InHead => Part::HalfHead,
            Point::AfterHead => Part::Head,
            Point::InBody => Part::HalfBody,
            Point::AfterAnswer => Part::Whole,
        }
    }
}

/// Plays `reply` on the line and returns the state of the connection.
///
/// # Errors
/// Those of the socket, if the client had closed before the reply was played.
pub(crate) async fn play(line: &Line, reply: &Reply, context: &Context) -> io::Result<Onward> {
    let fault = reply.answer.fault;
    let plan = Plan::of(fault);
    let sent = send_part(plan.part, &mut Pen::new(line, reply, context)).await;
    // An endless response is sent until the client closes.
    let is_played = fault.is_some() && (sent.is_ok() || fault == Some(Fault::Endless));
    context.state.tally.faults.add(u64::from(is_played));
    sent?;
    let is_whole = fault.is_none_or(|fault| matches!(fault, Fault::Break { .. }));
    context
        .state
        .tally
        .answers
        .add(u64::from(is_whole && plan.part == Part::Whole));
    line.request_closed();
    match plan.ending {
        Ending::AsAnnounced if reply.closes || !reply.client_stays => Ok(Onward::Close),
        Ending::AsAnnounced => Ok(Onward::GoOn),
        Ending::Broken(how) => break_off(how, line).await,
    }
}

async fn send_part(part: Part, pen: &mut Pen<'_>) -> io::Result<()> {
    let half = pen.reply.content.size() / 2;
    match part {
        Part::Nothing => Ok(()),
        Part::Garbage => pen.line.send(GARBAGE).await,
        Part::HalfHead => pen.half_of_head().await,
        Part::Head => pen.head().await,
        Part::HalfBody => {
            pen.head().await?;
            pen.body_up_to(half).await
        }
        Part::Whole => {
            pen.head().await?;
            pen.whole_body().await
        }
        Part::BadChunk => {
            pen.head().await?;
            pen.piece_size = half.max(1);
            pen.body_up_to(half).await?;
            pen.line.send(BAD_CHUNK_SIZE).await
        }
        Part::Endless => {
            pen.head().await?;
            pen.chunks_for_ever().await
        }
    }
}

async fn break_off(how: Break, line: &Line) -> io::Result<Onward> {
    match how {
        Break::Close => return Ok(Onward::Close),
        Break::HalfClose => {
            line.finish().await?;
            line.swallow().await;
        }
        Break::Hang => line.swallow().await,
        Break::Reset => line.reset_on_close()?,
    }
    Ok(Onward::Gone)
}

/// Writes a response's bytes on the line.
struct Pen<'a> {
    line: &'a Line,
    reply: &'a Reply,
    framing: Framing,
    piece_size: u64,
    dripper: Option<Dripper>,
}

impl<'a> Pen<'a> {
    fn new(line: &'a Line, reply: &'a Reply, context: &Context) -> Self {
        let drip = |drip| Dripper::new(drip, context.alarm.clone());
        Self {
            line,
            reply,
            framing: Framing::of(reply),
            piece_size: piece_size(&reply.answer),
            dripper: reply.answer.drip.map(drip),
        }
    }

    async fn half_of_head(&self) -> io::Result<()> {
        let head = head::write(self.reply, self.framing);
        self.line.send(&head[..head.len() / 2]).await
    }

    async fn head(&self) -> io::Result<()> {
        self.line.send(&head::write(self.reply, self.framing)).await
    }

    async fn whole_body(&mut self) -> io::Result<()> {
        self.body_up_to(self.reply.content.size()).await?;
        if self.framing == Framing::Chunked && self.reply.has_body() {
            let trailer = if self.reply.answer.trailers {
                head::TRAILER
            } else {
                ""
            };
            self.line
                .send(format!("0\r\n{trailer}\r\n").as_bytes())
                .await?;
        }
        Ok(())
    }

    /// Sends small chunks until the client has closed.
    async fn chunks_for_ever(&self) -> io::Result<()> {
        let chunks = ENDLESS_CHUNK.repeat(ENDLESS_AT_ONCE);
        loop {
            self.line.send(&chunks).await?;
        }
    }

    /// Sends the body's first bytes; a chunk is cut in the middle if they end in it.
    async fn body_up_to(&mut self, end: u64) -> io::Result<()> {
        let mut start = 0;
        while self.reply.has_body() && start < end {
            if let Some(dripper) = &mut self.dripper {
                poll_fn(|cx| dripper.poll_due(cx)).await;
            }
            let piece = self.reply.content.piece(start, self.piece_size);
            let sent = piece.len().min((end - start) as usize);
            let is_cut = sent < piece.len();
            if self.framing == Framing::Chunked {
                self.line
                    .send(format!("{:x}\r\n", piece.len()).as_bytes())
                    .await?;
            }
            self.line.send(&piece[..sent]).await?;
            if self.framing == Framing::Chunked && !is_cut {
                self.line.send(b"\r\n").await?;
            }
            start += sent as u64;
        }
        Ok(())
    }
}
