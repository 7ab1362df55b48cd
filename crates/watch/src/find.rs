//! The search for the processes of a target.

use crate::listeners::Listeners;
use crate::proc::Proc;
use crate::table::Table;
use crate::target::Target;
use procfs_core::process::{ProcState, Stat};
use std::fs;
use std::path::Path;

/// The longest name of a program that the kernel keeps, in bytes.
const LONGEST_COMM: usize = 15;

/// The error of a target that was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No program has this name.
    #[error("no program named {0} is running; start it first, or give the number of its process.")]
    Name(String),
    /// No process listens on the port.
    #[error("no process listens on port {0} of this host; start the server first.")]
    Nobody(u16),
    /// A process listens on the port, but this user may not inspect it.
    #[error(
        "a process listens on port {0}, but it is not known which; run as its user or as root, or \
         give the number of its process."
    )]
    NotReported(u16),
    /// There is no such process.
    #[error("no process {0} is running; give the number of one that is, or its program's name.")]
    Pid(u32),
}

/// A target to find, and for a port the address that clients connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetSearch {
    pub(crate) target: Target,
    pub(crate) address: Option<std::net::IpAddr>,
}

impl TargetSearch {
    /// Returns the processes of the target, except those that descend from another of them. `own`
    /// is never included.
    pub(crate) fn find(&self, proc: &Proc, table: &Table, own: u32) -> Result<Vec<u32>, NotFound> {
        let pids: Vec<u32> = table.pids().collect();
        let found = match &self.target {
            Target::Pid(pid) => return only(proc, *pid),
            Target::Name(name) => named(proc, &pids, name),
            Target::Port(port) => Listeners::read(proc, &pids, &[*port]).on(*port, self.address)?,
        };
        match (roots(table, found, own), &self.target) {
            (roots, Target::Name(name)) if roots.is_empty() => Err(NotFound::Name(name.clone())),
            (roots, _) => Ok(roots),
        }
    }

    /// Searches as [`find`](Self::find) does, but only among these processes and with little
    /// reading, so that it may run during a load. Empty if there is no such process.
    pub(crate) fn find_among(
        &self,
        pids: &[u32],
        proc: &Proc,
        table: &Table,
        own: u32,
    ) -> Vec<u32> {
        let found = match &self.target {
            Target::Pid(_) => Vec::new(),
            Target::Name(name) => named(proc, pids, name),
            Target::Port(port) => Listeners::read_quickly(proc, pids, *port)
                .on(*port, self.address)
                .unwrap_or_default(),
        };
        roots(table, found, own)
    }
}

fn only(proc: &Proc, pid: u32) -> Result<Vec<u32>, NotFound> {
    let alive = proc.stat(pid).is_ok_and(|stat| is_alive(&stat));
    alive.then(|| vec![pid]).ok_or(NotFound::Pid(pid))
}

fn named(proc: &Proc, pids: &[u32], name: &str) -> Vec<u32> {
    let pids = pids.iter().copied();
    pids.filter(|pid| has_name(proc, *pid, name)).collect()
}

/// True if a process's program has this name: the kernel's name of it, or the last part of its
/// command.
fn has_name(proc: &Proc, pid: u32, name: &str) -> bool {
    let Ok(stat) = proc.stat(pid) else {
        return false;
    };
    let same = stat.comm == name && name.len() <= LONGEST_COMM;
    is_alive(&stat) && (same || called(proc, pid).is_some_and(|called| called == name))
}

/// Returns the last part of the path that a process was started with.
fn called(proc: &Proc, pid: u32) -> Option<String> {
    let words = fs::read(proc.of(pid, "cmdline")).ok()?;
    let first = words.split(|byte| *byte == 0).next()?;
    let first = String::from_utf8_lossy(first);
    let name = Path::new(first.as_ref()).file_name()?;
    Some(name.to_str()?.to_owned())
}

/// Returns the given processes without `own` and without those that descend from another of them,
/// in the order of their numbers.
pub(crate) fn roots(table: &Table, mut found: Vec<u32>, own: u32) -> Vec<u32> {
    found.retain(|pid| *pid != own);
    let descends = |pid: u32| {
        let mut ancestors = table.line_of(pid).skip(1);
        ancestors.any(|ancestor| found.contains(&ancestor))
    };
    let mut roots: Vec<u32> = found
        .iter()
        .copied()
        .filter(|pid| !descends(*pid))
        .collect();
    roots.sort_unstable();
    roots
}

/// True if a process still runs: a zombie, which only waits for its parent to reap it, does not.
pub(crate) fn is_alive(stat: &Stat) -> bool {
    !matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead))
}
