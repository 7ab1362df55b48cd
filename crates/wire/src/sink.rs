//! Receivers of the parts of a response while it is parsed.

/// Receives parts of a response; `()` receives nothing and costs nothing.
///
/// The two constants decide at compile time which parts are reported, so that a parser without a
/// reader has no code for it. Interim (1xx) responses are never reported.
pub trait Sink {
    /// True if [`head`](Sink::head), [`status`](Sink::status) and [`header`](Sink::header) are
    /// called.
    const NEEDS_HEAD: bool;
    /// True if [`body`](Sink::body) is called.
    const NEEDS_BODY: bool;

    /// Receives the bytes of the final head, from its status line through its empty line; before
    /// all other calls.
    fn head(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Receives the status of the final head, once it is complete and before its fields.
    fn status(&mut self, status: u16) {
        let _ = status;
    }

    /// Receives one field of the head, or after the body one of the trailers, in the order of
    /// arrival.
    ///
    /// The value has no blanks around it; if it was folded over several lines, each fold is one
    /// space. The name is as sent, in any case, and not checked to be a token.
    fn header(&mut self, name: &[u8], value: &[u8]) {
        let _ = (name, value);
    }

    /// Receives the next bytes of the payload, without the framing of chunks; never empty. The
    /// boundaries of the parts follow from the input and have no meaning.
    fn body(&mut self, part: &[u8]) {
        let _ = part;
    }
}

impl Sink for () {
    const NEEDS_HEAD: bool = false;
    const NEEDS_BODY: bool = false;
}
