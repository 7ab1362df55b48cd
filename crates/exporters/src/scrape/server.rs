//! The server of the endpoint: one small answer at a time, on a thread of its own.

use super::protobuf;
use crate::channel::{Channel, Refusal};
use loadline_reactor::let_workers_go_first;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest time for one request.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The time between two looks for a request.
const PAUSE: Duration = Duration::from_millis(50);
/// The most bytes of the head of a request.
const MOST_HEAD: usize = 16_384;

/// Offers the last message to every client, until it is dropped.
pub(super) struct Endpoint {
    shelf: Arc<Shelf>,
    server: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shelf {
    /// Both forms of the last message.
    joined: Mutex<Vec<u8>>,
    is_over: AtomicBool,
}

/// Returns one message of both forms: the length of the text, the text, and the other one.
pub(super) fn joined(text: Vec<u8>, binary: &[u8]) -> Vec<u8> {
    [&text.len().to_le_bytes()[..], &text, binary].concat()
}

/// Returns the text and the other form of a message; both are empty before the first one.
pub(super) fn parted(joined: &[u8]) -> (&[u8], &[u8]) {
    match joined.split_first_chunk() {
        Some((length, rest)) => rest.split_at(usize::from_le_bytes(*length).min(rest.len())),
        None => (&[], &[]),
    }
}

impl Endpoint {
    /// Listens on this address.
    ///
    /// # Errors
    /// If the system refuses that.
    pub(super) fn listen(address: SocketAddr) -> io::Result<Endpoint> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let shelf = Arc::<Shelf>::default();
        let offered = Arc::clone(&shelf);
        let server = thread::Builder::new().name("scrape".to_owned());
        let server = server.spawn(move || {
            let_workers_go_first();
            serve(&listener, &offered);
        })?;
        Ok(Endpoint {
            shelf,
            server: Some(server),
        })
    }
}

impl Channel for Endpoint {
    fn send(&mut self, body: &[u8], _: Instant) -> Result<(), Refusal> {
        let joined = self.shelf.joined.lock();
        body.clone_into(&mut joined.unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shelf.is_over.store(true, Ordering::Relaxed);
        // The next run may listen on the same address.
        if let Some(server) = self.server.take() {
            drop(server.join());
        }
    }
}

fn serve(listener: &TcpListener, shelf: &Shelf) {
    while !shelf.is_over.load(Ordering::Relaxed) {
        match listener.accept() {
            // Whoever does not read the answer has none.
            Ok((stream, _)) => drop(answer(stream, shelf)),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn answer(mut stream: TcpStream, shelf: &Shelf) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let head = head(&mut stream)?;
    let mut words = head.split(' ');
    let (method, path) = (words.next(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let is_binary = takes_protobuf(&head);
    let (status, body) = match (method, path) {
        (Some("GET" | "HEAD"), "/metrics") => ("200 OK", shelf.form(is_binary)),
        (Some("GET" | "HEAD"), _) => ("404 Not Found", b"see /metrics\n".to_vec()),
        _ => ("405 Method Not Allowed", b"GET /metrics\n".to_vec()),
    };
    let kind = match is_binary && status == "200 OK" {
        true => protobuf::CONTENT_TYPE,
        false => "text/plain; version=0.0.4; charset=utf-8",
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    match method {
        Some("HEAD") => Ok(()),
        _ => stream.write_all(&body),
    }
}

impl Shelf {
    fn form(&self, is_binary: bool) -> Vec<u8> {
        let joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, binary) = parted(&joined);
        if is_binary { binary } else { text }.to_vec()
    }
}

/// True if a client takes protobuf, and prefers it: Prometheus does where it stores native
/// histograms. Others that name it also take text, and have that.
fn takes_protobuf(head: &str) -> bool {
    let accept = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("accept").then(|| value.trim())
    });
    accept.is_some_and(|value| value.starts_with(protobuf::MEDIA_TYPE))
}

/// Reads the head of a request, within [`TIMEOUT`] in all.
fn head(stream: &mut TcpStream) -> io::Result<String> {
    let until = Instant::now() + TIMEOUT;
    let mut head = Vec::new();
    let mut buffer = [0; 1_024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer)?;
        head.extend_from_slice(&buffer[..count]);
        if count == 0 || head.len() > MOST_HEAD || Instant::now() > until {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_both_forms() {
        assert_eq!(
            parted(&joined(b"text".to_vec(), b"other")),
            (&b"text"[..], &b"other"[..])
        );
        assert_eq!(parted(&[]), (&[][..], &[][..]));
    }

    #[test]
    fn protobuf_is_for_whoever_names_it_first() {
        let of = |accept: &str| takes_protobuf(&format!("GET / HTTP/1.1\r\nAccept: {accept}\r\n"));
        let protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
            encoding=delimited,text/plain;version=0.0.4;q=0.3";
        assert!(of(protobuf));
        assert!(!of("text/plain;version=0.0.4"));
        assert!(!takes_protobuf("GET / HTTP/1.1\r\n\r\n"));
    }
}
