//! A bare HTTP client on any stream, and servers for it to talk to.

use loadline_testbed::{Config, Server};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A time that is longer than any test takes, so that a test fails instead of hanging.
const TOO_LONG: Duration = Duration::from_secs(20);

/// Returns a free port of loopback.
pub(crate) fn free_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// Starts a server with the defaults of `config`, on a free port.
pub(crate) fn start(config: Config) -> Server {
    Server::start(Config {
        listen: free_port(),
        ..config
    })
    .expect("a server that starts")
}

/// Starts a server with its default responses.
pub(crate) fn plain() -> Server {
    start(Config::default())
}

/// Waits for a change that another thread is about to make.
pub(crate) fn wait_until(has_happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !has_happened() {
        assert!(start.elapsed() < TOO_LONG, "it never happened");
        std::thread::yield_now();
    }
}

/// A response as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status_line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Vec<(String, String)>,
    /// The sizes of the body's chunks.
    pub(crate) chunks: Vec<usize>,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.status_line[9..12].parse().expect("a status code")
    }

    /// Returns the value of a header, whose name is given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Eof,
    Reset,
    /// No data arrived for a while, and the stream is open.
    Silence,
}

/// One connection to a server.
pub(crate) struct Client<S> {
    pub(crate) stream: S,
    unread: Vec<u8>,
}

impl Client<TcpStream> {
    pub(crate) fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(server.addr()).expect("a connection");
        stream.set_read_timeout(Some(TOO_LONG)).expect("a timeout");
        Self::on(stream)
    }

    /// Reads until the stream ends or has been silent for `patience`.
    pub(crate) fn read_to_end_within(&mut self, patience: Duration) -> (Vec<u8>, End) {
        self.stream
            .set_read_timeout(Some(patience))
            .expect("a timeout");
        self.read_to_end()
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn on(stream: S) -> Self {
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream
            .write_all(bytes.as_ref())
            .expect("a server that reads");
    }

    /// Sends a GET with additional header lines, each with its end.
    pub(crate) fn send_get_with(&mut self, target: &str, headers: &str) {
        self.send(format!(
            "GET {target} HTTP/1.1\r\nHost: here\r\n{headers}\r\n"
        ));
    }

    pub(crate) fn send_get(&mut self, target: &str) {
        self.send_get_with(target, "");
    }

    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.send_get(target);
        self.answer()
    }

    /// Reads one response to GET.
    pub(crate) fn answer(&mut self) -> Answer {
        self.answer_to("GET")
    }

    /// Reads one response to a request of that method.
    pub(crate) fn answer_to(&mut self, method: &str) -> Answer {
        let (status_line, headers) = self.head();
        let mut answer = Answer {
            status_line,
            headers,
            body: vec![],
            trailers: vec![],
            chunks: vec![],
        };
        let is_bodiless = method == "HEAD" || matches!(answer.status(), 100..=199 | 204 | 304);
        if is_bodiless {
            return answer;
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            self.chunks(&mut answer);
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().expect("a length");
            answer.body = self.bytes(length);
        } else {
            let (body, end) = self.read_to_end();
            assert_eq!(end, End::Eof);
            answer.body = body;
        }
        answer
    }

    fn chunks(&mut self, answer: &mut Answer) {
        loop {
            let size = usize::from_str_radix(&self.line(), 16).expect("a chunk size");
            if size == 0 {
                answer.trailers = self.fields();
                return;
            }
            answer.chunks.push(size);
            answer.body.extend(self.bytes(size));
            assert_eq!(self.line(), "", "after a chunk");
        }
    }

    fn head(&mut self) -> (String, Vec<(String, String)>) {
        (self.line(), self.fields())
    }

    fn fields(&mut self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                assert_eq!(line, "", "a header line");
                return fields;
            };
            fields.push((name.to_owned(), value.to_owned()));
        }
    }

    fn line(&mut self) -> String {
        let end = loop {
            match self.unread.windows(2).position(|pair| pair == b"\r\n") {
                Some(end) => break end,
                None => self.read_some(),
            }
        };
        let line = self.bytes(end + 2);
        String::from_utf8(line[..end].to_vec()).expect("text")
    }

    /// Reads exactly this many bytes.
    pub(crate) fn bytes(&mut self, size: usize) -> Vec<u8> {
        while self.unread.len() < size {
            self.read_some();
        }
        self.unread.drain(..size).collect()
    }

    fn read_some(&mut self) {
        let mut buffer = [0; 64 * 1024];
        let size = self.stream.read(&mut buffer).expect("a server that writes");
        assert!(size > 0, "the answer ended early, after {:?}", self.unread);
        self.unread.extend_from_slice(&buffer[..size]);
    }

    /// Reads all data, and returns how the stream ended.
    pub(crate) fn read_to_end(&mut self) -> (Vec<u8>, End) {
        let mut all = std::mem::take(&mut self.unread);
        let mut buffer = [0; 64 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return (all, End::Eof),
                Ok(size) => all.extend_from_slice(&buffer[..size]),
                Err(error) => return (all, end_of(error.kind())),
            }
        }
    }
}

fn end_of(kind: ErrorKind) -> End {
    match kind {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => End::Reset,
        ErrorKind::WouldBlock | ErrorKind::TimedOut => End::Silence,
        other => panic!("an unexpected end: {other}"),
    }
}
