//! The channel of HTTP: one POST after the other on a connection that is kept.
//!
//! It runs on the exporter's own thread and may block there, so that it needs neither the engine's
//! loop nor a runtime: sockets of the standard library, TLS by the engine's settings, responses by
//! the engine's parser. No redirects are followed: a receiver that answers with one is set up
//! wrong.

use crate::channel::{Channel, Judge, Refusal, network_refusal, status_refusal};
use crate::gzip::gzip;
use crate::stream::{Address, Stream};
use loadline_plan::{HttpVersion, Tls};
use loadline_transport::TlsSetupError;
use loadline_wire::{Expect, ResponseParser, Sink};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};
use url::Url;

/// The bytes of a response's body that are kept.
const MOST_BODY: usize = 4_096;

/// The address and the head of the messages to one receiver.
pub(crate) struct Http {
    address: Address,
    /// The head of a request, without the length of its body and the empty line.
    head: String,
    /// True if bodies are compressed.
    compresses: bool,
    /// Reads the body of a response to what was accepted.
    judge: Judge,
    stream: Option<Stream>,
}

/// What a receiver answered.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
    is_reusable: bool,
}

impl Http {
    /// Creates a channel that posts to this URL with these header fields.
    ///
    /// # Errors
    /// If files of the TLS settings can't be used.
    pub(crate) fn to(
        url: &Url,
        fields: &[(String, String)],
        tls: &Tls,
    ) -> Result<Http, TlsSetupError> {
        let address = Address::of(url, tls, HttpVersion::V1_1)?;
        let authority = &address.authority;
        let query = url.query().map(|query| format!("?{query}"));
        let path = format!("{}{}", url.path(), query.unwrap_or_default());
        let mut head = format!("POST {path} HTTP/1.1\r\nHost: {authority}\r\n");
        let agent = format!("User-Agent: Loadline/{}\r\n", env!("CARGO_PKG_VERSION"));
        head.push_str(&agent);
        for (name, value) in fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Ok(Http {
            address,
            head,
            compresses: false,
            judge: |_| Ok(()),
            stream: None,
        })
    }

    /// Returns the same channel, whose responses say in their bodies what was accepted.
    pub(crate) fn judged_by(self, judge: Judge) -> Http {
        Http { judge, ..self }
    }

    /// Returns the same channel, whose bodies are compressed as gzip.
    pub(crate) fn compressed(mut self) -> Http {
        self.head.push_str("Content-Encoding: gzip\r\n");
        Http {
            compresses: true,
            ..self
        }
    }

    fn post(&mut self, body: &[u8], until: Instant) -> io::Result<Answer> {
        let request = self.request(body);
        if let Some(stream) = self.stream.take()
            && let Ok(answer) = self.exchange(stream, &request, until)
        {
            return Ok(answer);
        }
        // A receiver may close an idle connection at any time. A message that arrives twice has the
        // same instants both times.
        let stream = self.address.connect(until)?;
        self.exchange(stream, &request, until)
    }

    fn request(&self, body: &[u8]) -> Vec<u8> {
        if self.compresses {
            return self.with_body(&gzip(body));
        }
        self.with_body(body)
    }

    fn with_body(&self, body: &[u8]) -> Vec<u8> {
        let end = format!("Content-Length: {}\r\n\r\n", body.len());
        [self.head.as_bytes(), end.as_bytes(), body].concat()
    }

    /// Sends a request and reads its response; keeps the connection if it may be used again.
    fn exchange(
        &mut self,
        mut stream: Stream,
        request: &[u8],
        until: Instant,
    ) -> io::Result<Answer> {
        stream.limit(until)?;
        stream.write_all(request)?;
        stream.flush()?;
        let answer = read(&mut stream, until)?;
        if answer.is_reusable {
            self.stream = Some(stream);
        }
        Ok(answer)
    }
}

fn read(stream: &mut Stream, until: Instant) -> io::Result<Answer> {
    let mut parser = ResponseParser::new();
    parser.begin(Expect::for_method("POST"));
    let mut answer = Answer::default();
    let mut buffer = [0; 4_096];
    loop {
        stream.limit(until)?;
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            parser.close().map_err(io::Error::other)?;
            break;
        }
        let fed = parser.feed(&buffer[..count], &mut answer);
        if fed.map_err(io::Error::other)?.done {
            break;
        }
    }
    answer.status = parser.status();
    answer.is_reusable = parser.reusable();
    Ok(answer)
}

impl Sink for Answer {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn header(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"retry-after") {
            // The form as a date is rare and needs no more than the usual pause.
            let seconds = std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse().ok());
            self.retry_after = seconds.map(Duration::from_secs);
        }
    }

    fn body(&mut self, part: &[u8]) {
        let room = MOST_BODY.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
    }
}

