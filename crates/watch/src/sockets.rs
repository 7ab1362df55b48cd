//! Open files and sockets of a tree.

use crate::proc::{Proc, ReadFailure};
use crate::tcp_sockets::{count, states};
use loadline_record::watched::{Figure, Missing, TcpStates, TreeUsage, Why};
use procfs_core::net::TcpState;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, ReadDir};
use std::path::PathBuf;

/// The most open files that are read one by one: more take a tenth of a second.
const MOST_FILES: u64 = 65_536;

/// The TCP sockets of the namespaces that one sample has read, by the namespace's name.
#[derive(Debug, Default)]
pub(crate) struct Namespaces(HashMap<PathBuf, Result<HashMap<u64, TcpState>, ReadFailure>>);

/// The open files of one process.
#[derive(Debug, Default, PartialEq, Eq)]
struct Files {
    /// The number of open files.
    count: u64,
    /// The sockets among them, by inode.
    sockets: Vec<u64>,
}

/// The open files of one process, read one by one.
#[derive(Debug)]
pub(crate) struct OpenFiles<'a> {
    proc: &'a Proc,
    pid: u32,
    entries: Option<ReadDir>,
}

/// Lists the open files of a process, lowest numbers first; empty if the process is gone.
pub(crate) fn open_files<'a>(proc: &'a Proc, pid: u32) -> Result<OpenFiles<'a>, ReadFailure> {
    let entries = match fs::read_dir(proc.of(pid, "fd")) {
        Ok(entries) => Some(entries),
        Err(error) => match ReadFailure::because(&error) {
            ReadFailure::Absent => None,
            refused @ ReadFailure::Refused(_) => return Err(refused),
        },
    };
    Ok(OpenFiles { proc, pid, entries })
}

impl OpenFiles<'_> {
    fn number(&mut self) -> Option<OsString> {
        let mut entries = self.entries.as_mut()?.filter_map(Result::ok);
        Some(entries.next()?.file_name())
    }

    /// True if there are more files.
    pub(crate) fn has_more(mut self) -> bool {
        self.number().is_some()
    }
}

impl Iterator for OpenFiles<'_> {
    /// The number of the file, and the inode if it is a socket.
    type Item = (OsString, Option<u64>);

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.number()?;
        let socket = self.proc.socket_at(self.pid, &number);
        Some((number, socket))
    }
}

fn files_of(proc: &Proc, pid: u32) -> Result<Files, ReadFailure> {
    let mut files = Files::default();
    for (_, socket) in open_files(proc, pid)? {
        files.count += 1;
        files.sockets.extend(socket);
    }
    Ok(files)
}

/// Adds the open files and sockets of a tree's processes to its usage.
pub(crate) fn read(
    proc: &Proc,
    pids: &[u32],
    namespaces: &mut Namespaces,
    usage: &mut TreeUsage,
    missing: &mut Vec<Missing>,
) {
    let mut leave_out = |why| {
        let figures = [Figure::OpenFiles, Figure::Sockets, Figure::TcpStates];
        missing.extend(figures.map(|figure| Missing { figure, why }));
    };
    let room: u64 = pids.iter().map(|pid| proc.room_for_files(*pid)).sum();
    if room > MOST_FILES {
        return leave_out(Why::TooLarge);
    }
    let (mut open, mut tcp) = (0, Ok(TcpStates::default()));
    let mut seen = HashSet::new();
    for &pid in pids {
        match files_of(proc, pid) {
            Ok(files) => {
                open += files.count;
                let new = files
                    .sockets
                    .into_iter()
                    .filter(|inode| seen.insert(*inode));
                let new: Vec<u64> = new.collect();
                tcp = tcp.and_then(|tcp| namespaces.add(proc, pid, &new, tcp));
            }
            Err(unread) => return leave_out(unread.why()),
        }
    }
    usage.open_files = Some(open);
    usage.sockets = Some(seen.len() as u64);
    match tcp {
        Ok(tcp) => usage.tcp = Some(tcp),
        Err(unread) => missing.push(Missing {
            figure: Figure::TcpStates,
            why: unread.why(),
        }),
    }
}

impl Namespaces {
    /// Adds the states of a process's sockets.
    fn add(
        &mut self,
        proc: &Proc,
        pid: u32,
        inodes: &[u64],
        mut sum: TcpStates,
    ) -> Result<TcpStates, ReadFailure> {
        if inodes.is_empty() {
            return Ok(sum);
        }
        let Ok(name) = fs::read_link(proc.of(pid, "ns/net")) else {
            // The process is gone, or its namespace cannot be identified.
            return Ok(sum);
        };
        let table = self.0.entry(name).or_insert_with(|| states(proc, pid));
        let table = table.as_ref().map_err(|unread| *unread)?;
        for state in inodes.iter().filter_map(|inode| table.get(inode)) {
            count(&mut sum, state);
        }
        Ok(sum)
    }
}
