//! Any bytes, cut anywhere, their bodies seen or dropped: the response parser must come to the
//! same result as for the uncut input, use every byte until the message's end, and never panic. A
//! memo of heads must change nothing: neither what is seen nor what the message comes to.

#![no_main]

use std::mem::discriminant;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use loadline_wire::{Expect, Fed, HeadMemo, Malformed, ResponseParser, Sink};

/// How the bytes of a connection come; the rest of the fuzzer's input are the bytes themselves.
#[derive(Arbitrary, Debug)]
struct Manner {
    method: Method,
    start: Start,
    /// Lengths of the pieces, taken round and round.
    pieces: [u8; 4],
    /// Whether a piece's payload is dropped unseen, taken round and round.
    dropped: [bool; 3],
}

#[derive(Arbitrary, Debug)]
enum Method {
    Head,
    Connect,
    Other,
}

/// What comes before the fuzzer's bytes, so that it needn't find everything out by itself.
#[derive(Arbitrary, Debug)]
enum Start {
    Nothing,
    StatusLine,
    Chunks,
}

/// What a message came to. The body is compared by its length alone: parts of it were dropped.
#[derive(Debug, PartialEq)]
struct Reading {
    used: usize,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    facts: (u16, u64, u64, u32, bool, bool),
    closed: Result<(), Malformed>,
}

#[derive(Default)]
struct Seen {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    body_len: u64,
}

impl Sink for Seen {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn header(&mut self, name: &[u8], value: &[u8]) {
        assert!(!name.contains(&b'\n') && !value.contains(&b'\n'));
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    fn body(&mut self, part: &[u8]) {
        assert!(!part.is_empty());
        self.body_len += part.len() as u64;
    }
}

/// All that a message shows, its body as a whole.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    head: Vec<u8>,
    status: Option<u16>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
}

impl Sink for Shown {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn head(&mut self, block: &[u8]) {
        self.head.extend_from_slice(block);
    }

    fn status(&mut self, status: u16) {
        assert_eq!(self.status.replace(status), None);
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    fn body(&mut self, part: &[u8]) {
        self.body.extend_from_slice(part);
    }
}

fuzz_target!(|input: &[u8]| -> Corpus {
    let mut rest = Unstructured::new(input);
    let Ok(manner) = Manner::arbitrary(&mut rest) else {
        return Corpus::Reject;
    };
    check_pipeline(&manner, &[manner.start(), rest.take_rest()].concat());
    Corpus::Keep
});

/// Reads one message after the other, as long as the connection may be used.
fn check_pipeline(manner: &Manner, mut wire: &[u8]) {
    let mut memo = HeadMemo::default();
    loop {
        check_memo(manner, &mut memo, wire);
        let whole = read_at_once(manner.expect(), wire);
        let pieces = read_in_pieces(manner, wire);
        assert_eq!(kind(&whole), kind(&pieces));
        match whole {
            Ok(reading) if reading.facts.5 && !wire.is_empty() => wire = &wire[reading.used..],
            _ => return,
        }
    }
}

/// Reads one message without the memo, with it, and with it again, when it knows the head.
fn check_memo(manner: &Manner, memo: &mut HeadMemo, wire: &[u8]) {
    let plain = show(manner, wire, |parser, piece, shown| {
        parser.feed(piece, shown)
    });
    for _ in 0..2 {
        let known = show(manner, wire, |parser, piece, shown| {
            parser.feed_knowing(memo, piece, shown)
        });
        assert_eq!(plain, known);
    }
}

/// What a message shows, and what it came to, if it is cut in two by the manner's first piece.
fn show(
    manner: &Manner,
    wire: &[u8],
    mut feed: impl FnMut(&mut ResponseParser, &[u8], &mut Shown) -> Result<Fed, Malformed>,
) -> (Shown, Result<Reading, Malformed>) {
    let mut parser = ResponseParser::new();
    parser.begin(manner.expect());
    let mut shown = Shown::default();
    let (first, second) = wire.split_at(wire.len().min(usize::from(manner.pieces[0])));
    let mut feed_both = || {
        let fed = feed(&mut parser, first, &mut shown)?;
        if fed.done {
            return Ok(fed.used);
        }
        Ok(fed.used + feed(&mut parser, second, &mut shown)?.used)
    };
    let fed = feed_both();
    let came_to = fed.map(|used| reading(parser, used, Vec::new()));
    (shown, came_to)
}

impl Manner {
    fn start(&self) -> &'static [u8] {
        match self.start {
            Start::Nothing => b"",
            Start::StatusLine => b"HTTP/1.1 200 OK\r\n",
            Start::Chunks => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        }
    }

    fn expect(&self) -> Expect {
        match self.method {
            Method::Head => Expect::Head,
            Method::Connect => Expect::Connect,
            Method::Other => Expect::Other,
        }
    }
}

/// The same error may show more or fewer bytes: only its kind must not depend on the pieces.
fn kind(
    reading: &Result<Reading, Malformed>,
) -> Result<&Reading, std::mem::Discriminant<Malformed>> {
    reading.as_ref().map_err(discriminant)
}

fn read_at_once(expect: Expect, wire: &[u8]) -> Result<Reading, Malformed> {
    let mut parser = ResponseParser::new();
    parser.begin(expect);
    let mut seen = Seen::default();
    let fed = parser.feed(wire, &mut seen)?;
    assert!(fed.used <= wire.len() && (fed.done || fed.used == wire.len()));
    assert_eq!(seen.body_len, parser.body_len());
    Ok(reading(parser, fed.used, seen.fields))
}

fn read_in_pieces(manner: &Manner, wire: &[u8]) -> Result<Reading, Malformed> {
    let mut parser = ResponseParser::new();
    parser.begin(manner.expect());
    let mut seen = Seen::default();
    let mut used = 0;
    let mut lengths = manner.pieces.iter().cycle();
    let mut dropped = manner.dropped.iter().cycle();
    let mut done = false;
    while !done && used < wire.len() {
        let left = wire.len() - used;
        let length = lengths
            .next()
            .map_or(1, |&length| usize::from(length).max(1))
            .min(left);
        let discardable = parser.discardable().min(length as u64);
        if discardable > 0 && dropped.next() == Some(&true) {
            done = parser.discarded(discardable);
            used += discardable as usize;
            continue;
        }
        let fed = parser.feed(&wire[used..used + length], &mut seen)?;
        assert!(fed.used <= length && (fed.done || fed.used == length));
        done = fed.done;
        used += fed.used;
    }
    Ok(reading(parser, used, seen.fields))
}

fn reading(mut parser: ResponseParser, used: usize, fields: Vec<(Vec<u8>, Vec<u8>)>) -> Reading {
    let closed = parser.close();
    let facts = (
        parser.status(),
        parser.head_len(),
        parser.body_len(),
        parser.interim(),
        parser.started(),
        parser.reusable(),
    );
    Reading {
        used,
        fields,
        facts,
        closed,
    }
}
