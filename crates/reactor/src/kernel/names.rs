//! Name resolution while the loop continues.
//!
//! The system's resolver blocks, so each name is resolved on a thread of its own, and the loop
//! checks at intervals for its result. A run names few hosts, each once.

use crate::{Host, Kernel};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::thread;

/// The first interval between checks for the result. Each one is a quarter longer than the one
/// before.
const FIRST_WAIT_NS: u64 = 200_000;
/// The longest interval.
const LONGEST_WAIT_NS: u64 = 20_000_000;

/// Returns the addresses of a name, in the resolver's order.
pub(super) async fn look_up(host: &Kernel, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (send, answer) = sync_channel(1);
    let name = name.to_owned();
    let resolver = thread::Builder::new().name("resolver".to_owned());
    resolver.spawn(move || {
        // There is no receiver any more if the run has ended.
        let _ = send.send(crate::look_up(&name, port));
    })?;
    let mut timer = host.timer();
    let mut wait_ns = FIRST_WAIT_NS;
    loop {
        match answer.try_recv() {
            Ok(found) => return found,
            Err(TryRecvError::Disconnected) => {
                return Err(io::Error::other("the resolver's thread ended"));
            }
            Err(TryRecvError::Empty) => timer.until(host.now_ns() + wait_ns).await,
        }
        wait_ns = (wait_ns + wait_ns / 4).min(LONGEST_WAIT_NS);
    }
}
