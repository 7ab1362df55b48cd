//! Which processes listen where on this host.

use crate::find::NotFound;
use crate::holders::Holders;
use crate::proc::Proc;
use crate::tcp_sockets::{TcpSocket, listening};
use std::collections::HashSet;
use std::net::IpAddr;

/// The first process; it may hold a listening socket on behalf of another.
const INIT: u32 = 1;

/// The listening sockets of this host and who holds them, read once for any number of questions.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    sockets: Vec<TcpSocket>,
    holders: Holders,
}

impl Listeners {
    /// Reads which of these processes listen where now. Who listens on these ports is searched for
    /// in all their open files, who listens on others only where it costs little. Without a list
    /// of sockets nobody listens anywhere.
    pub(crate) fn read(proc: &Proc, pids: &[u32], ports: &[u16]) -> Listeners {
        let sockets = listening(proc).unwrap_or_default();
        let asked = sockets
            .iter()
            .filter(|socket| ports.contains(&socket.local.port()));
        let thoroughly: HashSet<u64> = asked.map(|socket| socket.inode).collect();
        let inodes = sockets.iter().map(|socket| socket.inode);
        let holders = Holders::find(proc, pids, inodes, &thoroughly);
        Listeners { sockets, holders }
    }

    /// Reads which of these processes listen on a port now, where only what is open among their
    /// lowest files counts: nothing is read if nobody listens there.
    pub(crate) fn read_quickly(proc: &Proc, pids: &[u32], port: u16) -> Listeners {
        let mut sockets = listening(proc).unwrap_or_default();
        sockets.retain(|socket| socket.local.port() == port);
        let inodes = sockets.iter().map(|socket| socket.inode);
        let holders = Holders::find(proc, pids, inodes, &HashSet::new());
        Listeners { sockets, holders }
    }

    /// The processes that listen on a port, where this address is dialled; `None` is any. Each is
    /// in it once.
    ///
    /// # Errors
    /// If no process listens there, or one that this user may not inspect.
    pub(crate) fn on(&self, port: u16, address: Option<IpAddr>) -> Result<Vec<u32>, NotFound> {
        let sockets = self.sockets.iter();
        let mut there = sockets
            .filter(|socket| socket.local.port() == port && takes(socket, address))
            .peekable();
        if there.peek().is_none() {
            return Err(NotFound::Nobody(port));
        }
        let holders = there.flat_map(|socket| self.holders.of(socket.inode));
        let mut holders: Vec<u32> = holders.copied().collect();
        holders.sort_unstable();
        holders.dedup();
        if holders.len() > 1 {
            holders.retain(|pid| *pid != INIT);
        }
        match holders.is_empty() {
            true => Err(NotFound::NotTold(port)),
            false => Ok(holders),
        }
    }
}

/// Whether a socket takes connections to an address.
fn takes(socket: &TcpSocket, address: Option<IpAddr>) -> bool {
    let ip = socket.local.ip().to_canonical();
    address.is_none_or(|address| ip.is_unspecified() || ip == address.to_canonical())
}
