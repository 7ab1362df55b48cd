//! Any request: either it is refused and nothing is written, or another parser reads back exactly
//! the method, target, fields and body that were given. So no part can smuggle in another field
//! or another request.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use loadline_wire::{RequestHead, Version, write_request};

const MAX_FIELDS: usize = 64;

/// Fields that the writer may add to the given ones.
const ADDED: [&str; 3] = ["host", "content-length", "connection"];

#[derive(Arbitrary, Debug)]
struct Request<'a> {
    method: &'a str,
    target: &'a str,
    host: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: Option<&'a [u8]>,
    keepalive: bool,
    old: bool,
}

fuzz_target!(|request: Request<'_>| {
    let version = if request.old {
        Version::Http10
    } else {
        Version::Http11
    };
    let head = RequestHead {
        method: request.method,
        target: request.target,
        host: request.host,
        headers: &request.headers,
        body: request.body,
        keepalive: request.keepalive,
        version,
    };
    let mut wire = Vec::new();
    match write_request(&head, &mut wire) {
        Ok(()) => check_written(&head, &wire),
        Err(invalid) => {
            assert!(wire.is_empty());
            assert!(!invalid.to_string().contains(char::is_control));
        }
    }
});

/// The peer must agree, unless it has no room for the fields.
fn check_written(head: &RequestHead<'_>, wire: &[u8]) {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut peer = httparse::Request::new(&mut headers);
    if head.headers.len() + ADDED.len() > MAX_FIELDS {
        return;
    }
    let len = peer
        .parse(wire)
        .expect("what was written is a request")
        .unwrap();
    assert_eq!(
        (peer.method, peer.path),
        (Some(head.method), Some(head.target))
    );
    assert_eq!(
        peer.version,
        Some(u8::from(head.version == Version::Http11))
    );
    assert_eq!(&wire[len..], head.body.unwrap_or_default());
    check_fields(head, peer.headers);
}

/// The given fields in their order, and around them only what the writer may add.
fn check_fields(head: &RequestHead<'_>, written: &[httparse::Header<'_>]) {
    let mut given = head.headers.iter().peekable();
    for field in written {
        let is_next = given.peek().is_some_and(|(name, value)| {
            *name == field.name && value.trim_matches([' ', '\t']).as_bytes() == field.value
        });
        if is_next {
            given.next();
        } else {
            let name = field.name.to_ascii_lowercase();
            assert!(ADDED.contains(&name.as_str()), "{name} was not given");
            assert!(
                !head
                    .headers
                    .iter()
                    .any(|(given, _)| given.eq_ignore_ascii_case(&name))
            );
        }
    }
    assert_eq!(given.next(), None, "a field was lost");
}
