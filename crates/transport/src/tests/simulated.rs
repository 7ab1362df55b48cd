//! TLS in simulated networks: every cut, and buffers that connections share.

use super::authority::{Authority, BOTH};
use super::*;
use crate::DialPhase;
use loadline_reactor::{Sim, SimListener, SimSocket, Task};
use rustls::{ServerConfig, ServerConnection};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 443);
const LATENCY_NS: u64 = 1_000_000;

/// The server's end of a simulated connection.
struct Peer {
    socket: SimSocket,
    tls: ServerConnection,
}

impl Peer {
    async fn accept(listener: &SimListener, config: &Arc<ServerConfig>) -> Self {
        let socket = listener.accept().await;
        let tls = ServerConnection::new(Arc::clone(config)).expect("a session");
        Peer { socket, tls }
    }

    async fn send(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = self.tls.writer().write(bytes).expect("a live session");
            bytes = &bytes[taken..];
            self.flush().await;
        }
    }

    async fn flush(&mut self) {
        let mut output = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut output).expect("room in memory");
        }
        let mut rest = output.as_slice();
        while !rest.is_empty() {
            let sent = poll_fn(|cx| self.socket.poll_send(cx, rest)).await;
            rest = &rest[sent.expect("a client")..];
        }
    }

    /// Receives this many bytes; makes the handshake on the way.
    async fn receive(&mut self, bytes: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < bytes {
            let mut buffer = [0; 2000];
            let received = poll_fn(|cx| self.socket.poll_recv(cx, &mut buffer)).await;
            let mut input = &buffer[..received.expect("a client").bytes];
            assert!(!input.is_empty(), "the client is gone");
            while !input.is_empty() {
                self.tls.read_tls(&mut input).expect("room");
                self.tls.process_new_packets().expect("good records");
                // The only possible error is that there is no more to read for now.
                let _ = self.tls.reader().read_to_end(&mut all);
            }
            self.flush().await;
        }
        all
    }
}

struct World {
    sim: Sim,
    config: Arc<ServerConfig>,
    dialler: Rc<Dialler<Sim>>,
}

impl World {
    fn new(seed: u64) -> Self {
        let authority = Authority::new();
        let sim = Sim::new(seed, LATENCY_NS);
        let config = authority.server(&authority.issue(&["localhost"]), &BOTH);
        let settings = with_tls(authority.trusted());
        let dialler = dialler(&sim, securely("localhost", SERVER), &settings);
        World {
            sim,
            config: Arc::new(config),
            dialler: Rc::new(dialler),
        }
    }

    /// Serves this many connections, each with a body of its own after its request.
    fn serve(&self, connections: u64, bytes: usize) -> Task {
        let (sim, config) = (self.sim.clone(), Arc::clone(&self.config));
        let listener = self.sim.listen(SERVER);
        self.sim.spawn(async move {
            let mut peers = Vec::new();
            for _ in 0..connections {
                let mut peer = Peer::accept(&listener, &config).await;
                peers.push(sim.spawn(async move {
                    let seed = peer.receive(1).await[0];
                    peer.send(&pattern(seed.into(), bytes)).await;
                    peer.receive(1).await;
                }));
            }
            for peer in peers {
                peer.await;
            }
        })
    }

    /// Fetches a body, and returns the size of its largest piece.
    async fn fetch(&self, seed: u8, bytes: usize) -> usize {
        let (mut connection, _) = self.dialler.dial(0, u64::MAX).await.expect("a connection");
        let scratch = &self.dialler.scratch;
        connection.send_all(&[seed]).await.expect("sent");
        let (mut got, mut most) = (Vec::new(), 0);
        while got.len() < bytes {
            let part = receive(&mut connection, scratch).await.expect("a part");
            assert!(!part.is_empty(), "the server is gone");
            most = most.max(part.len());
            got.extend(part);
        }
        assert_same(&got, &pattern(seed.into(), bytes));
        connection.send_all(b"!").await.expect("sent");
        most
    }
}

#[test]
fn records_are_put_together_from_any_cut() {
    for most in [1, 3, 100, 5000, 30_000] {
        let bytes = if most < 100 { 20_000 } else { 200_000 };
        let world = World::new(most as u64);
        world.sim.cut_up(most);
        let served = world.serve(1, bytes);
        world.sim.run(async {
            world.fetch(1, bytes).await;
            served.await;
        });
    }
}

#[test]
fn many_records_come_in_one_receive() {
    let world = World::new(0);
    let served = world.serve(1, 200_000);
    world.sim.run(async {
        let most = world.fetch(1, 200_000).await;
        assert!(most > 2 * 16 * 1024, "{most} bytes at most");
        served.await;
    });
}

/// All of a worker's connections read through the same buffers, most of them with a partially
/// received record.
#[test]
fn connections_that_share_buffers_keep_their_bytes_apart() {
    let world = Rc::new(World::new(7));
    world.sim.cut_up(7000);
    let served = world.serve(8, 150_000);
    let clients: Vec<_> = (0..8)
        .map(|seed| {
            let theirs = Rc::clone(&world);
            let fetching = async move {
                theirs.fetch(seed, 150_000).await;
            };
            world.sim.spawn(fetching)
        })
        .collect();
    world.sim.run(async {
        for client in clients {
            client.await;
        }
        served.await;
    });
}

#[test]
fn times_are_those_of_the_network() {
    let world = World::new(0);
    let served = world.serve(1, 1);
    world.sim.run(async {
        let (mut connection, dial) = world.dialler.dial(0, u64::MAX).await.expect("up");
        assert_eq!(dial.connect_ns, 2 * LATENCY_NS);
        assert_eq!(dial.tls_ns, Some(2 * LATENCY_NS));
        connection.send_all(&[0]).await.expect("sent");
        let scratch = &world.dialler.scratch;
        let asked_ns = world.sim.now_ns();
        let (bytes, received) = receive_stamped(&mut connection, scratch)
            .await
            .expect("a byte");
        assert_eq!((bytes, received.bytes), (pattern(0, 1), 1));
        assert_eq!(received.at_ns, Some(asked_ns + 2 * LATENCY_NS));
        connection.send_all(b"!").await.expect("sent");
        served.await;
    });
}

#[test]
fn a_handshake_that_hangs_ends_at_the_earlier_deadline() {
    let world = World::new(0);
    world.sim.run(async {
        let listener = world.sim.listen(SERVER);
        for allowed_ns in [5_000_000, u64::MAX] {
            let begun_ns = world.sim.now_ns();
            let deadline_ns = begun_ns.saturating_add(allowed_ns);
            let error = world.dialler.dial(0, deadline_ns).await;
            let error = error.expect_err("nobody answers");
            assert_eq!(error.phase, DialPhase::Tls);
            assert_eq!(error.error.kind(), io::ErrorKind::TimedOut);
            let patience_ns = TEST_TIMEOUT.as_nanos() as u64;
            assert_eq!(world.sim.now_ns() - begun_ns, allowed_ns.min(patience_ns));
        }
        listener.accept().await;
    });
}
