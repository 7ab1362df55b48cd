//! Any bytes, cut anywhere, their bodies seen or dropped: the response parser must come to the
//! same result as for the uncut input, use every byte until the message's end, and never panic.

#![no_main]

use std::mem::discriminant;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use loadline_wire::{Expect, Malformed, ResponseParser, Sink};

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
    const WANTS_HEAD: bool = true;
    const WANTS_BODY: bool = true;

    fn header(&mut self, name: &[u8], value: &[u8]) {
        assert!(!name.contains(&b'\n') && !value.contains(&b'\n'));
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    fn body(&mut self, part: &[u8]) {
        assert!(!part.is_empty());
        self.body_len += part.len() as u64;
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
    loop {
        let whole = read_at_once(manner.expect(), wire);
        let pieces = read_in_pieces(manner, wire);
        assert_eq!(kind(&whole), kind(&pieces));
        match whole {
            Ok(reading) if reading.facts.5 && !wire.is_empty() => wire = &wire[reading.used..],
            _ => return,
        }
    }
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
