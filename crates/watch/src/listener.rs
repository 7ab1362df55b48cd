//! The TCP sockets of a network namespace, from `net/tcp` and `net/tcp6`.

use crate::proc::{Proc, Unread};
use loadline_record::watched::TcpStates;
use procfs_core::net::{TcpNetEntries, TcpNetEntry, TcpState};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Where somebody may listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The port.
    pub(crate) port: u16,
    /// The address that is dialled; `None` is any.
    pub(crate) address: Option<IpAddr>,
}

/// The sockets that listen there, by inode.
pub(crate) fn listeners(proc: &Proc, spot: Spot) -> Result<HashSet<u64>, Unread> {
    let entries = entries(proc, "net")?;
    let listening = entries.filter(|entry| entry.state == TcpState::Listen && spot.is_of(entry));
    Ok(listening.map(|entry| entry.inode).collect())
}

/// The state of every TCP socket that a process has open, by inode, in the namespace of a process.
pub(crate) fn states(proc: &Proc, pid: u32) -> Result<HashMap<u64, TcpState>, Unread> {
    let entries = entries(proc, &format!("{pid}/net"))?;
    // A socket without an owner has no inode.
    let owned = entries.filter(|entry| entry.inode != 0);
    Ok(owned.map(|entry| (entry.inode, entry.state)).collect())
}

/// All TCP sockets of the namespace whose files are in this folder. A kernel without IPv6 has no
/// `tcp6`.
fn entries(proc: &Proc, folder: &str) -> Result<impl Iterator<Item = TcpNetEntry> + use<>, Unread> {
    let read = |file| proc.parse_for::<TcpNetEntries>(&proc.path(&format!("{folder}/{file}")));
    let TcpNetEntries(four) = read("tcp")?;
    let six = match read("tcp6") {
        Ok(TcpNetEntries(six)) => six,
        Err(Unread::Absent) => Vec::new(),
        Err(unread) => return Err(unread),
    };
    Ok(four.into_iter().chain(six))
}

impl Spot {
    fn is_of(self, entry: &TcpNetEntry) -> bool {
        let local = entry.local_address;
        let ip = local.ip().to_canonical();
        let suits = |address: IpAddr| ip.is_unspecified() || ip == address.to_canonical();
        local.port() == self.port && self.address.is_none_or(suits)
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
