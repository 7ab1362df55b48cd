//! The event loop of a worker: tasks, timers, sockets, timestamps.
//!
//! A worker is one thread with one loop. Its tasks never leave the thread, so nothing here is
//! shared, locked or `Send`. The loop has two implementations of one trait, [`Host`]:
//!
//! - [`Kernel`]: epoll, nanosecond deadlines, the kernel's receive timestamps; and one descriptor
//!   with a [`Kernel::iterate`] call, so that another event loop can drive it.
//! - [`Sim`]: a virtual clock and a virtual network, so that an hour of load runs in milliseconds
//!   and every instant can be asserted exactly.
//!
//! Callers request operations (`recv`, `discard`, `send`, a [`Timer`]), never readiness. All
//! instants are nanoseconds of the host's monotonic clock, in `u64`s named `_ns`.
//!
//! ## To change
//!
//! - an operation or option of sockets: the traits in `host.rs`; on the kernel `kernel/socket.rs`,
//!   `kernel/sys.rs`; simulated `sim/net.rs`
//! - how the loop waits and wakes up: `kernel/mod.rs`, `kernel/lead.rs`, `kernel/poller.rs`; timers
//!   `timers.rs`, tasks `tasks.rs`
//! - how soon a worker that wakes up has its core: `kernel/time_slice.rs`
//! - the kernel's timestamps: `kernel/clock.rs`
//! - name resolution: `names.rs`, `kernel/names.rs`
//! - how much a task may receive before the others run: `stretch.rs`
//! - what the loop reports of itself: `loop_iterations.rs`
//! - the limits of the machine: `limits.rs`; counts that processes share: `shared_counts.rs`
//! - how threads beside the load let workers run, as long as there are any: `turns.rs`,
//!   `pieces.rs`, `kernel/presence.rs`
//! - virtual time and the simulated network: `sim/mod.rs`, `sim/net.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod host;
mod kernel;
mod limits;
mod loop_iterations;
mod names;
mod pieces;
mod shared_counts;
mod sim;
mod stretch;
mod tasks;
mod timers;
mod turns;

#[cfg(test)]
mod tests;

pub use host::{
    Address, Coalescing, Connected, Host, Received, Socket, SocketOptions, ThreadTimes,
};
pub use kernel::{Kernel, KernelSocket, monotonic_ns, stamps_received};
pub use limits::{OpenFilesError, Shortage, ensure_open_files, raise_open_files};
pub use names::{is_localhost, look_up};
pub use pieces::InPieces;
pub use shared_counts::SharedCounts;
pub use sim::{Sim, SimListener, SimSocket};
pub use tasks::Task;
pub use timers::{Alarm, Timer};
pub use turns::{let_workers_run, run_when_idle};

/// The method by which a [`Kernel`] waits for a deadline: a phrase for reports.
pub const PACING: &str = "a timer ahead of the deadline, then polling";
