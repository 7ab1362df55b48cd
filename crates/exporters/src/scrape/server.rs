//! The server of the endpoint: one small answer at a time, on a thread of its own.

use crate::channel::{Channel, Refusal};
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
    text: Mutex<Vec<u8>>,
    is_over: AtomicBool,
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
        let server = server.spawn(move || serve(&listener, &offered))?;
        Ok(Endpoint {
            shelf,
            server: Some(server),
        })
    }
}

impl Channel for Endpoint {
    fn send(&mut self, body: &[u8], _: Instant) -> Result<(), Refusal> {
        let mut text = self
            .shelf
            .text
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        body.clone_into(&mut text);
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
    let (status, body) = match (method, path) {
        (Some("GET" | "HEAD"), "/metrics") => {
            let text = shelf.text.lock().unwrap_or_else(PoisonError::into_inner);
            ("200 OK", text.clone())
        }
        (Some("GET" | "HEAD"), _) => ("404 Not Found", b"see /metrics\n".to_vec()),
        _ => ("405 Method Not Allowed", b"GET /metrics\n".to_vec()),
    };
    let kind = "text/plain; version=0.0.4; charset=utf-8";
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