impl Channel for Http {
    fn send(&mut self, body: &[u8], until: Instant) -> Result<(), Refusal> {
        let answer = self
            .post(body, until)
            .map_err(|error| network_refusal(&error))?;
        match answer.status {
            200..=299 => (self.judge)(&answer.body),
            status => Err(Refusal {
                after: answer.retry_after,
                ..status_refusal(status, &answer.body)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};

    const TIMEOUT: Duration = Duration::from_secs(10);

    /// Answers each connection with the next of these bytes, and returns what it received.
    fn receiver(answers: Vec<&'static [u8]>) -> (Url, JoinHandle<Vec<Vec<u8>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("http://{address}/write?db=a").parse().unwrap();
        let serve = move || {
            let each = answers.into_iter().map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut received = Vec::new();
                let mut buffer = [0; 4_096];
                while !received.ends_with(b"body") {
                    let count = stream.read(&mut buffer).unwrap();
                    received.extend_from_slice(&buffer[..count]);
                }
                stream.write_all(answer).unwrap();
                received
            });
            each.collect()
        };
        (url, thread::spawn(serve))
    }

    fn send(answer: &'static [u8]) -> (Result<(), Refusal>, String) {
        let (url, received) = receiver(vec![answer]);
        let fields = [("Authorization".to_owned(), "Token t".to_owned())];
        let mut http = Http::to(&url, &fields, &Tls::default()).unwrap();
        let sent = http.send(b"body", Instant::now() + TIMEOUT);
        drop(http);
        let received = received.join().unwrap().remove(0);
        (sent, String::from_utf8(received).unwrap())
    }

    #[test]
    fn a_message_is_posted_with_its_fields() {
        let (sent, received) = send(b"HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(sent, Ok(()));
        assert!(received.starts_with("POST /write?db=a HTTP/1.1\r\nHost: 127.0.0.1:"));
        assert!(received.contains("\r\nAuthorization: Token t\r\n"));
        assert!(received.ends_with("\r\nContent-Length: 4\r\n\r\nbody"));
    }

    #[test]
    fn a_status_says_whether_to_try_again_and_when() {
        for (answer, may_retry, after, reason) in [
            (
                &b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"[..],
                true,
                Some(7),
                "it answered 429",
            ),
            (
                b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nno space\n",
                true,
                None,
                "it answered 500 (no space)",
            ),
            (
                b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n",
                false,
                None,
                "it answered 401, which is about the user or the token",
            ),
        ] {
            let refusal = Refusal {
                reason: reason.to_owned(),
                may_retry,
                after: after.map(Duration::from_secs),
            };
            assert_eq!(send(answer).0, Err(refusal));
        }
    }

    #[test]
    fn a_body_may_be_compressed() {
        let url: Url = "http://a.test/".parse().unwrap();
        let http = Http::to(&url, &[], &Tls::default()).unwrap();
        let request = http.compressed().request(b"body");
        let end = request
            .windows(4)
            .position(|part| part == b"\r\n\r\n")
            .unwrap()
            + 4;
        let head = String::from_utf8_lossy(&request[..end]).into_owned();
        assert!(head.contains("\r\nContent-Encoding: gzip\r\n"), "{head}");
        let length = format!("Content-Length: {}\r\n", request.len() - end);
        assert!(head.contains(&length), "{head}");
        let mut body = String::new();
        let mut decoder = flate2::read::GzDecoder::new(&request[end..]);
        decoder.read_to_string(&mut body).unwrap();
        assert_eq!(body, "body");
    }

    #[test]
    fn half_a_response_is_no_response() {
        let (sent, _) = send(b"HTTP/1.1 204 No Cont");
        assert!(sent.unwrap_err().may_retry);
    }

    #[test]
    fn a_receiver_that_is_away_may_come_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let mut http = Http::to(&url.parse().unwrap(), &[], &Tls::default()).unwrap();
        let refusal = http.send(b"body", Instant::now() + TIMEOUT).unwrap_err();
        assert_eq!(refusal.reason, "nothing listens there");
        assert!(refusal.may_retry);
    }

    #[test]
    fn no_message_is_sent_after_its_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut http = Http::to(&url.parse().unwrap(), &[], &Tls::default()).unwrap();
        let refusal = http.send(b"body", Instant::now()).unwrap_err();
        assert_eq!(refusal.reason, "it did not answer in time");
    }

    #[test]
    fn a_connection_is_used_again_until_it_is_closed() {
        let ok = b"HTTP/1.1 204 No Content\r\n\r\n";
        let (url, received) = receiver(vec![ok, ok]);
        let mut http = Http::to(&url, &[], &Tls::default()).unwrap();
        for _ in 0..2 {
            // The receiver takes one message on each connection, and closes it.
            assert_eq!(http.send(b"body", Instant::now() + TIMEOUT), Ok(()));
        }
        assert_eq!(received.join().unwrap().len(), 2);
    }
}
