//! The ways in which a response goes wrong.
//!
//! Most faults are a *break* at a *point*: `reset-in-body` sends the head and half of the body,
//! then resets the connection. The rest are answers that say something wrong about themselves.

use std::fmt;
use std::str::FromStr;

/// What goes wrong with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A chunked answer whose second chunk has no readable size; then the connection is closed.
    BadChunk,
    /// The response stops at a point.
    Break {
        /// How it stops.
        how: Break,
        /// What has been sent by then.
        at: Point,
    },
    /// A chunked answer that never ends: chunks of 16 bytes, as fast as the client takes them.
    Endless,
    /// Bytes that are no HTTP in place of the head; then the connection is closed.
    Garbage,
    /// A head of a million bytes, then the body; then the connection is closed.
    HugeHead,
    /// A Content-Length one more than the body; then the connection is closed.
    LongLength,
    /// A Content-Length of half the body: the rest follows as bytes that belong to no response, and
    /// the connection stays open.
    ShortLength,
}

/// How a response stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The server closes the connection in good order: the client reads an end, never a reset.
    Close,
    /// The server ends its own direction and goes on reading until the client closes.
    HalfClose,
    /// The server falls silent with the connection open, and goes on reading until the client
    /// closes.
    Hang,
    /// The server resets the connection. A Unix socket knows no reset: it is closed.
    Reset,
}

/// What has been sent when a response stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The whole response, which says nothing about the end of the connection.
    AfterAnswer,
    /// The whole head and nothing of the body.
    AfterHead,
    /// Nothing.
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

/// Faults with a name of their own. To hang before the head is what people call never to answer.
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
    /// The server reads the request and stays silent for good.
    pub const NEVER_ANSWER: Fault = Fault::Break {
        how: Break::Hang,
        at: Point::BeforeHead,
    };

    /// Every fault there is.
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

/// The text was no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Write close, half-close, hang or reset, then -before-head, -in-head, -after-head, -in-body or \
     -after-answer, such as reset-in-body; or never-answer, garbage, short-length, long-length, \
     bad-chunk, huge-head or endless."
)]
pub struct FaultError;

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads a fault by its name; `never-answer` has the composed one as well.
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
