//! Tests of a session without a socket: any cut of the ciphertext, and the largest possible
//! receive.

use super::*;
use crate::connection::{CIPHER_BYTES, RECEIVE_BYTES};
use crate::tests::authority::{Authority, BOTH};
use crate::tests::{assert_same, pattern};
use crate::tls::{TlsSetup, server_name};
use proptest::prelude::*;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConnection, SupportedProtocolVersion};
use std::sync::Arc;

/// A session after its handshake, and its server.
fn pair(
    version: &'static SupportedProtocolVersion,
    fragment: Option<usize>,
) -> (Box<Session>, ServerConnection) {
    let authority = Authority::new();
    let mut config = authority.server(&authority.issue(&["localhost"]), &[version]);
    config.max_fragment_size = fragment;
    let mut server = ServerConnection::new(Arc::new(config)).expect("a session");
    server.set_buffer_limit(None);
    let setup = TlsSetup::read(&authority.trusted()).expect("usable settings");
    let name = server_name("localhost").expect("a name");
    let mut session =
        Session::new(ClientConnection::new(setup.for_worker(), name).expect("a session"));
    while session.tls.is_handshaking() || server.is_handshaking() {
        let mut said = Vec::new();
        session.tls.write_tls(&mut said).expect("room in memory");
        server.read_tls(&mut said.as_slice()).expect("room");
        server.process_new_packets().expect("a handshake");
        assert_eq!(session.absorb(&output(&mut server), &mut [0; 10]), 0);
    }
    (session, server)
}

fn output(server: &mut ServerConnection) -> Vec<u8> {
    let mut output = Vec::new();
    while server.wants_write() {
        server.write_tls(&mut output).expect("room in memory");
    }
    output
}

/// The ciphertext of `body`.
fn seal(server: &mut ServerConnection, body: &[u8]) -> Vec<u8> {
    server.writer().write_all(body).expect("no limit");
    output(server)
}

/// Passes ciphertext to the session in pieces, like receives.
fn absorb_all(session: &mut Session, cipher: &[u8], cuts: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut plain = vec![0; RECEIVE_BYTES];
    let (mut rest, mut all) = (cipher, Vec::new());
    for cut in cuts {
        let (part, others) = rest.split_at(cut.min(rest.len()));
        let bytes = session.absorb(part, &mut plain);
        all.extend(&plain[..bytes]);
        rest = others;
        if rest.is_empty() {
            break;
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_gives_the_same_plaintext(
        old in any::<bool>(),
        fragment in prop::option::of(40usize..16_384),
        bytes in 0usize..300_000,
        cuts in prop::collection::vec(1usize..=CIPHER_BYTES, 1..20),
    ) {
        let version = if old { &TLS12 } else { &TLS13 };
        let (mut session, mut server) = pair(version, fragment);
        let body = pattern(1, bytes);
        let cipher = seal(&mut server, &body);
        let got = absorb_all(&mut session, &cipher, cuts.into_iter().cycle());
        assert_same(&got, &body);
        prop_assert!(session.end.is_none());
    }
}

/// All but one byte of a record has already arrived when the largest receive follows.
#[test]
fn the_plaintext_of_the_fullest_receive_fits() {
    for version in [&TLS12, &TLS13] {
        let (mut session, mut server) = pair(version, None);
        let body = pattern(2, 200_000);
        let cipher = seal(&mut server, &body);
        let record = 5 + usize::from(u16::from_be_bytes([cipher[3], cipher[4]]));
        let cuts = [record - 1]
            .into_iter()
            .chain(std::iter::repeat(CIPHER_BYTES));
        let mut plain = vec![0; CIPHER_BYTES + RECORD_BYTES];
        assert_eq!(session.absorb(&cipher[..record - 1], &mut plain), 0);
        let next = &cipher[record - 1..][..CIPHER_BYTES];
        let bytes = session.absorb(next, &mut plain);
        assert!(bytes > CIPHER_BYTES, "{bytes}");
        assert_same(&plain[..bytes], &body[..bytes]);
        let rest = &cipher[record - 1 + CIPHER_BYTES..];
        assert_same(&absorb_all(&mut session, rest, cuts), &body[bytes..]);
    }
}

#[test]
fn what_follows_a_close_is_ignored() {
    for trash in [1, 100, 10_000, CIPHER_BYTES - 100] {
        let (mut session, mut server) = pair(&TLS13, None);
        server.writer().write_all(b"bye").expect("room");
        server.send_close_notify();
        let mut cipher = output(&mut server);
        cipher.extend(pattern(3, trash));
        let mut plain = [0; 100];
        assert_eq!(session.absorb(&cipher, &mut plain), 3);
        assert!(matches!(session.end, Some(SessionEnd::Closed)));
        assert_eq!(session.absorb(&pattern(4, 50_000), &mut plain), 0);
    }
}

#[test]
fn a_damaged_record_gives_no_plaintext_and_those_before_it_do() {
    for version in BOTH {
        let (mut session, mut server) = pair(version, None);
        let mut cipher = seal(&mut server, b"good");
        let damaged = cipher.len() + 10;
        cipher.extend(seal(&mut server, b"bad"));
        cipher[damaged] ^= 1;
        let mut plain = [0; 100];
        assert_eq!(session.absorb(&cipher, &mut plain), 4);
        assert_eq!(&plain[..4], b"good");
        let failure = TlsFailure(rustls::Error::DecryptError);
        assert!(matches!(&session.end, Some(SessionEnd::Failed(error)) if *error == failure));
        assert_eq!(session.absorb(&seal(&mut server, b"more"), &mut plain), 0);
    }
}

/// A call for each record would make a packet for each.
#[test]
fn short_records_leave_together_and_long_ones_apart() {
    let record = |length: usize| vec![length as u8; length];
    for (records, expected) in [
        (vec![record(70)], 70),
        (vec![record(70), record(6), record(45)], 121),
        (vec![record(5000), record(6)], 5000),
        (vec![record(6), record(5000)], 6),
        (vec![record(4000), record(96), record(1)], 4096),
    ] {
        let socket = Sink::default();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let traffic = Traffic::default();
        let mut outlet = Outlet {
            socket: &socket,
            cx: &mut cx,
            traffic: &traffic,
        };
        let slices: Vec<_> = records.iter().map(|record| IoSlice::new(record)).collect();
        let written = outlet.write_vectored(&slices).expect("a sink");
        assert_eq!(written, expected);
        assert_eq!(traffic.take(), (expected as u64, 0));
        let sent = socket.0.borrow();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent.concat(), records.concat()[..expected]);
    }
}

/// Accepts all that is sent, and stores it by call.
#[derive(Default)]
struct Sink(RefCell<Vec<Vec<u8>>>);

impl Socket for Sink {
    fn set_deadline(&self, _deadline_ns: Option<u64>) {}

    fn poll_recv(&self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<Received>> {
        Poll::Pending
    }

    fn poll_discard(&self, _: &mut Context<'_>, _: usize) -> Poll<io::Result<Received>> {
        Poll::Pending
    }

    fn poll_send(&self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().push(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn taken(&self) -> u32 {
        self.0.borrow().iter().map(|sent| sent.len() as u32).sum()
    }

    fn came_behind_end(&self, _: u32, _: bool) -> bool {
        false
    }

    fn poll_closed(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn may_receive(&self) -> bool {
        false
    }

    fn peer_closed(&self) -> bool {
        false
    }
}
