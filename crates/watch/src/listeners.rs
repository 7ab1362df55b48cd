//! Which processes listen where on this host.

use crate::find::NotFound;
use crate::proc::Proc;
use crate::sockets::files_of;
use crate::table::Table;
use crate::tcp_sockets::{TcpSocket, listening};
use std::collections::HashMap;
use std::net::IpAddr;

/// The first process; it may hold a listening socket on behalf of another.
const INIT: u32 = 1;

/// The listening sockets of this host and who holds them, read once for any number of questions:
/// the open files of every process have to be listed for it.
#[derive(Debug)]
pub(crate) struct Listeners {
    sockets: HashMap<u16, Vec<TcpSocket>>,
    /// The processes that have a socket open, by its inode.
    holders: HashMap<u64, Vec<u32>>,
}

impl Listeners {
    /// Reads them now. Without a list of sockets nobody listens anywhere.
    pub(crate) fn read(proc: &Proc, table: &Table) -> Listeners {
        let mut sockets: HashMap<u16, Vec<TcpSocket>> = HashMap::new();
        let mut holders: HashMap<u64, Vec<u32>> = HashMap::new();
        for socket in listening(proc).unwrap_or_default() {
            holders.insert(socket.inode, Vec::new());
            let port = socket.local.port();
            sockets.entry(port).or_default().push(socket);
        }
        for pid in table.pids() {
            for inode in files_of(proc, pid).unwrap_or_default().sockets {
                if let Some(holders) = holders.get_mut(&inode) {
                    holders.push(pid);
                }
            }
        }
        Listeners { sockets, holders }
    }

    /// The processes that listen on a port, where this address is dialled; `None` is any. Each is
    /// in it once.
    ///
    /// # Errors
    /// If no process listens there, or one that this user may not inspect.
    pub(crate) fn on(&self, port: u16, address: Option<IpAddr>) -> Result<Vec<u32>, NotFound> {
        let sockets = self.sockets.get(&port).into_iter().flatten();
        let mut there = sockets.filter(|socket| takes(socket, address)).peekable();
        if there.peek().is_none() {
            return Err(NotFound::Nobody(port));
        }
        let holders = there.filter_map(|socket| self.holders.get(&socket.inode));
        let mut holders: Vec<u32> = holders.flatten().copied().collect();
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
