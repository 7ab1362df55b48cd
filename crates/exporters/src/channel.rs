//! Where messages go: a channel sends one, and says whether it may be sent again.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Sends messages to a receiver.
pub(crate) trait Channel: Send {
    /// Sends a message, and waits for the receiver's answer if there is one, until this instant.
    fn send(&mut self, body: &[u8], until: Instant) -> Result<(), Refusal>;
}

/// The refusal of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The reason, as part of a sentence.
    pub(crate) reason: String,
    /// True if the same message may be accepted later.
    pub(crate) may_retry: bool,
    /// The pause that the receiver requested.
    pub(crate) after: Option<Duration>,
}

/// Reads the body of a response to a message that was accepted, which may refuse a part of it.
pub(crate) type Judge = fn(&[u8]) -> Result<(), Refusal>;

/// The letters of a response that a reason may have.
const MOST_LETTERS: usize = 300;

/// Returns the refusal of a network that carried no response.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
pub(crate) fn network_refusal(error: &io::Error) -> Refusal {
    let reason = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "it did not answer in time".into(),
        io::ErrorKind::ConnectionRefused => "nothing listens there".into(),
        io::ErrorKind::UnexpectedEof => "it closed the connection".into(),
        _ => error.to_string(),
    };
    Refusal {
        reason,
        may_retry: true,
        after: None,
    }
}

/// Returns the refusal of a status of HTTP: what it means here, with the first line of the body.
pub(crate) fn status_refusal(status: u16, body: &[u8]) -> Refusal {
    let first = first_line(&String::from_utf8_lossy(body));
    let meaning = match status {
        401 | 403 => ", which is about the user or the token",
        404 => ", which is about the path, the database or the bucket",
        300..=399 => ", a redirect: give the URL that it leads to",
        _ => "",
    };
    let reason = match first.is_empty() {
        true => format!("it answered {status}{meaning}"),
        false => format!("it answered {status} ({first}){meaning}"),
    };
    Refusal {
        reason,
        may_retry: matches!(status, 408 | 429 | 500..=599),
        after: None,
    }
}

/// Returns the first line of what a receiver says, as part of a sentence.
pub(crate) fn first_line(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default().trim();
    let letters = first.chars().filter(|letter| !letter.is_control());
    letters.take(MOST_LETTERS).collect()
}

/// Datagrams, which no receiver answers.
pub(crate) struct Datagrams {
    address: String,
    socket: Option<(UdpSocket, SocketAddr)>,
}

impl Datagrams {
    /// Creates a channel to `host:port`, which is looked up when the first message is sent.
    pub(crate) fn to(address: String) -> Datagrams {
        Datagrams {
            address,
            socket: None,
        }
    }

    fn socket(&mut self) -> io::Result<&(UdpSocket, SocketAddr)> {
        if self.socket.is_none() {
            let to = first_address(&self.address)?;
            let own: SocketAddr = match to.is_ipv4() {
                true => ([0, 0, 0, 0], 0).into(),
                false => ([0_u16; 8], 0).into(),
            };
            self.socket = Some((UdpSocket::bind(own)?, to));
        }
        self.socket
            .as_ref()
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Channel for Datagrams {
    fn send(&mut self, body: &[u8], _: Instant) -> Result<(), Refusal> {
        let sent = self
            .socket()
            .and_then(|(socket, to)| socket.send_to(body, to));
        match sent {
            Ok(_) => Ok(()),
            Err(error) => Err(Refusal {
                reason: error.to_string(),
                may_retry: true,
                after: None,
            }),
        }
    }
}

/// Returns the first address of `host:port`; an IPv6 address stands in brackets.
pub(crate) fn first_address(authority: &str) -> io::Result<SocketAddr> {
    let invalid = || io::Error::other("it is no address");
    let (host, port) = authority.rsplit_once(':').ok_or_else(invalid)?;
    let port = port.parse().map_err(|_| invalid())?;
    let found = loadline_reactor::look_up(host.trim_matches(['[', ']']), port)?;
    let first = found.into_iter().next();
    first.ok_or_else(|| io::Error::other("its name has no address"))
}
