//! Open files and sockets of a tree.

use crate::proc::{Proc, Unread};
use crate::tcp_sockets::{count, states};
use loadline_record::watched::{Figure, Missing, TcpStates, TreeUsage};
use procfs_core::net::TcpState;
use procfs_core::process::FDTarget;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

/// The TCP sockets of the namespaces that one look has read, by the namespace's name.
#[derive(Debug, Default)]
pub(crate) struct Namespaces(HashMap<PathBuf, Result<HashMap<u64, TcpState>, Unread>>);

/// The files that one process has open.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// How many.
    pub(crate) count: u64,
    /// The sockets among them, by inode.
    pub(crate) sockets: Vec<u64>,
}

/// Reads what a process has open; nothing if it has gone.
pub(crate) fn files_of(proc: &Proc, pid: u32) -> Result<Files, Unread> {
    let mut files = Files::default();
    let entries = match fs::read_dir(proc.of(pid, "fd")) {
        Ok(entries) => entries,
        Err(error) => match Unread::because(&error) {
            Unread::Absent => return Ok(files),
            refused => return Err(refused),
        },
    };
    for entry in entries.filter_map(Result::ok) {
        files.count += 1;
        // A file that was closed since it was listed leads nowhere.
        let link = fs::read_link(entry.path()).unwrap_or_default();
        if let Some(Ok(FDTarget::Socket(inode))) = link.to_str().map(str::parse) {
            files.sockets.push(inode);
        }
    }
    Ok(files)
}

/// Adds what the processes of a tree have open to its usage.
pub(crate) fn read(
    proc: &Proc,
    pids: &[u32],
    namespaces: &mut Namespaces,
    usage: &mut TreeUsage,
    missing: &mut Vec<Missing>,
) {
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
            Err(unread) => {
                let why = unread.why();
                let figures = [Figure::OpenFiles, Figure::Sockets, Figure::TcpStates];
                missing.extend(figures.map(|figure| Missing { figure, why }));
                return;
            }
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
    ) -> Result<TcpStates, Unread> {
        if inodes.is_empty() {
            return Ok(sum);
        }
        let Ok(name) = fs::read_link(proc.of(pid, "ns/net")) else {
            // It has gone, or its namespace can't be told from others.
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
