//! The channel of gRPC: one unary call after the other on a connection of HTTP/2 that is kept.
//!
//! As in `http.rs` it blocks on the exporter's own thread. A message of gRPC is a byte that says
//! whether it is compressed, its length in four bytes, and itself; the status of a call is in the
//! trailers.
//!
//! The format: <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

mod status;

use crate::channel::{Channel, Judge, Refusal, network_refusal, status_refusal};
use crate::gzip::gzip;
use crate::stream::{Address, Stream};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use loadline_plan::{HttpVersion, Tls};
use loadline_transport::TlsSetupError;
use loadline_wire::h2::{Config, Connection, Ended, Outcome, Request, Sink};
use loadline_wire::{RequestHead, Version};
use percent_encoding::percent_decode;
use std::io::{self, Read, Write};
use std::time::Instant;
use url::Url;

/// The bytes before a message: whether it is compressed, and its length.
const FRAME_BYTES: usize = 5;
/// The bytes of a reply that are kept.
const MOST_BODY: usize = 4_096;

/// The address and the fields of the calls to one receiver.
pub(crate) struct Grpc {
    address: Address,
    /// The service and its method: `/package.Service/Method`.
    path: &'static str,
    fields: Vec<(String, String)>,
    /// True if messages are compressed.
    compresses: bool,
    /// Reads the message of a reply to what was accepted.
    judge: Judge,
    kept: Option<Link>,
}

/// A connection of HTTP/2 with the stream that carries it.
struct Link {
    stream: Stream,
    connection: Connection,
}

/// What a receiver answered to a call.
#[derive(Debug, Default)]
struct Reply {
    /// The status of gRPC, as it was written.
    status: Option<String>,
    message: String,
    /// The rest of the status, as a message of protobuf.
    details: Vec<u8>,
    body: Vec<u8>,
    ended: Option<Ended>,
}

impl Grpc {
    /// Creates a channel that calls a method with these fields; `judge` reads its replies.
    ///
    /// # Errors
    /// If files of the TLS settings can't be used.
    pub(crate) fn to(
        url: &Url,
        path: &'static str,
        fields: &[(String, String)],
        tls: &Tls,
        judge: Judge,
    ) -> Result<Grpc, TlsSetupError> {
        Ok(Grpc {
            address: Address::of(url, tls, HttpVersion::V2)?,
            path,
            fields: fields.to_vec(),
            compresses: false,
            judge,
            kept: None,
        })
    }

    /// Returns the same channel, whose messages are compressed as gzip.
    pub(crate) fn compressed(self) -> Grpc {
        Grpc {
            compresses: true,
            ..self
        }
    }

    fn call(&mut self, message: &[u8], until: Instant) -> io::Result<Reply> {
        let request = self.request(message)?;
        if let Some(link) = self.kept.take()
            && let Ok(reply) = self.exchange(link, &request, until)
            && reply.is_whole()
        {
            return Ok(reply);
        }
        // A receiver may end an idle connection at any time. A message that arrives twice has the
        // same instants both times.
        let link = Link {
            stream: self.address.connect(until)?,
            connection: Connection::new(Config::default()),
        };
        self.exchange(link, &request, until)
    }

    fn request(&self, message: &[u8]) -> io::Result<Request> {
        let agent = format!("Loadline/{}", env!("CARGO_PKG_VERSION"));
        let mut headers = vec![
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("user-agent", agent.as_str()),
        ];
        let body = match self.compresses {
            true => framed(&gzip(message), true),
            false => framed(message, false),
        };
        if self.compresses {
            headers.push(("grpc-encoding", "gzip"));
        }
        let own = self.fields.iter();
        headers.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
        let head = RequestHead {
            method: "POST",
            target: self.path,
            host: &self.address.authority,
            headers: &headers,
            body: Some(&body),
            keepalive: true,
            version: Version::Http11,
        };
        Request::new(&head, self.address.scheme()).map_err(io::Error::other)
    }

    /// Sends a request and reads its reply; keeps the connection if it may be used again.
    fn exchange(&mut self, mut link: Link, request: &Request, until: Instant) -> io::Result<Reply> {
        let mut reply = Reply::default();
        while !link.connection.is_ready() {
            link.step(&mut reply, until)?;
        }
        let begun = link.connection.begin(request, 0);
        begun.map_err(io::Error::other)?;
        while reply.ended.is_none() {
            link.step(&mut reply, until)?;
        }
        if reply.is_whole() {
            self.kept = Some(link);
        }
        Ok(reply)
    }
}

/// Returns a message with its frame.
fn framed(message: &[u8], is_compressed: bool) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [
        &[u8::from(is_compressed)],
        &length.to_be_bytes()[..],
        message,
    ]
    .concat()
}

impl Link {
    /// Sends what is to be sent, then reads what has arrived.
    fn step(&mut self, reply: &mut Reply, until: Instant) -> io::Result<()> {
        self.send(until)?;
        self.stream.limit(until)?;
        let mut buffer = [0; 4_096];
        let count = self.stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let fed = self.connection.feed(&buffer[..count], reply);
        fed.map_err(io::Error::other)
    }

