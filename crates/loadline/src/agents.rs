//! The machines of runs: agents on a bus, and this machine as one of them.
//!
//! A build may leave the bus out.

#[cfg(feature = "cluster")]
mod commands;
#[cfg(feature = "cluster")]
mod listing;
#[cfg(feature = "cluster")]
mod locust_part;
#[cfg(feature = "cluster")]
mod on_bus;
#[cfg(feature = "cluster")]
mod watching;
#[cfg(not(feature = "cluster"))]
mod without_bus;

#[cfg(feature = "cluster")]
pub(crate) use on_bus::{hire, list, of_locustfile, serve};
#[cfg(not(feature = "cluster"))]
pub(crate) use without_bus::{hire, list, of_locustfile, serve};

/// The agents of this command's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hired {
    /// Their number.
    pub(crate) parts: u32,
    /// The cores of all of them that a load in equal parts can use.
    pub(crate) cores: u32,
    /// The least number of files that the process of a part may have open.
    pub(crate) open_files: u64,
}
