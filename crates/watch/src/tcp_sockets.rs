//! The TCP sockets of a network namespace. Those of our own come from the kernel's socket
//! diagnosis; those of others, or without access to that, from `net/tcp` and `net/tcp6`.

use crate::diagnosis::{listening_sockets, open_sockets};
use crate::proc::{Proc, ReadFailure};
use loadline_record::watched::TcpStates;
use procfs_core::net::{TcpNetEntries, TcpNetEntry, TcpState};
use std::collections::HashMap;
use std::net::SocketAddr;

/// A TCP socket, of a process or orphaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TcpSocket {
    /// The inode, which identifies the socket among the open files of processes; 0 if none has it
    /// open.
    pub(crate) inode: u64,
    /// Its state.
    pub(crate) state: TcpState,
    /// The local address.
    pub(crate) local: SocketAddr,
}

/// Returns the listening sockets of our own namespace.
pub(crate) fn listening(proc: &Proc) -> Result<Vec<TcpSocket>, ReadFailure> {
    let from_kernel = proc.is_kernels().then(listening_sockets).flatten();
    let mut sockets = from_kernel.map_or_else(|| listed(proc, "net"), Ok)?;
    sockets.retain(|socket| socket.state == TcpState::Listen);
    Ok(sockets)
}

/// Returns the states of all TCP sockets that a process has open, by inode, in the namespace of
/// process `pid`.
pub(crate) fn states(proc: &Proc, pid: u32) -> Result<HashMap<u64, TcpState>, ReadFailure> {
    let from_kernel = proc.shares_network(pid).then(open_sockets).flatten();
    let sockets = from_kernel.map_or_else(|| listed(proc, &format!("{pid}/net")), Ok)?;
    let owned = sockets.into_iter().filter(|socket| socket.inode != 0);
    Ok(owned.map(|socket| (socket.inode, socket.state)).collect())
}

/// Returns all TCP sockets of the namespace whose files are in this folder. A kernel without IPv6
/// has no `tcp6`.
fn listed(proc: &Proc, folder: &str) -> Result<Vec<TcpSocket>, ReadFailure> {
    let read = |file| proc.parse_for::<TcpNetEntries>(&proc.path(&format!("{folder}/{file}")));
    let TcpNetEntries(four) = read("tcp")?;
    let six = match read("tcp6") {
        Ok(TcpNetEntries(six)) => six,
        Err(ReadFailure::Absent) => Vec::new(),
        Err(unread) => return Err(unread),
    };
    Ok(four.into_iter().chain(six).map(TcpSocket::from).collect())
}

impl From<TcpNetEntry> for TcpSocket {
    fn from(entry: TcpNetEntry) -> TcpSocket {
        TcpSocket {
            inode: entry.inode,
            state: entry.state,
            local: entry.local_address,
        }
    }
}

/// Counts a socket of this state.
pub(crate) fn count(states: &mut TcpStates, state: &TcpState) {
    let count = match state {
        TcpState::Established => &mut states.established,
        TcpState::SynSent => &mut states.syn_sent,
        TcpState::SynRecv | TcpState::NewSynRecv => &mut states.syn_received,
        TcpState::FinWait1 => &mut states.fin_wait_1,
        TcpState::FinWait2 => &mut states.fin_wait_2,
        TcpState::TimeWait => &mut states.time_wait,
        TcpState::Close => &mut states.closed,
        TcpState::CloseWait => &mut states.close_wait,
        TcpState::LastAck => &mut states.last_ack,
        TcpState::Listen => &mut states.listening,
        TcpState::Closing => &mut states.closing,
    };
    *count += 1;
}
