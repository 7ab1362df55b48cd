//! Connections over TLS: bodies, closes, failures, new keys.

use super::authority::{Authority, BOTH};
use super::servers::{Server, TlsStream, echo_bytes, serve_tls, tls_output};
use super::*;
use crate::{Traffic, is_tls_error};
use loadline_reactor::KernelSocket;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};

/// Sends a body, and notifies `full` when the socket accepts no more for the moment.
pub(super) async fn send_and_notify_when_full<S: Socket>(
    connection: &mut Connection<S>,
    body: &[u8],
    full: Sender<()>,
) {
    let mut sending = pin!(connection.send_all(body));
    let mut times = 0;
    let sent = poll_fn(|cx| {
        let polled = sending.as_mut().poll(cx);
        if polled.is_pending() {
            times += 1;
            // Only the first notification counts; the server may be gone before the last.
            let _ = full.send(());
        }
        polled
    });
    sent.await.expect("sent");
    assert!(times > 0, "the body fitted into the socket");
}

/// A server of one connection, and a client that trusts its authority.
struct Pair<T> {
    server: Server<T>,
    authority: Authority,
}

impl<T: Send + 'static> Pair<T> {
    fn new(
        versions: &[&'static SupportedProtocolVersion],
        serve: impl FnMut(&mut TlsStream) -> T + Send + 'static,
    ) -> Self {
        Pair::with(versions, |_| (), serve)
    }

    fn with(
        versions: &[&'static SupportedProtocolVersion],
        change: impl FnOnce(&mut ServerConfig),
        serve: impl FnMut(&mut TlsStream) -> T + Send + 'static,
    ) -> Self {
        let authority = Authority::new();
        let mut config = authority.server(&authority.issue(&["localhost"]), versions);
        change(&mut config);
        let server = serve_tls(config, 1, serve);
        Pair { server, authority }
    }

    /// Runs the client's side, and returns the server's result.
    fn talk(
        self,
        client: impl AsyncFnOnce(&Kernel, &mut Connection<KernelSocket>, &RefCell<Scratch>),
    ) -> T {
        let endpoint = securely("localhost", self.server.address);
        let settings = with_tls(self.authority.trusted());
        on_kernel(async |kernel| {
            let dialler = dialler(&kernel, endpoint, &settings);
            let (mut connection, _) = dialler.dial(0, u64::MAX).await.expect("a connection");
            client(&kernel, &mut connection, &dialler.scratch).await;
        });
        self.server.found()
    }
}

#[test]
fn bytes_on_the_socket_are_counted_with_those_of_the_handshake() {
    for version in [&TLS12, &TLS13] {
        let pair = Pair::new(&[version], |stream| {
            let mut body = [0; 1_000];
            stream.read_exact(&mut body).expect("a body");
        });
        pair.talk(async |_, connection, _| {
            let traffic = Rc::new(Traffic::default());
            connection.count_encrypted_in(&traffic);
            let (sent, received) = traffic.take();
            assert!(sent > 150 && received > 400, "{sent} {received}");
            connection.send_all(&[7; 1_000]).await.expect("sent");
            let (sent, _) = traffic.take();
            // A record has a header and a tag.
            assert!((1_001..1_100).contains(&sent), "{sent}");
            assert_eq!(traffic.take().0, 0);
        });
    }
}

#[test]
fn a_large_body_goes_out_in_parts() {
    for version in [&TLS12, &TLS13] {
        let body = pattern(1, 8 << 20);
        let (full, wait) = mpsc::channel();
        let pair = Pair::new(&[version], move |stream| {
            let mut got = vec![0; 8 << 20];
            stream.read_exact(&mut got[..1]).expect("a handshake");
            wait.recv_timeout(TEST_TIMEOUT).expect("a full socket");
            stream.read_exact(&mut got[1..]).expect("a body");
            stream.write_all(b"thanks").expect("a client");
            got
        });
        let got = pair.talk(async |_, connection, scratch| {
            send_and_notify_when_full(connection, &body, full).await;
            let answer = receive_at_least(connection, scratch, 6).await;
            assert_eq!(answer.expect("an answer"), b"thanks");
        });
        assert_same(&got, &body);
    }
}

#[test]
fn a_large_body_comes_in_whole() {
    for (version, fragment) in [(&TLS12, None), (&TLS13, None), (&TLS13, Some(600))] {
        let body = pattern(2, 5 << 20);
        let sent = body.clone();
        let change = |config: &mut ServerConfig| config.max_fragment_size = fragment;
        let pair = Pair::with(&[version], change, move |stream| {
            stream.write_all(&sent).expect("a client");
            stream.conn.send_close_notify();
            stream.flush().expect("a client");
        });
        pair.talk(async |_, connection, scratch| {
            let got = receive_all(connection, scratch).await;
            assert_same(&got.expect("a body"), &body);
        });
    }
}

#[test]
fn receives_say_when_the_kernel_had_the_bytes() {
    let pair = Pair::new(&BOTH, echo_bytes);
    pair.talk(async |kernel, connection, scratch| {
        assert_stamped(kernel, connection, scratch).await;
    });
}

#[test]
fn a_server_that_says_it_closes_has_ended_even_if_its_socket_stays_open() {
    for version in [&TLS12, &TLS13] {
        let pair = Pair::new(&[version], |stream| {
            stream.write_all(b"bye").expect("a client");
            stream.conn.send_close_notify();
            stream.flush().expect("a client");
            // Wait until the client has closed.
            stream.sock.read_to_end(&mut Vec::new()).expect("the end");
        });
        pair.talk(async |_, connection, scratch| {
            let got = receive_all(connection, scratch).await;
            assert_eq!(got.expect("the last words"), b"bye");
            assert_eq!(receive(connection, scratch).await.expect("the end"), b"");
            assert!(!connection.peer_closed() && !connection.is_cut());
        });
    }
}

#[test]
fn a_server_that_only_closes_its_socket_has_ended_too() {
    for version in [&TLS12, &TLS13] {
        let pair = Pair::new(&[version], |stream| {
            stream.write_all(b"bye").expect("a client");
            stream
                .sock
                .shutdown(Shutdown::Write)
                .expect("an open socket");
            stream.sock.read_to_end(&mut Vec::new()).expect("the end");
        });
        pair.talk(async |_, connection, scratch| {
            connection.closed_by_peer().await;
            assert!(!connection.is_cut());
            let got = receive_all(connection, scratch).await;
            assert_eq!(got.expect("the last words"), b"bye");
            assert_eq!(receive(connection, scratch).await.expect("the end"), b"");
            assert!(connection.is_cut());
        });
    }
}

/// The data is more than TLS accepts at once: the rest must not be offered to it for ever.
#[test]
fn what_follows_the_end_is_ignored() {
    let pair = Pair::new(&BOTH, |stream| {
        stream.read_exact(&mut [0]).expect("a request");
        stream.conn.writer().write_all(b"bye").expect("room");
        stream.conn.send_close_notify();
        let mut bytes = tls_output(stream);
        bytes.extend(pattern(3, 30_000));
        stream.sock.write_all(&bytes).expect("a client");
    });
    pair.talk(async |_, connection, scratch| {
        connection.send_all(b"?").await.expect("sent");
        let got = receive_all(connection, scratch).await;
        assert_eq!(got.expect("the last words"), b"bye");
    });
}

#[test]
fn what_came_before_a_failure_counts() {
    let pair = Pair::new(&BOTH, |stream| {
        stream.read_exact(&mut [0]).expect("a request");
        stream.conn.writer().write_all(b"an answer").expect("room");
        let mut bytes = tls_output(stream);
        bytes.extend(b"HTTP/1.1 500 Oh\r\n\r\n");
        stream.sock.write_all(&bytes).expect("a client");
        // The client reports the error in an alert.
        let error = stream.read_exact(&mut [0]).expect_err("an alert");
        error.to_string()
    });
    let told = pair.talk(async |_, connection, scratch| {
        connection.send_all(b"?").await.expect("sent");
        let got = receive(connection, scratch).await;
        assert_eq!(got.expect("an answer"), b"an answer");
        for _ in 0..2 {
            let error = receive(connection, scratch).await.expect_err("a failure");
            assert!(is_tls_error(&error));
            assert_eq!(error.to_string(), "the server's response is not TLS");
        }
    });
    assert!(told.contains("DecodeError"), "{told}");
}

#[test]
fn keys_change_in_the_middle() {
    let body = pattern(4, 300_000);
    let sent = body.clone();
    let pair = Pair::new(&[&TLS13], move |stream| {
        for part in sent.chunks(50_000) {
            stream.write_all(part).expect("a client");
            stream.conn.refresh_traffic_keys().expect("new keys");
            stream.flush().expect("a client");
            // The client's next byte comes with its own new key.
            stream.read_exact(&mut [0]).expect("a request");
        }
    });
    pair.talk(async |_, connection, scratch| {
        let mut got = Vec::new();
        while got.len() < body.len() {
            let part = receive_at_least(connection, scratch, 50_000).await;
            got.extend(part.expect("a part"));
            connection.send_all(b"?").await.expect("sent");
        }
        assert_same(&got, &body);
    });
}

#[test]
fn a_request_that_came_behind_the_servers_end_is_told_from_one_that_was_read() {
    for (version, reads) in [
        (&TLS12, false),
        (&TLS13, false),
        (&TLS12, true),
        (&TLS13, true),
    ] {
        let (go_on, wait) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel();
        let pair = Pair::new(&[version], move |stream| {
            stream.read_exact(&mut [0; 4]).expect("a request");
            stream.write_all(b"answer").expect("a client");
            if reads {
                ended.send(()).expect("a client");
                wait.recv().expect("a client");
                stream.read_exact(&mut [0; 4]).expect("another request");
            }
            stream.conn.send_close_notify();
            stream.flush().expect("a client");
            // The client may have continued.
            let _ = ended.send(());
            let _ = wait.recv();
        });
        pair.talk(async |_, connection, scratch| {
            connection.send_all(b"ping").await.expect("sent");
            let answer = receive_at_least(connection, scratch, 6).await;
            assert_eq!(answer.expect("an answer"), b"answer");
            has_ended.recv().expect("a server");
            let taken = connection.taken();
            connection.send_all(b"more").await.expect("sent");
            assert!(connection.taken() > taken + 4, "ciphertext is longer");
            if reads {
                go_on.send(()).expect("a server");
            }
            assert_eq!(receive(connection, scratch).await.expect("the end"), b"");
            assert_eq!(connection.came_behind_end(taken), !reads);
            drop(go_on);
        });
    }
}
