//! What processes and the host use, from `/proc` (see proc(5)), on a monotonic clock.
//!
//! A [`Watcher`] looks at everything it was told to watch whenever it is asked, and returns what
//! was used since the look before. It reads no clock: the caller passes the time. What is watched:
//!
//! - *trees*: one or more processes with all their descendants, found by a [`Target`]: a process
//!   number, the name of a program, or a port on which a process listens. A tree that was named by
//!   program or port is found again when its processes were replaced.
//! - the *host*: CPU, memory, pressure, the interface that leads to the target, TCP trouble.
//!
//! Nothing fails for lack of rights: what can't be read is absent, and named in the look. Readings
//! that cost much (proportional memory, the sockets of many files, the switches of many threads)
//! are spaced so that each kind takes at most a five-thousandth of a core.

mod cpu;
mod diagnosis;
mod find;
mod host;
mod listeners;
mod look;
mod probe_budget;
mod proc;
mod route;
mod sockets;
mod switches;
mod table;
mod target;
mod tcp_sockets;
mod tree;

#[cfg(test)]
mod fixture;

pub use find::NotFound;
pub use look::Watcher;
pub use proc::Proc;
pub use route::is_local;
pub use target::{BadTarget, Target};
