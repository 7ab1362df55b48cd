//! The server of the endpoint: one small answer at a time, on a thread of its own.

use super::{Shared, protobuf};
use crate::channel::{Channel, Refusal};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest time for one request.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The time between two looks for a request.
const PAUSE: Duration = Duration::from_millis(50);
/// The most bytes of the head of a request.
const MOST_HEAD: usize = 16_384;

/// Offers what was measured to every client, until it is dropped.
pub(super) struct Endpoint {
    is_over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Listens on this address.
    ///
    /// # Errors
    /// If the system refuses that.
    pub(super) fn listen(address: SocketAddr, shared: Shared) -> io::Result<Endpoint> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let is_over = Arc::<AtomicBool>::default();
        let until = Arc::clone(&is_over);
        let server = thread::Builder::new().name("scrape".to_owned());
        let server = server.spawn(move || serve(&listener, &shared, &until))?;
        Ok(Endpoint {
            is_over,
            server: Some(server),
        })
    }
}

impl Channel for Endpoint {
    /// Clients come for what there is.
    fn send(&mut self, _: &[u8], _: Instant) -> Result<(), Refusal> {
        Ok(())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The next run may listen on the same address.
        if let Some(server) = self.server.take() {
            drop(server.join());
        }
    }
}

fn serve(listener: &TcpListener, shared: &Shared, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        match listener.accept() {
            // Whoever does not read the answer has none.
            Ok((stream, _)) => drop(answer(stream, shared)),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let head = head(&mut stream)?;
    let mut words = head.split(' ');
    let (method, path) = (words.next(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let is_binary = takes_protobuf(&head);
    let (status, body) = match (method, path) {
        (Some("GET" | "HEAD"), "/metrics") => ("200 OK", form(shared, is_binary)),
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

fn form(shared: &Shared, is_binary: bool) -> Vec<u8> {
    let exposition = shared.locked();
    match is_binary {
        true => exposition.protobuf(),
        false => exposition.text(),
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
    fn protobuf_is_for_whoever_names_it_first() {
        let of = |accept: &str| takes_protobuf(&format!("GET / HTTP/1.1\r\nAccept: {accept}\r\n"));
        let protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
            encoding=delimited,text/plain;version=0.0.4;q=0.3";
        assert!(of(protobuf));
        assert!(!of("text/plain;version=0.0.4"));
        assert!(!takes_protobuf("GET / HTTP/1.1\r\n\r\n"));
    }
}
