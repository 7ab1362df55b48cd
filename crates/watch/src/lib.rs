//! Usage of processes and of the machine, read from `/proc` and `/sys` (see proc(5)).
//!
//! A [`Watcher`] samples everything that it watches on each call, and returns the usage since the
//! sample before. It reads no clock: the caller passes the time. It watches:
//!
//! - *trees*: one or more processes with all their descendants, found by a [`Target`]: a process
//!   number, the name of a program, or a port that a process listens on. A tree that was named by
//!   program or port is found again when its processes were replaced.
//! - the *host*: CPU, memory, pressure, the interface that leads to the target, TCP problems.
//!
//! In addition, this crate reads the [`environment`] of a run, the machine's
//! [counters](host_counters) before and after it, and the total CPU time of one process
//! ([`cpu_s`]).
//!
//! Missing rights are not an error: a figure that cannot be read is absent, and named in the
//! sample. Expensive readings (the list of processes, proportional memory, the sockets of many
//! files, the switches of many threads) are spaced so that each kind takes at most a
//! five-thousandth of a core. The processes of a target are searched for before the load; during
//! the load, only new processes are checked as replacements of a target that has ended.
//!
//! ## To change
//!
//! - the words for a target, and its search: `target.rs`, `find.rs`, `holders.rs`, `listeners.rs`
//! - a figure of processes: `tree.rs`, `cpu.rs`, `sockets.rs`, `switches.rs`
//! - a figure of the machine: `host.rs`, `route.rs`, `tcp_sockets.rs`; around a run
//!   `host_counters.rs`, before it `environment.rs`, `cpu_quota.rs`
//! - how often something expensive is read: `look.rs`, `probe_budget.rs`
//! - where it is read from: `proc.rs`; the TCP sockets of the kernel `diagnosis.rs`; the parents of
//!   processes `table.rs`; made-up folders for tests: `fixture.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

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
