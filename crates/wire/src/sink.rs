//! Who looks at a response while it is parsed.

/// Wants to see parts of a response; `()` sees nothing and costs nothing.
///
/// The two constants decide at compile time what is shown, so that a parser without a reader has no
/// code for showing. Interim (1xx) answers are never shown.
pub trait Sink {
    /// Whether [`head`](Sink::head), [`status`](Sink::status) and [`header`](Sink::header) are
    /// called.
    const WANTS_HEAD: bool;
    /// Whether [`body`](Sink::body) is called.
    const WANTS_BODY: bool;

    /// The final head as it came, from its status line through its empty line; before all else.
    fn head(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// The status of the final head, once it is whole and before its fields.
    fn status(&mut self, status: u16) {
        let _ = status;
    }

    /// One field of the head, or after the body one of the trailers, in the order they came.
    ///
    /// The value has no blanks around it; where it was folded over several lines, each fold is
    /// one space. The name is as sent, in any case, and not checked to be a token.
    fn header(&mut self, name: &[u8], value: &[u8]) {
        let _ = (name, value);
    }

    /// The next bytes of the payload, without the framing of chunks; never empty. Where the parts
    /// are cut follows from the input and means nothing.
    fn body(&mut self, part: &[u8]) {
        let _ = part;
    }
}

impl Sink for () {
    const WANTS_HEAD: bool = false;
    const WANTS_BODY: bool = false;
}
