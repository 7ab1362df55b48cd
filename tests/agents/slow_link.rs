//! Links that delay what passes them, or are narrow, for kernels without netem: connections to one
//! address are passed on to another one, each piece some time later.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The delay of each piece: this much, and up to twice the jitter more.
#[derive(Clone, Copy)]
pub(super) struct Delay {
    pub(super) least: Duration,
    pub(super) jitter: Duration,
}

/// A piece, and when it is passed on.
type Piece = (Instant, Vec<u8>);

/// Passes connections on from one address to another one in a namespace of the network, until this
/// process ends.
pub(super) fn delay(space: &str, from: SocketAddr, to: SocketAddr, delay: Delay) {
    let space = space.to_owned();
    let (send, listens) = channel();
    thread::spawn(move || {
        enter(&space);
        let listener = TcpListener::bind(from).expect("an address of the namespace");
        send.send(()).expect("the test");
        for (seed, near) in (0_u64..).zip(listener.incoming().flatten()) {
            let Ok(far) = TcpStream::connect(to) else {
                continue;
            };
            for socket in [&near, &far] {
                socket.set_nodelay(true).expect("a socket");
            }
            let ends = (near.try_clone().unwrap(), far.try_clone().unwrap());
            pass(ends.0, far, delay, 2 * seed);
            pass(ends.1, near, delay, 2 * seed + 1);
        }
    });
    listens.recv().expect("a listener");
}

/// Passes connections on to a port of this machine, so many bytes a second each way. Returns the
/// port to connect to instead.
pub(super) fn narrow(to: u16, bytes_per_s: f64) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).expect("the bus");
            let ends = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || pass_slowly(ends.0, far, bytes_per_s));
            thread::spawn(move || pass_slowly(ends.1, near, bytes_per_s));
        }
    });
    port
}

fn pass_slowly(mut from: TcpStream, mut to: TcpStream, bytes_per_s: f64) {
    let mut bytes = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        thread::sleep(Duration::from_secs_f64(length as f64 / bytes_per_s));
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Moves this thread into a namespace of the network, with those that it starts from then on.
pub(super) fn enter(space: &str) {
    let space = File::open(format!("/run/netns/{space}")).expect("the namespace");
    let network = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(space.as_fd(), network).expect("root");
}

/// Passes on what comes from one end of a connection to the other one.
fn pass(from: TcpStream, to: TcpStream, delay: Delay, seed: u64) {
    let (send, pieces) = channel();
    thread::spawn(move || receive(from, &send, delay, seed));
    thread::spawn(move || send_later(to, &pieces));
}

fn receive(mut from: TcpStream, pieces: &Sender<Piece>, delay: Delay, mut state: u64) {
    let mut bytes = vec![0; 64 * 1024];
    let mut last = Instant::now();
    while let Ok(length) = from.read(&mut bytes) {
        // A linear congruential generator; nothing overtakes what came before.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let share = (state >> 40) as f64 / (1_u64 << 24) as f64;
        let at = Instant::now() + delay.least + delay.jitter.mul_f64(2.0 * share);
        last = last.max(at);
        if pieces.send((last, bytes[..length].to_vec())).is_err() || length == 0 {
            return;
        }
    }
}

fn send_later(mut to: TcpStream, pieces: &Receiver<Piece>) {
    for (at, bytes) in pieces {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        if bytes.is_empty() || to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}
