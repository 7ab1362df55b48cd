//! What the kernel tells of processes and of the machine, from `/proc` and `/sys` (see proc(5)).
//!
//! A [`Watcher`] looks at everything it was told to watch whenever it is asked, and returns what
//! was used since the look before. It reads no clock: the caller passes the time. What is watched:
//!
//! - *trees*: one or more processes with all their descendants, found by a [`Target`]: a process
//!   number, the name of a program, or a port on which a process listens. A tree that was named by
//!   program or port is found again when its processes were replaced.
//! - the *host*: CPU, memory, pressure, the interface that leads to the target, TCP trouble.
//!
//! Apart from that, the [`environment`] of a run and the machine's [counters](host_counters) around
//! it are read here, and what one process has used in all ([`cpu_s`]).
//!
//! Nothing fails for lack of rights: what can't be read is absent, and named in the look. Readings
//! that cost much (the list of processes, proportional memory, the sockets of many files, the
//! switches of many threads) are spaced so that each kind takes at most a five-thousandth of a
//! core.
//! The processes of a target are looked for before the load: beside it, only processes that are new
//! are asked whether they take the place of a target that has ended.

mod cpu;
mod cpu_quota;
mod diagnosis;
mod environment;
mod find;
mod holders;
mod host;
mod host_counters;
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

pub use cpu::cpu_s;
pub use environment::environment;
pub use find::NotFound;
pub use host_counters::host_counters;
pub use look::Watcher;
pub use proc::Proc;
pub use route::is_local;
pub use target::{BadTarget, Target};
