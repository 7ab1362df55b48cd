//! A response over HTTP/2 that is kept until its user reads it.
//!
//! The task of the connection receives it, and its user may be the task of another request: so it
//! is shown as a whole when its stream has ended, and not as it arrives.

use loadline_wire::Sink;

/// The received part of a response.
#[derive(Debug)]
pub(crate) struct ReceivedResponse {
    status: u16,
    fields: Vec<Field>,
    /// The body so far.
    pub(crate) body: Vec<u8>,
    /// Fields after the body.
    trailers: Vec<Field>,
}

/// The name and value of a field.
type Field = (Box<[u8]>, Box<[u8]>);

impl ReceivedResponse {
    /// Creates a response with nothing but a status.
    pub(crate) fn new(status: u16) -> Self {
        ReceivedResponse {
            status,
            fields: Vec::new(),
            body: Vec::new(),
            trailers: Vec::new(),
        }
    }

    /// Adds a field: after the body it is one of the trailers.
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        let fields = match self.body.is_empty() {
            true => &mut self.fields,
            false => &mut self.trailers,
        };
        fields.push((name.into(), value.into()));
    }

    /// Shows the whole response, in the order in which a response over HTTP/1.1 is shown.
    pub(crate) fn show<S: Sink>(&self, sink: &mut S) {
        if S::NEEDS_HEAD {
            sink.head(&self.head());
            sink.status(self.status);
            show_fields(&self.fields, sink);
        }
        if S::NEEDS_BODY && !self.body.is_empty() {
            sink.body(&self.body);
        }
        if S::NEEDS_HEAD {
            show_fields(&self.trailers, sink);
        }
    }

    /// Returns the head in the form of HTTP/1.1; HTTP/2 has no reason phrase after the status.
    fn head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/2.0 {}\r\n", self.status).into_bytes();
        for (name, value) in &self.fields {
            for part in [name, &b": "[..], value, b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

fn show_fields<S: Sink>(fields: &[Field], sink: &mut S) {
    fields
        .iter()
        .for_each(|(name, value)| sink.header(name, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the calls that it receives.
    #[derive(Default)]
    struct Notes(Vec<String>);

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    impl Sink for Notes {
        const NEEDS_HEAD: bool = true;
        const NEEDS_BODY: bool = true;

        fn head(&mut self, bytes: &[u8]) {
            self.0.push(text(bytes));
        }

        fn status(&mut self, status: u16) {
            self.0.push(status.to_string());
        }

        fn header(&mut self, name: &[u8], value: &[u8]) {
            self.0.push(format!("{}={}", text(name), text(value)));
        }

        fn body(&mut self, part: &[u8]) {
            self.0.push(text(part));
        }
    }

    #[test]
    fn a_response_is_shown_in_the_order_of_http_1() {
        let mut received = ReceivedResponse::new(200);
        received.field(b"server", b"a");
        received.body.extend_from_slice(b"hello");
        received.field(b"x-sum", b"5");
        let mut notes = Notes::default();
        received.show(&mut notes);
        let head = "HTTP/2.0 200\r\nserver: a\r\n\r\n";
        assert_eq!(notes.0, [head, "200", "server=a", "hello", "x-sum=5"]);
        received.show(&mut ());
    }
}
