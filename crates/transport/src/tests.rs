//! Connections to real servers on threads and to simulated ones in virtual time.

pub(crate) mod authority;
mod costs;
mod dialling;
mod encrypted;
mod handshake;
mod plain;
mod servers;
mod settings;
mod simulated;
mod texts;
mod tunnels;

use crate::{Connection, Dialler, Endpoint, Scratch, TlsSetup};
use loadline_plan::{Connection as Settings, Tls};
use loadline_reactor::{Address, Host, Kernel, Received, Socket};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A time that is long enough for a busy machine; a test that waits for it has failed.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

fn settings() -> Settings {
    Settings {
        connect_timeout: TEST_TIMEOUT,
        ..Settings::default()
    }
}

/// An endpoint without TLS.
fn plainly(addresses: &[SocketAddr]) -> Endpoint {
    Endpoint {
        tls: false,
        host: "localhost".to_owned(),
        port: addresses[0].port(),
        addresses: addresses.iter().copied().map(Address::Ip).collect(),
        resolve_time: None,
        tunnel: None,
    }
}

/// An endpoint that must have a certificate with this name.
fn securely(host: &str, address: SocketAddr) -> Endpoint {
    Endpoint {
        tls: true,
        host: host.to_owned(),
        ..plainly(&[address])
    }
}

/// Creates a dialler to one endpoint, with the TLS setup that the endpoint needs.
fn dialler<H: Host>(host: &H, endpoint: Endpoint, settings: &Settings) -> Dialler<H> {
    let setup = endpoint
        .tls
        .then(|| TlsSetup::read(&settings.tls).expect("usable TLS settings"));
    Dialler::new(host.clone(), vec![endpoint], settings, setup.as_ref(), 0)
}

fn with_tls(tls: Tls) -> Settings {
    Settings { tls, ..settings() }
}

/// Runs a test's side of the conversation on a loop of its own.
fn on_kernel<T>(test: impl AsyncFnOnce(Kernel) -> T) -> T {
    let kernel = Kernel::new().expect("an event loop");
    kernel.block_on(test(kernel.clone())).expect("a live loop")
}

/// Returns the bytes of the next receive.
async fn receive<S: Socket>(
    connection: &mut Connection<S>,
    scratch: &RefCell<Scratch>,
) -> io::Result<Vec<u8>> {
    receive_stamped(connection, scratch)
        .await
        .map(|(bytes, _)| bytes)
}

async fn receive_stamped<S: Socket>(
    connection: &mut Connection<S>,
    scratch: &RefCell<Scratch>,
) -> io::Result<(Vec<u8>, Received)> {
    poll_fn(|cx| {
        let mut scratch = scratch.borrow_mut();
        let received = connection.poll_recv(cx, &mut scratch);
        received.map_ok(|received| (scratch.received(received.bytes).to_vec(), received))
    })
    .await
}

/// Sends bytes that are echoed until one of them is timestamped: the kernel begins to do so a
/// little after a socket has first requested it.
async fn assert_stamped<S: Socket>(
    kernel: &Kernel,
    connection: &mut Connection<S>,
    scratch: &RefCell<Scratch>,
) {
    for _ in 0..100_000 {
        let sent_ns = kernel.now_ns();
        connection.send_all(b"?").await.expect("sent");
        let (_, received) = receive_stamped(connection, scratch).await.expect("an echo");
        if let Some(at_ns) = received.at_ns {
            // The timestamp is of the wall clock, which is mapped to the monotonic one to some
            // microseconds.
            let allowed = sent_ns - 1_000_000..=kernel.now_ns() + 1_000_000;
            assert!(allowed.contains(&at_ns), "{at_ns} is not in {allowed:?}");
            return;
        }
    }
    panic!("no receive was stamped");
}

/// Returns all bytes until at least `bytes` have arrived.
async fn receive_at_least<S: Socket>(
    connection: &mut Connection<S>,
    scratch: &RefCell<Scratch>,
    bytes: usize,
) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    while all.len() < bytes {
        let part = receive(connection, scratch).await?;
        if part.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        all.extend(part);
    }
    Ok(all)
}

/// Returns all bytes until the peer sends nothing more.
async fn receive_all<S: Socket>(
    connection: &mut Connection<S>,
    scratch: &RefCell<Scratch>,
) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let part = receive(connection, scratch).await?;
        if part.is_empty() {
            return Ok(all);
        }
        all.extend(part);
    }
}

/// Returns bytes in which a gap, a repetition or a permutation is detected.
pub(crate) fn pattern(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

/// Compares, and reports the position of the first difference instead of printing megabytes.
#[track_caller]
pub(crate) fn assert_same(got: &[u8], expected: &[u8]) {
    assert_eq!(got.len(), expected.len(), "another length");
    let differing = got.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!(differing, None, "the first byte that differs");
}
