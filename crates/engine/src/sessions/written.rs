//! The bytes of a request of the plan, with room for the fields that its user adds.

use loadline_client::ACCEPT_ENCODING;
use loadline_plan::Request;

/// The end of a head, including the line end of its last field.
const EMPTY_LINE: &[u8] = b"\r\n\r\n";

/// The bytes of a request that was written before the run.
#[derive(Debug)]
pub(super) struct SessionRequest {
    bytes: Vec<u8>,
    /// The offset at which a further field is inserted: after the last one.
    fields_end: usize,
    /// True if a user's fields can be inserted, because the request has none of the same names.
    pub(super) takes_fields: bool,
}

impl SessionRequest {
    /// Creates the request from its written `bytes`; adds a field that requests a compressed body
    /// if `compressed`.
    pub(super) fn new(bytes: &[u8], request: &Request, compressed: bool) -> Self {
        let names = |name: &str| request.headers.iter().any(|header| header.is(name));
        let head_end = bytes
            .windows(EMPTY_LINE.len())
            .position(|window| window == EMPTY_LINE);
        let mut fields_end = head_end.map_or(bytes.len(), |at| at + 2);
        let mut bytes = bytes.to_vec();
        if compressed && !names("Accept-Encoding") {
            let field = format!("Accept-Encoding: {ACCEPT_ENCODING}\r\n");
            bytes.splice(fields_end..fields_end, field.bytes());
            fields_end += field.len();
        }
        SessionRequest {
            bytes,
            fields_end,
            takes_fields: !names("Cookie") && !names("Authorization"),
        }
    }

    /// Returns the request with these fields, written into `buffer` if there are any.
    pub(super) fn with_fields<'a>(
        &'a self,
        fields: [(&str, Option<&str>); 3],
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        if fields.iter().all(|(_, value)| value.is_none()) {
            return &self.bytes;
        }
        let (head, rest) = self.bytes.split_at(self.fields_end);
        buffer.clear();
        buffer.extend_from_slice(head);
        for (name, value) in fields {
            if let Some(value) = value {
                for part in [name, ": ", value, "\r\n"] {
                    buffer.extend_from_slice(part.as_bytes());
                }
            }
        }
        buffer.extend_from_slice(rest);
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::plans::get;

    #[test]
    fn fields_stand_behind_those_of_the_plan() {
        let bytes = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\na\r\n\r\nbcd";
        let request = SessionRequest::new(bytes, &get("http://a/"), true);
        let mut buffer = Vec::new();
        let names = ["Cookie", "Authorization", "traceparent"];
        let plain = request.with_fields(names.map(|name| (name, None)), &mut buffer);
        let accept = "Accept-Encoding: gzip, deflate, br, zstd\r\n";
        let with = |fields: &str| {
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n";
            format!("{head}{accept}{fields}\r\na\r\n\r\nbcd")
        };
        assert_eq!(plain, with("").as_bytes());
        let values = ["k=v", "me", "00-1"].map(Some);
        let fields = [0, 1, 2].map(|index| (names[index], values[index]));
        let full = request.with_fields(fields, &mut buffer);
        assert_eq!(
            full,
            with("Cookie: k=v\r\nAuthorization: me\r\ntraceparent: 00-1\r\n").as_bytes()
        );
    }

    #[test]
    fn a_request_with_such_fields_of_its_own_takes_none() {
        for (line, takes_fields) in [
            ("Cookie: a=b", false),
            ("authorization: me", false),
            ("X: y", true),
        ] {
            let mut request = get("http://a/");
            request.headers.push(line.parse().expect("a header"));
            let written = SessionRequest::new(b"GET / HTTP/1.1\r\n\r\n", &request, false);
            assert_eq!(written.takes_fields, takes_fields, "{line}");
        }
    }
}
