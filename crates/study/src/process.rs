//! Processes of a study: started in a process group of their own, on their cores, and ended
//! together with all processes that they started.
//!
//! A process that has ended is not reaped before its last sample: until then its total CPU time can
//! be read, and no other process can have its number.

use crate::events::Event;
use crate::study::Cores;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// The time that a process may take to end after it received SIGTERM.
const TERM_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval of the checks whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Folders that are searched for programs in addition to the user's: they contain many servers.
const ADMIN_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/// The folders in the user's home that pipx, Cargo and Go install programs into: they are not
/// always on the path.
const INSTALLERS_FOLDERS: [&str; 3] = [".local/bin", ".cargo/bin", "go/bin"];

/// A program with its arguments, cores and output files.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The program, as a resolved path.
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
    /// The working folder.
    pub(crate) folder: &'a Path,
    pub(crate) cores: Option<&'a Cores>,
    /// The files of its output, standard output and standard error.
    pub(crate) stdout: File,
    pub(crate) stderr: File,
}

/// A process that was started. Dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Pid,
    reaped: Option<ExitStatus>,
}

impl Process {
    /// Starts a process; its end is sent to `ends`.
    pub(crate) fn start(launch: Launch<'_>, ends: Sender<Event>) -> io::Result<Process> {
        let mut command = Command::new(launch.program);
        command
            .args(launch.arguments)
            .current_dir(launch.folder)
            .stdin(Stdio::null())
            .stdout(launch.stdout)
            .stderr(launch.stderr)
            .process_group(0);
        let child = spawn(&mut command, launch.cores)?;
        let group = Pid::from_child(&child);
        std::thread::Builder::new()
            .name("waiter".to_owned())
            .spawn(move || {
                // The process cannot be reaped before it has ended, so it exists until then.
                let _ = waitid(
                    WaitId::Pid(group),
                    WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
                );
                let _ = ends.send(Event::Ended(group.as_raw_nonzero().get() as u32));
            })?;
        Ok(Process {
            child,
            group,
            reaped: None,
        })
    }

    /// Returns the process identifier.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// True if the process no longer runs.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.reaped.is_some() || !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    /// Sends a signal to the process and all others in its group.
    pub(crate) fn send_signal(&self, signal: Signal) {
        if self.reaped.is_none() {
            // A group that has ended needs no signal.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Ends the process with its whole group: sends SIGTERM first, and SIGKILL if it takes too
    /// long. Returns its exit status.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.reaped {
            return Ok(status);
        }
        self.send_signal(Signal::TERM);
        let until = Instant::now() + TERM_TIMEOUT;
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(POLL_INTERVAL);
        }
        // Until the process is reaped, no other process or group can have its number.
        self.send_signal(Signal::KILL);
        let status = self.child.wait()?;
        self.reaped = Some(status);
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Starts the child from a thread with these cores, which the child inherits.
fn spawn(command: &mut Command, cores: Option<&Cores>) -> io::Result<Child> {
    let Some(Cores(cores)) = cores else {
        return command.spawn();
    };
    let mut set = CpuSet::new();
    cores.iter().for_each(|core| set.set(*core));
    std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            sched_setaffinity(None, &set)?;
            command.spawn()
        });
        let panicked = || io::Error::other("the thread that starts a process has failed");
        started.join().unwrap_or_else(|_| Err(panicked()))
    })
}

/// Returns a phrase for the exit status of a process that did not succeed.
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended for an unknown reason".to_owned(),
    }
}

/// Returns the path of a program: a path is relative to `folder`; a name is searched for on the
/// path, in the administrator's folders and in those of installers.
pub(crate) fn find(program: &str, folder: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        let path = folder.join(program);
        return is_program(&path).then(|| std::path::absolute(&path).unwrap_or(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::home_dir().into_iter();
    let installed = home.flat_map(|home| INSTALLERS_FOLDERS.map(|folder| home.join(folder)));
    let folders = std::env::split_paths(&path).chain(ADMIN_FOLDERS.map(PathBuf::from));
    let mut candidates = folders.chain(installed).map(|folder| folder.join(program));
    candidates.find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
