//! Processes of a study: started in a group of their own, on the cores they are given, and ended
//! with all that they started.
//!
//! A process that has ended is kept as it is until it was looked at one last time: what it used in
//! all can be read that long, and its number belongs to nobody else.

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

/// How long a process that was asked to end may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Where programs are looked for beside the user's own folders: many servers are there.
const ADMIN_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/// Where pipx, Cargo and Go install programs, in the user's home: it is not always on the path.
const INSTALLERS_FOLDERS: [&str; 3] = [".local/bin", ".cargo/bin", "go/bin"];

/// A program with its arguments, and what it gets.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The program, as a path that was found.
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
    /// Where it runs.
    pub(crate) folder: &'a Path,
    pub(crate) cores: Option<&'a Cores>,
    /// Where its output goes, both streams.
    pub(crate) stdout: File,
    pub(crate) stderr: File,
}

/// A process that was started. It is ended when this goes away.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Pid,
    reaped: Option<ExitStatus>,
}

impl Process {
    /// Starts a process, and tells when it ends.
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
                // It is there until it was reaped, which is after this has told of it.
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

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it runs no more.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.reaped.is_some() || !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    /// Asks it and all in its group to end.
    pub(crate) fn ask(&self, signal: Signal) {
        if self.reaped.is_none() {
            // A group that has ended needs no asking.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Ends it with its whole group: it is asked first, and killed when it takes too long. Returns
    /// how it ended.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.reaped {
            return Ok(status);
        }
        self.ask(Signal::TERM);
        let until = Instant::now() + PATIENCE;
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
        // As long as it is not reaped its number is its own, and so is that of its group.
        self.ask(Signal::KILL);
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

/// A child has the cores of the thread that starts it.
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

/// A phrase for how a process ended, if it did not succeed.
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended for an unknown reason".to_owned(),
    }
}

/// Where a program is: itself if it is a path (which begins at `folder`), else as the shell would
/// find it or in the administrator's folders.
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
