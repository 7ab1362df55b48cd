//! Another parser, `httparse`, reads the same status and fields from the same heads, and the same
//! requests from the writer's output.

use proptest::prelude::*;

use super::read_whole;
use crate::{Expect, RequestHead, Version, write_request};

const MAX_FIELDS: usize = 32;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Field lines as servers write them, including blanks and high bytes.
fn field_line() -> impl Strategy<Value = Vec<u8>> {
    let name = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}"
        .prop_filter("bad values of these are errors", |name: &String| {
            !name.eq_ignore_ascii_case("content-length")
        });
    let value = prop::collection::vec(prop_oneof![32_u8..127, 128_u8..=255, Just(b'\t')], 0..40);
    let end = prop_oneof![Just("\r\n"), Just("\n")];
    (name, value, end)
        .prop_map(|(name, value, end)| [name.as_bytes(), b":", &value, end.as_bytes()].concat())
}

fn head() -> impl Strategy<Value = Vec<u8>> {
    let reason = prop_oneof![Just(String::new()), " [ -~]{0,20}"];
    let lines = prop::collection::vec(field_line(), 0..MAX_FIELDS);
    (0..=1, 200..1000, reason, lines).prop_map(|(minor, status, reason, lines)| {
        let status_line = format!("HTTP/1.{minor} {status}{reason}\r\n").into_bytes();
        [status_line, lines.concat(), b"\r\n".to_vec()].concat()
    })
}

fn owned(headers: &[httparse::Header<'_>]) -> Fields {
    headers
        .iter()
        .map(|field| (field.name.into(), field.value.into()))
        .collect()
}

/// A field's name and value in requests that the writer writes.
const NAME: &str = "x[0-9A-Za-z-]{0,20}";
const VALUE: &str = "([!-~]([ -~]{0,30}[!-~])?)?";

proptest! {
    #[test]
    fn sees_the_same_heads(head in head()) {
        let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut peer = httparse::Response::new(&mut headers);
        prop_assert_eq!(peer.parse(&head), Ok(httparse::Status::Complete(head.len())));

        let (parser, seen, used) = read_whole(Expect::Head, &head).unwrap();
        prop_assert_eq!(used, head.len());
        prop_assert_eq!(Some(parser.status()), peer.code);
        prop_assert_eq!(seen.fields, owned(peer.headers));
    }

    #[test]
    fn reads_what_was_written(
        method in "[A-Z]{1,10}",
        target in "/[!-~]{0,40}",
        fields in prop::collection::vec((NAME, VALUE), 0..8),
        body in prop::option::of(prop::collection::vec(any::<u8>(), 0..50)),
        keepalive in any::<bool>(),
    ) {
        let given = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let given: Vec<(&str, &str)> = given.collect();
        let head = RequestHead {
            method: &method,
            target: &target,
            host: "example.org",
            headers: &given,
            body: body.as_deref(),
            keepalive,
            version: Version::Http11,
        };
        let mut wire = Vec::new();
        write_request(&head, &mut wire).unwrap();

        let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut peer = httparse::Request::new(&mut headers);
        let len = peer.parse(&wire).unwrap().unwrap();
        prop_assert_eq!(peer.method, Some(method.as_str()));
        prop_assert_eq!(peer.path, Some(target.as_str()));
        prop_assert_eq!(&wire[len..], body.as_deref().unwrap_or_default());
        prop_assert_eq!(owned(peer.headers), fields_written(&head));
    }
}

/// The expected fields of a head whose given fields have no meaning to the writer.
fn fields_written(head: &RequestHead<'_>) -> Fields {
    let length = head.body.map(|body| body.len().to_string());
    let mut fields = vec![("Host", head.host)];
    fields.extend_from_slice(head.headers);
    fields.extend(length.as_deref().map(|length| ("Content-Length", length)));
    fields.extend((!head.keepalive).then_some(("Connection", "close")));
    fields
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}
