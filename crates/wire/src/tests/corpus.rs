//! Responses of every kind, good and bad, each with what follows it on the connection.

use crate::Expect;
use crate::Expect::{Connect, Head, Other};

/// What was asked, and what came.
pub(super) const ANSWERS: &[(Expect, &[u8])] = &[
    // Bodies of known length.
    (Other, b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"),
    (Other, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi and more"),
    (Other, b"HTTP/1.1 200\r\ncontent-length:2,2\r\n\r\nhi"),
    (Other, b"HTTP/1.1 200 \r\nContent-Length: 9\r\n\r\ncut"),
    // Chunks.
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\nHTTP"),
    (Other, b"HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: gzip, CHUNKED\r\n\r\n00a \r\n0123456789\r\n000\r\nA: b\r\nC:\r\n d\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 3\n\n1\na\n1\nb\n0\nT: u\n\nx"),
    (Other, b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
    // Bodies that end with the connection.
    (Other, b"HTTP/1.1 200 OK\r\n\r\nall that comes"),
    (Other, b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello"),
    // No body.
    (Head, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nHTTP"),
    (Head, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    (Other, b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\nrest"),
    (Other, b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 5\r\n\r\n"),
    (Connect, b"HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n\x16\x03\x01"),
    (Connect, b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno"),
    (Other, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\x81\x00"),
    // Interim responses.
    (Other, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    (Other, b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n\r\nHTTP/1.1 102 x\n\nHTTP/1.1 500 Oh\r\n\r\n"),
    (Other, b"HTTP/1.1 100 Continue\r\nContent-Length: x\r\n\r\nHTTP/1.1 200 OK\r\n"),
    // Odd lines that are tolerated.
    (Other, b"\r\n\nHTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\t3\r\nContent-Length:\r\n 2\r\n\r\nhi"),
    (Other, b"HTTP/1.1 200 OK\r\n folded reason\r\nA : b\r\n \r\nContent-Length: 1\n\r\nx"),
    (Other, b"HTTP/1.9 999 \xff\xfe\r\nB: \xe4\rc\r\nEmpty:\r\nContent-Length: 1\r\n\nx"),
    (Other, b"HTTP/1.1 200 OK\r\nno field\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nno field\r\nContent-Length: 1\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nA\r\n: b\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\n\rA: b\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nno field\r\n\r\n"),
    // Malformed.
    (Other, b"SSH-2.0-OpenSSH_9.2p1\r\n"),
    (Other, b"\x15\x03\x01\x00\x02\x02\x46"),
    (Other, b"\r\n\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
    (Other, b"HTTP/2 200\r\n\r\n"),
    (Other, b"HTTP/1.1 99 x\r\n\r\n"),
    (Other, b"HTTP/1.1\n\nbody"),
    (Other, b"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n"),
    (Other, b"HTTP/1.1 100 Continue\r\n\r\nhello"),
    (Other, b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\rb\r\n"),
    (Other, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n"),
];
