//! The processes that have a socket open.
//!
//! The kernel does not list the processes of a socket: the open files of all processes have to be
//! read, one link each, and a host may have hundreds of thousands. So they are read in three steps;
//! the first is nearly always enough:
//!
//! 1. the *lowest* files of every process: servers open their listening sockets early;
//! 2. for sockets not found in the first step, the other files, beginning with processes that have
//!    few files, until each socket was found once;
//! 3. for each socket found in the second step, the file of the same number in the other processes:
//!    those that inherited the socket have it under this number.

use crate::proc::Proc;
use crate::sockets::open_files;
use std::collections::{HashMap, HashSet};

/// The number of files of each process that are read in the first step.
pub(crate) const LOWEST: usize = 64;

/// The processes that have each of some sockets open.
#[derive(Debug, Default)]
pub(crate) struct Holders(HashMap<u64, Vec<u32>>);

impl Holders {
    /// Searches for the processes that have these sockets open. For the sockets in `thoroughly` the
    /// search includes the files after the lowest ones.
    pub(crate) fn find(
        proc: &Proc,
        pids: &[u32],
        sockets: impl Iterator<Item = u64>,
        thoroughly: &HashSet<u64>,
    ) -> Holders {
        let mut holders = Holders(sockets.map(|inode| (inode, Vec::new())).collect());
        if holders.0.is_empty() {
            return holders;
        }
        let full = pids.iter().copied();
        let full: Vec<u32> = full.filter(|pid| holders.add_lowest(proc, *pid)).collect();
        let mut open: HashSet<u64> = thoroughly.iter().copied().collect();
        open.retain(|inode| holders.of(*inode).is_empty());
        holders.add_others(proc, pids, full, open);
        holders
    }

    /// Returns the processes that have this socket open, in no particular order.
    pub(crate) fn of(&self, inode: u64) -> &[u32] {
        self.0.get(&inode).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, inode: u64, pid: u32) {
        if let Some(holders) = self.0.get_mut(&inode)
            && !holders.contains(&pid)
        {
            holders.push(pid);
        }
    }

    /// Does the first step for one process. Returns true if it has more files than were read.
    fn add_lowest(&mut self, proc: &Proc, pid: u32) -> bool {
        let Ok(mut files) = open_files(proc, pid) else {
            return false;
        };
        for (_, socket) in files.by_ref().take(LOWEST) {
            socket.into_iter().for_each(|inode| self.add(inode, pid));
        }
        files.has_more()
    }

    /// Does the second and the third step, for sockets that were not found in the first.
    fn add_others(
        &mut self,
        proc: &Proc,
        pids: &[u32],
        mut full: Vec<u32>,
        mut remaining: HashSet<u64>,
    ) {
        if remaining.is_empty() {
            return;
        }
        full.sort_by_cached_key(|pid| (proc.room_for_files(*pid), *pid));
        for pid in full {
            let Ok(files) = open_files(proc, pid) else {
                continue;
            };
            for (number, socket) in files.skip(LOWEST) {
                let Some(inode) = socket.filter(|inode| remaining.remove(inode)) else {
                    continue;
                };
                let heirs = pids.iter().copied();
                heirs
                    .filter(|heir| *heir == pid || proc.socket_at(*heir, &number) == Some(inode))
                    .for_each(|heir| self.add(inode, heir));
                if remaining.is_empty() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn find(fixture: &Fixture, pids: &[u32], inode: u64) -> (Vec<u32>, u64) {
        let proc = fixture.proc();
        let remaining = HashSet::from([inode]);
        let found = Holders::find(&proc, pids, std::iter::once(inode), &remaining);
        let mut holders = found.of(inode).to_vec();
        holders.sort_unstable();
        (holders, proc.links_read())
    }

    /// Adds a process with this many open files, without a socket.
    fn crowded(fixture: &Fixture, pid: u32, files: u32) {
        fixture.process(pid, 1, "idle");
        fixture.write(
            &format!("{pid}/status"),
            &format!("Name:\ta\nFDSize:\t{files}\n"),
        );
        (0..files).for_each(|number| fixture.open(pid, number, "/dev/null"));
    }

    #[test]
    fn a_socket_among_the_lowest_files_is_found_without_reading_the_others() {
        let fixture = Fixture::new();
        (20..30).for_each(|pid| crowded(&fixture, pid, 300));
        for pid in [10, 11] {
            fixture.process(pid, 1, "server");
            fixture.open(pid, 3, "socket:[71]");
        }
        let pids: Vec<u32> = (10..12).chain(20..30).collect();
        let (holders, links) = find(&fixture, &pids, 71);
        assert_eq!(holders, [10, 11]);
        assert_eq!(links, 2 + 10 * LOWEST as u64);
    }

    #[test]
    fn a_socket_among_the_others_is_found_with_all_that_inherited_it() {
        let fixture = Fixture::new();
        crowded(&fixture, 20, 900);
        for pid in [10, 11] {
            crowded(&fixture, pid, 100);
            fixture.open(pid, 100, "socket:[71]");
        }
        let (holders, links) = find(&fixture, &[20, 10, 11], 71);
        assert_eq!(holders, [10, 11]);
        // The lowest files of three processes, at most the rest of two, and one of each heir.
        assert!(links <= 3 * LOWEST as u64 + 2 * 101 + 3, "{links}");
    }

    #[test]
    fn a_socket_that_nobody_asks_to_find_is_not_searched_for() {
        let fixture = Fixture::new();
        crowded(&fixture, 20, 300);
        let proc = fixture.proc();
        let found = Holders::find(&proc, &[20], std::iter::once(71), &HashSet::new());
        assert!(found.of(71).is_empty());
        assert_eq!(proc.links_read(), LOWEST as u64);
        let none = Holders::find(&proc, &[20], std::iter::empty(), &HashSet::new());
        assert!(none.of(71).is_empty());
        assert_eq!(proc.links_read(), LOWEST as u64);
    }
}
