//! Properties of the whole crate: every way of cutting the input gives the same result, written
//! requests are read back, no input breaks it, and another parser reads the same heads.

mod corpus;
mod cuts;
mod garbage;
mod peer;
mod round_trip;

use crate::{Expect, Fed, Malformed, ResponseParser, Sink};

/// All parts of a message that a sink can receive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) statuses: Vec<u16>,
    pub(crate) fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    /// The number of bytes of body that had arrived before each field: distinguishes trailers from
    /// the head.
    body_before_field: Vec<usize>,
}

impl Sink for Seen {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn status(&mut self, status: u16) {
        self.statuses.push(status);
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        self.fields.push((name.to_vec(), value.to_vec()));
        self.body_before_field.push(self.body.len());
    }

    fn body(&mut self, part: &[u8]) {
        assert!(!part.is_empty());
        self.body.extend_from_slice(part);
    }
}

impl Seen {
    /// The fields from the `first` on, as text.
    pub(crate) fn fields_from(&self, first: usize) -> Vec<(&str, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        self.fields[first..]
            .iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }
}

/// Reads a message that `input` holds whole, or fails. Also returns the number of bytes used.
pub(crate) fn read_whole(
    expect: Expect,
    input: &[u8],
) -> Result<(ResponseParser, Seen, usize), Malformed> {
    let mut parser = ResponseParser::new();
    parser.begin(expect);
    let mut seen = Seen::default();
    let fed = parser.feed(input, &mut seen)?;
    assert!(fed.done, "the message is not whole");
    Ok((parser, seen, fed.used))
}

/// The result of reading one message, in a form that doesn't depend on cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reading {
    seen: Seen,
    /// The kind of error, or the bytes used and whether the message was whole before the close.
    end: Result<Fed, std::mem::Discriminant<Malformed>>,
    close: Option<Result<(), Malformed>>,
    facts: Option<Facts>,
}

/// The parser's results for a message that isn't malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts {
    status: u16,
    started: bool,
    reusable: bool,
    head_len: u64,
    body_len: u64,
    interim: u32,
}

impl Facts {
    fn of(parser: &ResponseParser) -> Self {
        Facts {
            status: parser.status(),
            started: parser.started(),
            reusable: parser.reusable(),
            head_len: parser.head_len(),
            body_len: parser.body_len(),
            interim: parser.interim(),
        }
    }
}

/// Reads one message from `pieces`, then closes the connection.
fn read<'a>(expect: Expect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Reading {
    let mut parser = ResponseParser::new();
    parser.begin(expect);
    let mut seen = Seen::default();
    match feed_all(&mut parser, pieces, &mut seen) {
        Ok(fed) => {
            let close = Some(parser.close());
            Reading {
                seen,
                end: Ok(fed),
                close,
                facts: Some(Facts::of(&parser)),
            }
        }
        Err(malformed) => {
            let end = Err(std::mem::discriminant(&malformed));
            Reading {
                seen,
                end,
                close: None,
                facts: None,
            }
        }
    }
}

/// Feeds pieces until the message is whole. Every piece must be used to its end until then.
fn feed_all<'a, S: Sink>(
    parser: &mut ResponseParser,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    sink: &mut S,
) -> Result<Fed, Malformed> {
    let mut all = Fed {
        used: 0,
        done: false,
    };
    for piece in pieces {
        let fed = parser.feed(piece, sink)?;
        assert!(fed.used <= piece.len());
        assert!(
            fed.done || fed.used == piece.len(),
            "bytes were left before the message's end"
        );
        all = Fed {
            used: all.used + fed.used,
            done: fed.done,
        };
        if fed.done {
            break;
        }
    }
    Ok(all)
}

/// Cuts `input` at `cuts`, which are taken modulo its length and sorted.
fn cut<'a>(input: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (input.len() + 1)).collect();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for to in cuts.into_iter().chain([input.len()]) {
        pieces.push(&input[from..to]);
        from = to;
    }
    pieces
}
