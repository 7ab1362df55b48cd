//! A capture of the bytes that a client sent.
//!
//! The HTTP library stores a request's headers by name; their order among other names and their
//! capitals are lost. `/echo` returns them as received, so the connection stores the latest bytes
//! that it has read, and the head of the request is searched in them.

use memchr::memmem;

/// The most bytes that are stored. A head that extends beyond them can't be returned as received.
const MOST_BYTES: usize = 64 * 1024;

/// The bytes read since all earlier requests were answered.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    bytes: Vec<u8>,
    /// True if all of them have been answered, so that the next bytes replace them.
    is_answered: bool,
}

impl Capture {
    pub(crate) fn note(&mut self, new: &[u8]) {
        if self.is_answered {
            self.bytes.clear();
            self.is_answered = false;
        }
        let room = MOST_BYTES - self.bytes.len();
        self.bytes.extend_from_slice(&new[..new.len().min(room)]);
    }

    /// Records that all requests read so far have been answered.
    pub(crate) fn all_answered(&mut self) {
        self.is_answered = true;
    }

    /// Removes and returns the first head that begins with `request_line`, including its blank
    /// line.
    pub(crate) fn take_head(&mut self, request_line: &str) -> Option<Vec<u8>> {
        let start = memmem::find(&self.bytes, request_line.as_bytes())?;
        let length = memmem::find(&self.bytes[start..], b"\r\n\r\n")? + 4;
        let head = self.bytes[start..start + length].to_vec();
        self.bytes.drain(..start + length);
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "GET /echo HTTP/1.1\r\n";

    #[test]
    fn heads_are_taken_in_order_past_other_requests_and_bodies() {
        let mut capture = Capture::default();
        capture
            .note(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /echo HTTP/1.1\r\nA: 1\r\n");
        assert_eq!(capture.take_head(LINE), None);
        capture.note(b"\r\nGET /echo HTTP/1.1\r\nA: 2\r\n\r\n");
        assert_eq!(
            capture.take_head(LINE).as_deref(),
            Some(&b"GET /echo HTTP/1.1\r\nA: 1\r\n\r\n"[..])
        );
        assert_eq!(
            capture.take_head(LINE).as_deref(),
            Some(&b"GET /echo HTTP/1.1\r\nA: 2\r\n\r\n"[..])
        );
        assert_eq!(capture.take_head(LINE), None);
    }

    #[test]
    fn what_was_answered_is_forgotten_with_the_next_bytes() {
        let mut capture = Capture::default();
        capture.note(b"GET /echo HTTP/1.1\r\nA: 1\r\n\r\n");
        capture.all_answered();
        capture.note(b"GET /echo HTTP/1.1\r\nA: 2\r\n\r\n");
        assert_eq!(
            capture.take_head(LINE).as_deref(),
            Some(&b"GET /echo HTTP/1.1\r\nA: 2\r\n\r\n"[..])
        );
    }

    #[test]
    fn no_more_is_kept_than_the_limit() {
        let mut capture = Capture::default();
        capture.note(&vec![b'x'; MOST_BYTES - 3]);
        capture.note(b"GET /echo HTTP/1.1\r\n\r\n");
        assert_eq!(capture.bytes.len(), MOST_BYTES);
        assert_eq!(capture.take_head(LINE), None);
    }
}
