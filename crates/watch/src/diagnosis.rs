//! The TCP sockets of our own network namespace, as the kernel's `sock_diag` interface lists them.
//!
//! `net/tcp` has a line for every connection that was closed in the last minute. After a load
//! without keep-alive these are tens of thousands, which the kernel would write and we would read
//! for nothing: no process has them open. `sock_diag` can leave them out.

use crate::tcp_sockets::TcpSocket;
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponseHeader, SocketId, StateFlags,
};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};
use procfs_core::net::TcpState;

/// Returns the sockets that a process may have open.
pub(crate) fn open_sockets() -> Option<Vec<TcpSocket>> {
    sockets(StateFlags::all() - StateFlags::TIME_WAIT)
}

/// Returns the sockets that listen for connections.
pub(crate) fn listening_sockets() -> Option<Vec<TcpSocket>> {
    sockets(StateFlags::LISTEN)
}

/// Returns the sockets in these states, of IPv4 and IPv6; `None` if the kernel does not respond, as
/// in a sandbox that forbids it.
fn sockets(states: StateFlags) -> Option<Vec<TcpSocket>> {
    let kernel = kernel()?;
    let mut sockets = Vec::new();
    for (family, any) in [
        (AF_INET, SocketId::new_v4()),
        (AF_INET6, SocketId::new_v6()),
    ] {
        kernel.send(&request(family, any, states.clone()), 0).ok()?;
        receive(&kernel, &mut sockets)?;
    }
    Some(sockets)
}

fn kernel() -> Option<Socket> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
    socket.bind_auto().ok()?;
    socket.connect(&SocketAddr::new(0, 0)).ok()?;
    Some(socket)
}

fn request(family: u8, socket_id: SocketId, states: StateFlags) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states,
        socket_id,
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// Reads the response to one request to its end.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the kernel may send other messages, which end the list"
)]
fn receive(kernel: &Socket, sockets: &mut Vec<TcpSocket>) -> Option<()> {
    loop {
        let (datagram, _) = kernel.recv_from_full().ok()?;
        let mut rest = &datagram[..];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).ok()?;
            rest = rest.get(padded(message.header.length)..).unwrap_or(&[]);
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    sockets.extend(socket(&response.header));
                }
                NetlinkPayload::Done(_) => return Some(()),
                NetlinkPayload::Noop => {}
                _ => return None,
            }
        }
    }
}

/// Returns the offset of the next message: messages are aligned to four bytes.
fn padded(length: u32) -> usize {
    (length as usize).next_multiple_of(4)
}

fn socket(header: &InetResponseHeader) -> Option<TcpSocket> {
    let id = &header.socket_id;
    Some(TcpSocket {
        inode: u64::from(header.inode),
        state: TcpState::from_u8(header.state)?,
        local: (id.source_address, id.source_port).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    /// Returns `None` if the kernel does not respond; the program reads the files then.
    fn of_port(sockets: Option<Vec<TcpSocket>>, port: u16) -> Option<Vec<TcpState>> {
        let ours = |socket: &TcpSocket| socket.local.port() == port && socket.inode != 0;
        let states = sockets?.into_iter().filter(ours).map(|socket| socket.state);
        Some(states.collect())
    }

    #[test]
    fn finds_who_listens_and_what_is_open() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                continue; // a host without IPv6
            };
            let address = listener.local_addr().unwrap();
            let _client = TcpStream::connect(address).unwrap();
            let (_accepted, _) = listener.accept().unwrap();
            let Some(listening) = of_port(listening_sockets(), address.port()) else {
                return;
            };
            assert_eq!(listening, [TcpState::Listen]);
            let mut open = of_port(open_sockets(), address.port()).unwrap();
            open.sort_by_key(TcpState::to_u8);
            assert_eq!(open, [TcpState::Established, TcpState::Listen]);
        }
    }
}
