//! Properties of a whole connection: every way of cutting the input gives the same result, no input
//! breaks it, another implementation understands it, and each rule of the protocol is kept.

mod cases;
mod cuts;
mod memory;
mod peer;

use super::frame::{self, FrameKind};
use super::{Config, Connection, Ended, Request, Sink};
use crate::{RequestHead, Version};

/// All events that a sink received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    heads: Vec<(usize, u16)>,
    fields: Vec<(usize, String, String)>,
    /// The part of each body that arrived.
    bodies: Vec<(usize, Vec<u8>)>,
    ended: Vec<(usize, Ended)>,
}

impl Seen {
    fn body_of(&self, key: usize) -> &[u8] {
        let found = self.bodies.iter().find(|(other, _)| *other == key);
        found.map_or(&[], |(_, body)| body)
    }
}

impl Sink for Seen {
    const NEEDS_FIELDS: bool = true;
    const NEEDS_BODY: bool = true;

    fn head(&mut self, key: usize, status: u16) {
        self.heads.push((key, status));
    }

    fn field(&mut self, key: usize, name: &[u8], value: &[u8]) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        self.fields.push((key, text(name), text(value)));
    }

    fn body(&mut self, key: usize, part: &[u8]) {
        assert!(!part.is_empty());
        match self.bodies.iter_mut().find(|(other, _)| *other == key) {
            Some((_, body)) => body.extend_from_slice(part),
            None => self.bodies.push((key, part.to_vec())),
        }
    }

    fn end(&mut self, key: usize, ended: Ended) {
        assert!(
            self.ended.iter().all(|(other, _)| *other != key),
            "{key} ended twice"
        );
        self.ended.push((key, ended));
    }
}

/// A request with this method and, if it has one, this body.
fn request(method: &str, body: Option<&[u8]>) -> Request {
    let head = RequestHead {
        method,
        target: "/",
        host: "localhost",
        headers: &[],
        body,
        keepalive: true,
        version: Version::Http11,
    };
    Request::new(&head, "http").unwrap()
}

fn frame(kind: FrameKind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write(kind, flags, stream, payload, &mut out);
    out
}

/// A connection whose server has sent empty settings; its output so far is removed.
fn open() -> Connection {
    let mut connection = Connection::new(Config::default());
    let settings = frame(FrameKind::SETTINGS, 0, 0, &[]);
    connection.feed(&settings, &mut Seen::default()).unwrap();
    take_output(&mut connection);
    connection
}

fn take_output(connection: &mut Connection) -> Vec<u8> {
    let output = connection.output().to_vec();
    connection.sent(output.len());
    output
}
