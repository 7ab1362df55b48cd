//! The destinations and local addresses of connections.

use super::servers::{listener, listener_at, nobody, serve, serve_on};
use super::*;
use crate::{DialError, DialPhase};
use loadline_reactor::{Sim, SimListener};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use socket2::{Domain, SockAddr, Socket as RawSocket, Type};
use std::fs::{self, Permissions};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

const ADDRESSES: [SocketAddr; 3] = [at(1), at(2), at(3)];

const fn at(last: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 80)
}

fn local(last: u8) -> IpAddr {
    at(last).ip()
}

/// An endpoint that is a Unix socket.
fn at_path(path: &Path) -> Endpoint {
    Endpoint {
        addresses: vec![Address::Unix(path.to_owned())],
        ..plainly(&[at(1)])
    }
}

async fn failure(dialler: &Dialler<Kernel>) -> DialError {
    let error = dialler.dial(0, u64::MAX).await.expect_err("no connection");
    assert_eq!(error.phase, DialPhase::Connect);
    error
}

/// Returns the listeners that the next `count` dials reach.
async fn reached(dialler: &Dialler<Sim>, listeners: &[SimListener], count: usize) -> Vec<usize> {
    let mut reached = Vec::new();
    for _ in 0..count {
        let dialled = dialler.dial(0, u64::MAX).await;
        let (_connection, _) = dialled.expect("a connection");
        let index = poll_fn(|cx| {
            let accepted = listeners
                .iter()
                .position(|listener| std::pin::pin!(listener.accept()).poll(cx).is_ready());
            std::task::Poll::Ready(accepted)
        });
        reached.extend(index.await);
    }
    reached
}

#[test]
fn addresses_take_turns_from_each_workers_first() {
    let sim = Sim::new(0, 1000);
    let listeners: Vec<_> = ADDRESSES.map(|address| sim.listen(address)).into();
    for (first, expected) in [
        (0, [0, 1, 2, 0, 1]),
        (1, [1, 2, 0, 1, 2]),
        (5, [2, 0, 1, 2, 0]),
    ] {
        let endpoints = vec![plainly(&ADDRESSES)];
        let dialler = Dialler::new(sim.clone(), endpoints, &settings(), None, first);
        assert_eq!(sim.run(reached(&dialler, &listeners, 5)), expected);
    }
}

#[test]
fn endpoints_take_their_turns_apart() {
    let sim = Sim::new(0, 1000);
    let listeners: Vec<_> = ADDRESSES.map(|address| sim.listen(address)).into();
    let endpoints = vec![plainly(&ADDRESSES), plainly(&ADDRESSES[2..])];
    let dialler = Dialler::new(sim.clone(), endpoints, &settings(), None, 0);
    sim.run(async {
        assert_eq!(reached(&dialler, &listeners, 1).await, [0]);
        dialler.dial(1, u64::MAX).await.expect("a connection");
        listeners[2].accept().await;
        assert_eq!(reached(&dialler, &listeners, 1).await, [1]);
    });
}

#[test]
fn dialling_takes_as_long_as_the_network() {
    let sim = Sim::new(0, 1000);
    let _listener = sim.listen(ADDRESSES[0]);
    let dialler = dialler(&sim, plainly(&ADDRESSES[..1]), &settings());
    let (_, dial) = sim.run(dialler.dial(0, u64::MAX)).expect("a connection");
    assert_eq!((dial.connect_ns, dial.tls_ns), (2000, None));
}

#[test]
fn the_longest_patience_does_not_overflow() {
    let sim = Sim::new(0, 1000);
    let _listener = sim.listen(ADDRESSES[0]);
    let settings = Settings {
        connect_timeout: Duration::MAX,
        ..settings()
    };
    let dialler = dialler(&sim, plainly(&ADDRESSES[..1]), &settings);
    sim.run(dialler.dial(0, u64::MAX)).expect("a connection");
}

