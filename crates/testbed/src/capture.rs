//! A capture of the bytes that a client sent.
//!
//! The HTTP library keeps a request's headers by name; their order among other names and their
//! capitals are gone. `/echo` shows them as they came, so the connection keeps the latest bytes
//! it has read, and the head of the request is looked up in them.

use memchr::memmem;

/// The most bytes that are kept. A head that reaches beyond can't be shown as it came.
const MOST_BYTES: usize = 64 * 1024;

/// The bytes read since nothing was left to answer.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    bytes: Vec<u8>,
    /// Whether all of it has been answered, so that the next bytes begin anew.
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

    /// All requests read so far have been answered.
    pub(crate) fn all_answered(&mut self) {
        self.is_answered = true;
    }

    /// Takes the first head that begins with `request_line`, up to and with its blank line.
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
