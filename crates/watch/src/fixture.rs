//! Folders that look like `/proc` and `/sys`, for tests.

use crate::proc::Proc;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// An artificial `/proc` and `/sys`, removed with the value.
pub(crate) struct Fixture(TempDir);

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["proc", "sys"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Fixture(folder)
    }

    pub(crate) fn proc(&self) -> Proc {
        let folder = self.0.path();
        Proc::at(folder.join("proc"), folder.join("sys"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join("proc").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn write_sys(&self, file: &str, text: &str) {
        let path = self.0.path().join("sys").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds a process that has used no CPU time yet.
    pub(crate) fn process(&self, pid: u32, parent: u32, name: &str) {
        self.process_with(pid, parent, name, 'S', 100, 0);
    }

    /// Adds a process in this state, started at tick `start`, that has used `ticks` ticks.
    pub(crate) fn process_with(
        &self,
        pid: u32,
        parent: u32,
        name: &str,
        state: char,
        start: u64,
        ticks: u64,
    ) {
        let zeros = "0 ".repeat(27);
        let stat = format!(
            "{pid} ({name}) {state} {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 3 0 {start} \
             4096 25 {zeros}\n"
        );
        self.write(&format!("{pid}/stat"), &stat);
    }

    /// Adds a thread to a process, with its context switches.
    pub(crate) fn thread(&self, pid: u32, tid: u32, voluntary: u64, involuntary: u64) {
        let status = format!(
            "Name:\ta\nvoluntary_ctxt_switches:\t{voluntary}\n\
             nonvoluntary_ctxt_switches:\t{involuntary}\n"
        );
        self.write(&format!("{pid}/task/{tid}/status"), &status);
    }

    /// Adds an open file to a process.
    pub(crate) fn open(&self, pid: u32, fd: u32, to: &str) {
        let folder = self.0.path().join(format!("proc/{pid}/fd"));
        fs::create_dir_all(&folder).unwrap();
        symlink(to, folder.join(fd.to_string())).unwrap();
    }

    /// Closes all files of a process.
    pub(crate) fn close_all(&self, pid: u32) {
        let _ = fs::remove_dir_all(self.0.path().join(format!("proc/{pid}/fd")));
    }

    /// Adds the network namespace of a process, with its sockets.
    pub(crate) fn namespace(&self, pid: u32, tcp: &str) {
        let folder = self.0.path().join(format!("proc/{pid}/ns"));
        fs::create_dir_all(&folder).unwrap();
        symlink("net:[1]", folder.join("net")).unwrap();
        self.write(&format!("{pid}/net/tcp"), tcp);
    }

    /// Returns a table of TCP sockets: local address, state and inode of each, as the kernel writes
    /// them.
    pub(crate) fn tcp(sockets: &[(&str, &str, u64)]) -> String {
        let mut table = "  sl  local_address rem_address   st\n".to_owned();
        for (local, state, inode) in sockets {
            table.push_str(&format!(
                "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     \
                 0   0 {inode} 1 0000000000000000 100 0 0 10 0\n"
            ));
        }
        table
    }

    /// Returns `meminfo` with this total and this available memory, in kB.
    pub(crate) fn meminfo(total: u64, available: u64) -> String {
        let known = [("MemTotal", total), ("MemAvailable", available)];
        let zeros = [
            "MemFree",
            "Buffers",
            "Cached",
            "SwapCached",
            "Active",
            "Inactive",
            "SwapTotal",
            "SwapFree",
            "Dirty",
            "Writeback",
            "Mapped",
            "Slab",
            "Committed_AS",
            "VmallocTotal",
            "VmallocUsed",
            "VmallocChunk",
        ];
        let lines = known.into_iter().chain(zeros.map(|name| (name, 0)));
        lines
            .map(|(name, kb)| format!("{name}: {kb} kB\n"))
            .collect()
    }

    /// Returns `net/dev` with one interface: bytes and packets in, bytes and packets out.
    pub(crate) fn dev(name: &str, [bytes_in, in_, bytes_out, out]: [u64; 4]) -> String {
        format!(
            "Inter-| Receive | Transmit\n face |bytes |bytes\n  {name}: {bytes_in} {in_} \
             0 0 0 0 0 0 {bytes_out} {out} 0 0 0 0 0 0\n"
        )
    }

    /// Removes a process.
    pub(crate) fn end(&self, pid: u32) {
        fs::remove_dir_all(self.0.path().join(format!("proc/{pid}"))).unwrap();
    }
}
