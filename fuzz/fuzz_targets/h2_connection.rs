//! Any bytes from an HTTP/2 server: nothing breaks, and cutting them makes no difference to what a
//! sink is told, to what is sent, and to whether the connection is given up.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use loadline_wire::h2::{Config, Connection, ConnectionError, Ended, Request, Sink};
use loadline_wire::{RequestHead, Version};

/// The server's settings, empty.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Frames, in a form that is mostly right: kind, flags, stream, payload.
    frames: Vec<(u8, u8, u8, &'a [u8])>,
    /// Bytes after them.
    rest: &'a [u8],
    /// Whether the server's settings come before all else.
    is_settled: bool,
    windows: (u16, u16),
    cuts: Vec<u16>,
}

#[derive(Debug, Default, PartialEq)]
struct Seen {
    heads: Vec<(usize, u16)>,
    fields: Vec<(usize, Vec<u8>, Vec<u8>)>,
    bodies: [Vec<u8>; 4],
    ended: Vec<(usize, Ended)>,
}

impl Sink for Seen {
    const NEEDS_FIELDS: bool = true;
    const NEEDS_BODY: bool = true;

    fn head(&mut self, key: usize, status: u16) {
        assert!((200..1000).contains(&status));
        self.heads.push((key, status));
    }

    fn field(&mut self, key: usize, name: &[u8], value: &[u8]) {
        self.fields.push((key, name.to_vec(), value.to_vec()));
    }

    fn body(&mut self, key: usize, part: &[u8]) {
        assert!(!part.is_empty());
        self.bodies[key].extend_from_slice(part);
    }

    fn end(&mut self, key: usize, ended: Ended) {
        assert_eq!(ended.body_len, self.bodies[key].len() as u64);
        self.ended.push((key, ended));
    }
}

#[derive(Debug, PartialEq)]
struct Reading {
    seen: Seen,
    end: Result<(), ConnectionError>,
    output: Vec<u8>,
}

fuzz_target!(|input: Input<'_>| {
    let mut bytes = Vec::new();
    for (kind, flags, stream, payload) in &input.frames {
        let length = (payload.len() as u32).to_be_bytes();
        bytes.extend_from_slice(&length[1..]);
        bytes.extend_from_slice(&[kind % 11, *flags, 0, 0, 0, stream % 10]);
        bytes.extend_from_slice(payload);
    }
    bytes.extend_from_slice(input.rest);
    let whole = read(&input, [&bytes[..]]);
    assert_eq!(read(&input, pieces(&bytes, &input.cuts)), whole);
    assert_eq!(read(&input, bytes.chunks(1)), whole);
});

fn read<'a>(input: &Input<'_>, pieces: impl IntoIterator<Item = &'a [u8]>) -> Reading {
    let mut connection = Connection::new(Config {
        stream_window: input.windows.0.into(),
        connection_window: input.windows.1.into(),
        ..Config::default()
    });
    let mut seen = Seen::default();
    let settings: &[u8] = if input.is_settled { SETTINGS } else { &[] };
    let mut end = connection.feed(settings, &mut seen);
    for (key, method) in ["GET", "HEAD", "POST", "GET"].into_iter().enumerate() {
        // Before the server's settings no stream begins.
        let _ = connection.begin(&request(method), key);
    }
    for piece in pieces {
        end = end.and_then(|()| connection.feed(piece, &mut seen));
    }
    let output = connection.output().to_vec();
    connection.sent(output.len());
    Reading { seen, end, output }
}

fn request(method: &str) -> Request {
    let head = RequestHead {
        method,
        target: "/",
        host: "localhost",
        headers: &[],
        body: (method == "POST").then_some(&[b'u'; 70_000][..]),
        keepalive: true,
        version: Version::Http11,
    };
    Request::new(&head, "http").expect("a request that is right")
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[u16]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|&cut| usize::from(cut) % (bytes.len() + 1))
        .collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|pair| &bytes[pair[0]..pair[1]])
        .collect()
}
