//! Connections without TLS, on the kernel and in simulated networks that cut all data up.

use super::servers::{Server, echo_bytes, serve};
use super::*;
use crate::tests::encrypted::send_and_notify_when_full;
use loadline_reactor::{Received, Sim, SimSocket};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::rc::Rc;
use std::sync::mpsc;

const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 80);

async fn connect(kernel: &Kernel, address: SocketAddr) -> (Dialler<Kernel>, KernelConnection) {
    let dialler = dialler(kernel, plainly(&[address]), &settings());
    let (connection, dial) = dialler.dial(0, u64::MAX).await.expect("a connection");
    assert_eq!(dial.tls_ns, None);
    assert!(connection.can_discard());
    (dialler, connection)
}

type KernelConnection = Connection<loadline_reactor::KernelSocket>;

#[test]
fn what_is_sent_comes_back() {
    let server = serve(1, |mut stream| {
        let mut request = [0; 5];
        stream.read_exact(&mut request).expect("a request");
        stream.write_all(&request).expect("a client");
    });
    on_kernel(async |kernel| {
        let (dialler, mut connection) = connect(&kernel, server.address).await;
        connection.send_all(b"hello").await.expect("sent");
        let scratch = &dialler.scratch;
        let got = receive(&mut connection, scratch).await;
        assert_eq!(got.expect("an echo"), b"hello");
        assert_eq!(
            receive(&mut connection, scratch).await.expect("the end"),
            b""
        );
        assert!(connection.peer_closed());
    });
    server.found();
}

#[test]
fn receives_say_when_the_kernel_had_the_bytes() {
    let server = serve(1, |mut stream| echo_bytes(&mut stream));
    on_kernel(async |kernel| {
        let (dialler, mut connection) = connect(&kernel, server.address).await;
        assert_stamped(&kernel, &mut connection, &dialler.scratch).await;
    });
    server.found();
}

#[test]
fn a_large_body_goes_out_in_parts() {
    let body = pattern(1, 8 << 20);
    let (full, wait) = mpsc::channel();
    let server = serve(1, move |mut stream| {
        wait.recv_timeout(TEST_TIMEOUT).expect("a full socket");
        let mut got = Vec::new();
        stream.read_to_end(&mut got).expect("a body");
        got
    });
    on_kernel(async |kernel| {
        let (_, mut connection) = connect(&kernel, server.address).await;
        send_and_notify_when_full(&mut connection, &body, full).await;
    });
    assert_same(&server.found(), &body);
}

fn server_of(body: Vec<u8>) -> Server<()> {
    serve(1, move |mut stream: TcpStream| {
        stream.write_all(&body).expect("a client");
        stream.shutdown(Shutdown::Write).expect("an open socket");
        stream
            .read_to_end(&mut Vec::new())
            .expect("a client that closes");
    })
}

#[test]
fn a_large_body_comes_in_whole() {
    let body = pattern(2, 5 << 20);
    let server = server_of(body.clone());
    on_kernel(async |kernel| {
        let (dialler, mut connection) = connect(&kernel, server.address).await;
        let got = receive_all(&mut connection, &dialler.scratch).await;
        assert_same(&got.expect("a body"), &body);
    });
    server.found();
}

#[test]
fn bytes_that_are_dropped_are_counted() {
    let body = pattern(3, 1 << 20);
    let server = server_of(body.clone());
    on_kernel(async |kernel| {
        let (dialler, mut connection) = connect(&kernel, server.address).await;
        let mut left = body.len() - 1000;
        while left > 0 {
            let dropped = poll_fn(|cx| connection.poll_discard(cx, left)).await;
            left -= dropped.expect("bytes").bytes;
        }
        let rest = receive_all(&mut connection, &dialler.scratch).await;
        assert_same(&rest.expect("the rest"), &body[body.len() - 1000..]);
    });
    server.found();
}

#[test]
fn what_came_before_a_close_is_still_there() {
    let server = serve(1, |mut stream| stream.write_all(b"bye").expect("a client"));
    on_kernel(async |kernel| {
        let (dialler, mut connection) = connect(&kernel, server.address).await;
        connection.closed_by_peer().await;
        assert!(connection.peer_closed());
        let got = receive_all(&mut connection, &dialler.scratch).await;
        assert_eq!(got.expect("the last words"), b"bye");
    });
    server.found();
}

/// Creates a simulated server that echoes everything and then closes, and a connection to it.
async fn echo(sim: &Sim, bytes: usize) -> (Rc<RefCell<Scratch>>, Connection<SimSocket>) {
    let listener = sim.listen(SERVER);
    let dialler = dialler(sim, plainly(&[SERVER]), &settings());
    let (connection, dial) = dialler.dial(0, u64::MAX).await.expect("a connection");
    assert_eq!(dial.connect_ns, 2_000_000);
    let socket = listener.accept().await;
    sim.spawn(async move {
        let (mut peer, scratch) = (Connection::plain(socket), RefCell::default());
        let got = receive_at_least(&mut peer, &scratch, bytes)
            .await
            .expect("bytes");
        peer.send_all(&got).await.expect("sent");
    })
    .detach();
    (Rc::clone(&dialler.scratch), connection)
}

#[test]
fn cut_up_reads_and_writes_lose_nothing() {
    for (most, bytes) in [(1, 2000), (7, 5000), (4096, 200_000), (100_000, 200_000)] {
        let sim = Sim::new(most as u64, 1_000_000);
        sim.cut_up(most);
        let body = pattern(4, bytes);
        sim.run(async {
            let (scratch, mut connection) = echo(&sim, body.len()).await;
            connection.send_all(&body).await.expect("sent");
            let got = receive_all(&mut connection, &scratch).await;
            assert_same(&got.expect("an echo"), &body);
            assert!(connection.peer_closed());
        });
    }
}

#[test]
fn a_deadline_ends_a_receive_at_its_instant() {
    let sim = Sim::new(0, 1_000_000);
    sim.run(async {
        let (scratch, mut connection) = echo(&sim, 1).await;
        let deadline_ns = sim.now_ns() + 5_000_000;
        connection.set_deadline(deadline_ns);
        let error = receive(&mut connection, &scratch)
            .await
            .expect_err("nothing");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(sim.now_ns(), deadline_ns);
        assert!(!crate::is_tls_error(&error));
    });
}

#[test]
fn a_reset_is_an_error_and_a_close() {
    let sim = Sim::new(0, 1_000_000);
    sim.run(async {
        let listener = sim.listen(SERVER);
        let dialler = dialler(&sim, plainly(&[SERVER]), &settings());
        let (mut connection, _) = dialler.dial(0, u64::MAX).await.expect("a connection");
        listener.accept().await.reset();
        let error = receive(&mut connection, &dialler.scratch).await;
        assert_eq!(
            error.expect_err("a reset").kind(),
            io::ErrorKind::ConnectionReset
        );
        assert!(connection.peer_closed());
    });
}

#[test]
fn a_simulated_receive_says_when_it_came() {
    let sim = Sim::new(0, 1_000_000);
    sim.run(async {
        let (scratch, mut connection) = echo(&sim, 3).await;
        let sent_ns = sim.now_ns();
        connection.send_all(b"abc").await.expect("sent");
        let (_, received) = receive_stamped(&mut connection, &scratch)
            .await
            .expect("an echo");
        let at_ns = Some(sent_ns + 2_000_000);
        assert_eq!(received, Received { bytes: 3, at_ns });
    });
}