    fn send(&mut self, until: Instant) -> io::Result<()> {
        while !self.connection.output().is_empty() {
            self.stream.limit(until)?;
            let count = self.stream.write(self.connection.output())?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.connection.sent(count);
        }
        self.stream.flush()
    }
}

impl Reply {
    fn is_whole(&self) -> bool {
        let ended = self.ended.as_ref();
        ended.is_some_and(|ended| ended.outcome == Outcome::Whole)
    }

    /// Decides whether the call was accepted.
    fn judged(&self, judge: Judge) -> Result<(), Refusal> {
        let status = self.ended.as_ref().map_or(0, |ended| ended.status);
        match (self.is_whole(), status, self.status.as_deref()) {
            (false, ..) => Err(Refusal {
                reason: "it ended the call without a reply".to_owned(),
                may_retry: true,
                after: None,
            }),
            (_, 200, None) => Err(Refusal {
                reason: "its reply has no status of gRPC: is it a receiver over HTTP?".to_owned(),
                may_retry: false,
                after: None,
            }),
            (_, 200, Some("0")) => judge(self.body.get(FRAME_BYTES..).unwrap_or_default()),
            (_, 200, Some(code)) => Err(status::refusal(code, &self.message, &self.details)),
            (_, status, _) => Err(status_refusal(status, &[])),
        }
    }
}

impl Sink for Reply {
    const NEEDS_FIELDS: bool = true;
    const NEEDS_BODY: bool = true;

    fn field(&mut self, _: usize, name: &[u8], value: &[u8]) {
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"grpc-status" => self.status = Some(text()),
            b"grpc-message" => {
                self.message = percent_decode(value).decode_utf8_lossy().into_owned();
            }
            b"grpc-status-details-bin" => {
                let unpadded = value.trim_ascii_end();
                let end = unpadded.iter().rposition(|byte| *byte != b'=');
                let unpadded = &unpadded[..end.map_or(0, |last| last + 1)];
                self.details = STANDARD_NO_PAD.decode(unpadded).unwrap_or_default();
            }
            _ => {}
        }
    }

    fn body(&mut self, _: usize, part: &[u8]) {
        let room = MOST_BODY.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end(&mut self, _: usize, ended: Ended) {
        self.ended = Some(ended);
    }
}

impl Channel for Grpc {
    fn send(&mut self, body: &[u8], until: Instant) -> Result<(), Refusal> {
        let reply = self.call(body, until);
        let reply = reply.map_err(|error| network_refusal(&error))?;
        reply.judged(self.judge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    fn whole(status: u16) -> Option<Ended> {
        Some(Ended {
            outcome: Outcome::Whole,
            status,
            is_sent: true,
            head_len: 0,
            body_len: 0,
            interim: 0,
        })
    }

    fn reply(http: u16, status: Option<&str>) -> Reply {
        Reply {
            status: status.map(str::to_owned),
            message: "no room".to_owned(),
            ended: whole(http),
            ..Reply::default()
        }
    }

    fn refused(reply: &Reply) -> (String, bool) {
        let refusal = reply.judged(|_| Ok(())).unwrap_err();
        (refusal.reason, refusal.may_retry)
    }

    #[test]
    fn a_message_has_its_length_before_it() {
        assert_eq!(framed(b"ab", false), [0, 0, 0, 0, 2, b'a', b'b']);
        assert_eq!(framed(b"ab", true)[0], 1);
    }

    #[test]
    fn a_reply_says_whether_the_call_was_accepted() {
        assert!(reply(200, Some("0")).judged(|_| Ok(())).is_ok());
        let busy = refused(&reply(200, Some("14")));
        assert_eq!(busy, ("it answered UNAVAILABLE (no room)".to_owned(), true));
        let missing = refused(&reply(404, None));
        assert!(missing.0.starts_with("it answered 404") && !missing.1);
        assert!(refused(&reply(503, None)).1);
        assert!(
            refused(&reply(200, None))
                .0
                .contains("is it a receiver over HTTP?")
        );
        let lost = Reply::default();
        assert_eq!(
            refused(&lost),
            ("it ended the call without a reply".to_owned(), true)
        );
    }

    #[test]
    fn fields_of_trailers_are_decoded() {
        let mut reply = Reply::default();
        reply.field(0, b"grpc-message", b"50%25 full");
        reply.field(0, b"grpc-status-details-bin", b"AQI=");
        assert_eq!(
            (reply.message.as_str(), reply.details.as_slice()),
            ("50% full", &[1, 2][..])
        );
    }

    #[test]
    fn a_receiver_that_speaks_http_1_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let answering = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
        });
        let url = url.parse().unwrap();
        let mut grpc = Grpc::to(&url, "/a/B", &[], &Tls::default(), |_| Ok(())).unwrap();
        let refusal = grpc.send(b"", Instant::now() + Duration::from_secs(10));
        let reason = refusal.unwrap_err().reason;
        assert!(reason.contains("doesn't speak HTTP/2"), "{reason}");
        answering.join().unwrap();
    }
}
