//! Finding the processes that a target means.

use crate::listeners::Listeners;
use crate::proc::Proc;
use crate::table::Table;
use crate::target::Target;
use procfs_core::process::{ProcState, Stat};
use std::fs;
use std::path::Path;

/// The longest name of a program that the kernel keeps, in bytes.
const LONGEST_COMM: usize = 15;

/// A target is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No program has this name.
    #[error("no program named {0} is running; start it first, or give the number of its process.")]
    Name(String),
    /// No process listens there.
    #[error("no process listens on port {0} of this host; start the server first.")]
    Nobody(u16),
    /// A process listens there that this user may not inspect.
    #[error(
        "a process listens on port {0}, but it is not known which; run as its user or as root, or \
         give the number of its process."
    )]
    NotTold(u16),
    /// There is no such process.
    #[error("no process {0} is running; give the number of one that is, or its program's name.")]
    Pid(u32),
}

/// What is looked for: a target, and for a port the address that is dialled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) target: Target,
    pub(crate) address: Option<std::net::IpAddr>,
}

impl Wanted {
    /// Its processes, without those that descend from another of them. `own` is never meant.
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

    /// As [`find`](Self::find), but only among these processes, and with little reading: what may
    /// be done beside a load. None if they are not there.
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

/// Whether a process's program has this name, as the kernel keeps it or as it was called.
fn has_name(proc: &Proc, pid: u32, name: &str) -> bool {
    let Ok(stat) = proc.stat(pid) else {
        return false;
    };
    let same = stat.comm == name && name.len() <= LONGEST_COMM;
    is_alive(&stat) && (same || called(proc, pid).is_some_and(|called| called == name))
}

/// The last part of the first word with which a process was called.
fn called(proc: &Proc, pid: u32) -> Option<String> {
    let words = fs::read(proc.of(pid, "cmdline")).ok()?;
    let first = words.split(|byte| *byte == 0).next()?;
    let first = String::from_utf8_lossy(first);
    let name = Path::new(first.as_ref()).file_name()?;
    Some(name.to_str()?.to_owned())
}

/// The processes that were found, without `own` and those that descend from another, in the order
/// of their numbers.
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

/// Whether a process still runs: one that only waits to be taken note of does not.
pub(crate) fn is_alive(stat: &Stat) -> bool {
    !matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead))
}
