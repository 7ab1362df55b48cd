//! The faults of responses.
//!
//! Most faults are a *break* at a *point*: `reset-in-body` sends the head and half of the body,
//! then resets the connection. The rest are responses that describe themselves wrongly.

use std::fmt;
use std::str::FromStr;

/// A fault of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A chunked response whose second chunk has no readable size; then the connection is closed.
    BadChunk,
    /// A response that stops at a point.
    Break {
        /// The way in which it stops.
        how: Break,
        /// The part that has been sent by then.
        at: Point,
    },
    /// A chunked response that never ends: chunks of 16 bytes, as fast as the client reads them.
    Endless,
    /// Bytes that are not HTTP in place of the head; then the connection is closed.
    Garbage,
    /// A head of a million bytes, then the body; then the connection is closed.
    HugeHead,
    /// A Content-Length one more than the body; then the connection is closed.
    LongLength,
    /// A Content-Length of half the body: the rest follows as bytes that belong to no response, and
    /// the connection stays open.
    ShortLength,
}

/// The way in which a response stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The server closes the connection in order: the client reads an end, never a reset.
    Close,
    /// The server ends its own direction and continues reading until the client closes.
    HalfClose,
    /// The server stops sending with the connection open, and continues reading until the client
    /// closes.
    Hang,
    /// The server resets the connection. A Unix socket has no reset: it is closed.
    Reset,
}

/// The part of a response that has been sent when it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The whole response, which does not announce the end of the connection.
    AfterAnswer,
    /// The whole head, without the body.
    AfterHead,
    /// No bytes.
    BeforeHead,
    /// The head and the first half of the body.
    InBody,
    /// The first half of the head.
    InHead,
}

const BREAKS: [(&str, Break); 4] = [
    ("close", Break::Close),
    ("half-close", Break::HalfClose),
    ("hang", Break::Hang),
    ("reset", Break::Reset),
];

const POINTS: [(&str, Point); 5] = [
    ("before-head", Point::BeforeHead),
    ("in-head", Point::InHead),
    ("after-head", Point::AfterHead),
    ("in-body", Point::InBody),
    ("after-answer", Point::AfterAnswer),
];

/// Faults with a name of their own. Hanging before the head is commonly called never answering.
const NAMED: [(&str, Fault); 7] = [
    ("bad-chunk", Fault::BadChunk),
    ("endless", Fault::Endless),
    ("garbage", Fault::Garbage),
    ("huge-head", Fault::HugeHead),
    ("long-length", Fault::LongLength),
    ("never-answer", Fault::NEVER_ANSWER),
    ("short-length", Fault::ShortLength),
];

impl Fault {
    /// The server reads the request and never responds.
    pub const NEVER_ANSWER: Fault = Fault::Break {
        how: Break::Hang,
        at: Point::BeforeHead,
    };

    /// Returns every fault.
    pub fn all() -> impl Iterator<Item = Fault> {
        let breaks = BREAKS
            .iter()
            .flat_map(|&(_, how)| POINTS.iter().map(move |&(_, at)| Fault::Break { how, at }));
        let named = NAMED.iter().map(|&(_, fault)| fault);
        breaks.chain(named.filter(|&fault| fault != Fault::NEVER_ANSWER))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, fault)| fault == self) {
            return f.write_str(name);
        }
        let Fault::Break { how, at } = self else {
            unreachable!("all but breaks are named")
        };
        let how = BREAKS
            .iter()
            .find(|(_, other)| other == how)
            .map_or("", |(name, _)| name);
        let at = POINTS
            .iter()
            .find(|(_, other)| other == at)
            .map_or("", |(name, _)| name);
        write!(f, "{how}-{at}")
    }
}

/// The error for a text that is not a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Write close, half-close, hang or reset, then -before-head, -in-head, -after-head, -in-body or \
     -after-answer, such as reset-in-body; or never-answer, garbage, short-length, long-length, \
     bad-chunk, huge-head or endless."
)]
pub struct FaultError;

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads a fault by its name; `never-answer` also has a composed name.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let named = Fault::all().find(|fault| fault.to_string() == text);
        named
            .or_else(|| (text == "hang-before-head").then_some(Fault::NEVER_ANSWER))
            .ok_or(FaultError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_read_by_the_name_it_prints() {
        for fault in Fault::all() {
            assert_eq!(fault.to_string().parse(), Ok(fault));
        }
        assert_eq!(Fault::all().count(), 4 * 5 + 6);
    }

    #[test]
    fn names_say_how_and_where() {
        let reset_in_body = Fault::Break {
            how: Break::Reset,
            at: Point::InBody,
        };
        assert_eq!("reset-in-body".parse(), Ok(reset_in_body));
        assert_eq!("never-answer".parse(), Ok(Fault::NEVER_ANSWER));
        assert_eq!("hang-before-head".parse(), Ok(Fault::NEVER_ANSWER));
        for text in ["", "reset", "reset-in-foot", "none"] {
            assert_eq!(text.parse::<Fault>(), Err(FaultError), "{text}");
        }
    }
}
