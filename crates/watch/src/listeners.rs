//! The processes that listen on this host, by address and port.

use crate::find::NotFound;
use crate::holders::Holders;
use crate::proc::Proc;
use crate::tcp_sockets::{TcpSocket, listening};
use std::collections::HashSet;
use std::net::IpAddr;

/// The first process; it may hold a listening socket for another process.
const INIT: u32 = 1;

/// The listening sockets of this host with their processes, read once for any number of look-ups.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    sockets: Vec<TcpSocket>,
    holders: Holders,
}

impl Listeners {
    /// Reads the listening sockets of these processes. For these ports, all open files are searched
    /// for the processes that listen; for other ports only the files that are cheap to read. If the
    /// list of sockets cannot be read, the result is empty.
    pub(crate) fn read(proc: &Proc, pids: &[u32], ports: &[u16]) -> Listeners {
        let sockets = listening(proc).unwrap_or_default();
        let on_ports = sockets
            .iter()
            .filter(|socket| ports.contains(&socket.local.port()));
        let thoroughly: HashSet<u64> = on_ports.map(|socket| socket.inode).collect();
        let inodes = sockets.iter().map(|socket| socket.inode);
        let holders = Holders::find(proc, pids, inodes, &thoroughly);
        Listeners { sockets, holders }
    }

    /// Reads which of these processes listen on a port now. Only their lowest files are searched,
    /// and no file is read if nothing listens on the port.
    pub(crate) fn read_quickly(proc: &Proc, pids: &[u32], port: u16) -> Listeners {
        let mut sockets = listening(proc).unwrap_or_default();
        sockets.retain(|socket| socket.local.port() == port);
        let inodes = sockets.iter().map(|socket| socket.inode);
        let holders = Holders::find(proc, pids, inodes, &HashSet::new());
        Listeners { sockets, holders }
    }

    /// Returns the processes that listen on a port for connections to this address (`None`: any
    /// address), each of them once.
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
            true => Err(NotFound::NotReported(port)),
            false => Ok(holders),
        }
    }
}

/// True if a socket accepts connections to an address.
fn takes(socket: &TcpSocket, address: Option<IpAddr>) -> bool {
    let ip = socket.local.ip().to_canonical();
    address.is_none_or(|address| ip.is_unspecified() || ip == address.to_canonical())
}