#[test]
fn the_callers_deadline_counts_if_it_is_the_earlier() {
    let sim = Sim::new(0, 1_000_000);
    let _listener = sim.listen(ADDRESSES[0]);
    let dialler = dialler(&sim, plainly(&ADDRESSES[..1]), &settings());
    let deadline_ns = sim.now_ns() + 1_500_000;
    let error = sim.run(dialler.dial(0, deadline_ns)).expect_err("too slow");
    assert_eq!(error.error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(sim.now_ns(), deadline_ns);
}

fn from(local_addresses: Vec<IpAddr>) -> Settings {
    Settings {
        local_addresses,
        ..settings()
    }
}

#[test]
fn local_addresses_take_turns() {
    let server = serve(5, |stream| stream.peer_addr().expect("a client").ip());
    on_kernel(async |kernel| {
        let settings = from(vec![local(2), local(3), local(4)]);
        let dialler = dialler(&kernel, plainly(&[server.address]), &settings);
        for _ in 0..5 {
            dialler.dial(0, u64::MAX).await.expect("a connection");
        }
    });
    let expected = [2, 3, 4, 2, 3].map(local);
    assert_eq!(server.finish(), expected);
}

#[test]
fn each_local_address_goes_with_each_address() {
    let servers = [1, 2].map(|last| {
        serve_on(listener_at(local(last)), 4, |stream| {
            stream.peer_addr().expect("a client").ip()
        })
    });
    on_kernel(async |kernel| {
        let addresses = [servers[0].address, servers[1].address];
        let settings = from(vec![local(3), local(4)]);
        let dialler = dialler(&kernel, plainly(&addresses), &settings);
        for _ in 0..8 {
            dialler.dial(0, u64::MAX).await.expect("a connection");
        }
    });
    for server in servers {
        assert_eq!(server.finish(), [3, 4, 3, 4].map(local));
    }
}

#[test]
fn local_addresses_of_both_versions_are_sorted_out() {
    let six: IpAddr = "::1".parse().expect("an address");
    let servers = [local(1), six].map(|ip| {
        serve_on(listener_at(ip), 2, |stream| {
            stream.peer_addr().expect("a client").ip()
        })
    });
    on_kernel(async |kernel| {
        let addresses = [servers[0].address, servers[1].address];
        let settings = from(vec![six, local(2), local(3)]);
        let dialler = dialler(&kernel, plainly(&addresses), &settings);
        for _ in 0..4 {
            dialler.dial(0, u64::MAX).await.expect("a connection");
        }
    });
    let found = servers.map(|server| server.finish());
    assert_eq!(found, [vec![local(2), local(3)], vec![six, six]]);
}

#[test]
fn a_local_address_of_another_version_is_named() {
    on_kernel(async |kernel| {
        let settings = from(vec!["::1".parse().expect("an address")]);
        let error = failure(&dialler(&kernel, plainly(&[nobody()]), &settings)).await;
        let place = format!(
            "connecting to {}: ",
            error.address.as_ref().expect("an address")
        );
        let text = error.to_string().replace(&place, "");
        assert_eq!(text, "the local address ::1 is of another IP version");
    });
}

#[test]
fn a_local_address_of_another_machine_is_named() {
    let server = listener();
    on_kernel(async |kernel| {
        // Reserved for documentation (RFC 5737), so no machine has it.
        let settings = from(vec!["192.0.2.1".parse().expect("an address")]);
        let address = server.local_addr().expect("an address");
        let error = failure(&dialler(&kernel, plainly(&[address]), &settings)).await;
        assert_eq!(error.error.kind(), io::ErrorKind::AddrNotAvailable);
        let text = format!("connecting to {address}: 192.0.2.1 is not an address of this machine");
        assert_eq!(error.to_string(), text);
    });
}

#[test]
fn a_probe_keeps_those_that_answer() {
    let (up, also_up) = (listener(), listener());
    let address = |listener: &std::net::TcpListener| listener.local_addr().expect("an address");
    on_kernel(async |kernel| {
        let dialler = Dialler::new(kernel, Vec::new(), &settings(), None, 0);
        let endpoint = plainly(&[nobody(), address(&up), nobody(), address(&also_up)]);
        let answering = dialler.probe(&endpoint).await.expect("two that answer");
        assert_eq!(
            answering,
            Endpoint {
                addresses: [&up, &also_up].map(|up| Address::Ip(address(up))).into(),
                ..endpoint
            }
        );
    });
}

#[test]
fn a_probe_that_nobody_answers_tells_the_first_failure() {
    on_kernel(async |kernel| {
        let dialler = Dialler::new(kernel, Vec::new(), &settings(), None, 0);
        let endpoint = plainly(&[nobody(), nobody()]);
        let error = dialler.probe(&endpoint).await.expect_err("nobody");
        assert_eq!(error.address.as_ref(), Some(&endpoint.addresses[0]));
        assert_eq!(error.error.kind(), io::ErrorKind::ConnectionRefused);
    });
}

/// Returns a listener whose queue of new connections is full, and the connections that fill it.
fn full_queue(domain: Domain, address: &SockAddr) -> (RawSocket, Vec<RawSocket>) {
    let listener = RawSocket::new(domain, Type::STREAM, None).expect("a socket");
    listener.bind(address).expect("a free address");
    listener.listen(0).expect("a listener");
    let address = listener.local_addr().expect("an address");
    let mut waiting = Vec::new();
    loop {
        let socket = RawSocket::new(domain, Type::STREAM, None).expect("a socket");
        if connect_at_once(&socket, &address).is_err() {
            return (listener, waiting);
        }
        waiting.push(socket);
    }
}

fn connect_at_once(socket: &RawSocket, address: &SockAddr) -> io::Result<()> {
    if address.is_unix() {
        socket.set_nonblocking(true)?;
        return socket.connect(address);
    }
    socket.connect_timeout(address, Duration::from_millis(20))
}

#[test]
fn a_full_queue_meets_the_deadline() {
    let (listener, _waiting) = full_queue(Domain::IPV4, &SocketAddr::new(local(1), 0).into());
    let address = listener.local_addr().expect("an address").as_socket();
    let settings = Settings {
        connect_timeout: Duration::from_millis(50),
        ..settings()
    };
    on_kernel(async |kernel| {
        let endpoint = plainly(&[address.expect("an IP address")]);
        let begun_ns = kernel.now_ns();
        let error = failure(&dialler(&kernel, endpoint, &settings)).await;
        assert_eq!(error.error.kind(), io::ErrorKind::TimedOut);
        assert!(kernel.now_ns() - begun_ns >= 50_000_000);
    });
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    on_kernel(async |kernel| {
        let error = failure(&dialler(&kernel, plainly(&[nobody()]), &settings())).await;
        assert_eq!(error.error.kind(), io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn unix_sockets_are_reached() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.write_all(b"hello").expect("a client");
    });
    on_kernel(async |kernel| {
        // Local addresses have no effect for a Unix socket.
        let dialler = dialler(&kernel, at_path(&path), &from(vec![local(2)]));
        let (mut connection, _) = dialler.dial(0, u64::MAX).await.expect("a connection");
        let got = receive_all(&mut connection, &dialler.scratch).await;
        assert_eq!(got.expect("a greeting"), b"hello");
    });
    server.join().expect("a server that does not panic");
}

#[test]
fn a_missing_unix_socket_is_not_found() {
    let folder = tempfile::tempdir().expect("a folder");
    on_kernel(async |kernel| {
        let endpoint = at_path(&folder.path().join("socket"));
        let error = failure(&dialler(&kernel, endpoint, &settings())).await;
        assert_eq!(error.error.kind(), io::ErrorKind::NotFound);
    });
}

#[test]
fn a_unix_socket_nobody_listens_on_refuses() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    drop(UnixListener::bind(&path).expect("a socket"));
    on_kernel(async |kernel| {
        let error = failure(&dialler(&kernel, at_path(&path), &settings())).await;
        assert_eq!(error.error.kind(), io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_forbidden_unix_socket_is_denied() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).expect("a socket");
    fs::set_permissions(&path, Permissions::from_mode(0o0)).expect("our own file");
    give_up_privileges();
    on_kernel(async |kernel| {
        let error = failure(&dialler(&kernel, at_path(&path), &settings())).await;
        assert_eq!(error.error.kind(), io::ErrorKind::PermissionDenied);
    });
}

/// Gives up this thread's right to bypass file permissions, which root has.
fn give_up_privileges() {
    let mut sets = capabilities(None).expect("our own rights");
    let rights = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    sets.effective.remove(rights);
    set_capabilities(None, sets).expect("giving up is allowed");
}

/// The kernel waits for a place in the queue of a TCP socket, but not in a Unix socket's.
#[test]
fn a_full_queue_of_a_unix_socket_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let address = SockAddr::unix(&path).expect("a short path");
    let (listener, waiting) = full_queue(Domain::UNIX, &address);
    let server = thread::spawn(move || {
        let accept = |_| listener.accept().expect("a client");
        // The last of them is the one that waited.
        let accepted: Vec<_> = (0..=waiting.len()).map(accept).collect();
        let (last, _) = accepted.last().expect("a connection");
        last.send(b"at last").expect("a client");
    });
    on_kernel(async |kernel| {
        let dialler = dialler(&kernel, at_path(&path), &settings());
        let (mut connection, _) = dialler.dial(0, u64::MAX).await.expect("a connection");
        let got = receive_all(&mut connection, &dialler.scratch).await;
        assert_eq!(got.expect("a greeting"), b"at last");
    });
    server.join().expect("a server that does not panic");
}

#[test]
fn a_full_queue_of_a_unix_socket_meets_the_deadline() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let _full = full_queue(Domain::UNIX, &SockAddr::unix(&path).expect("a short path"));
    let settings = Settings {
        connect_timeout: Duration::from_millis(5),
        ..settings()
    };
    on_kernel(async |kernel| {
        let begun_ns = kernel.now_ns();
        let error = failure(&dialler(&kernel, at_path(&path), &settings)).await;
        assert_eq!(error.error.kind(), io::ErrorKind::TimedOut);
        assert!(kernel.now_ns() - begun_ns >= 5_000_000);
    });
}
