//! The folders that everything is read from, and the errors of reading.

use loadline_record::watched::Why;
use procfs_core::process::{FDTarget, Stat};
use procfs_core::{ExplicitSystemInfo, FromRead, FromReadSI};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// `ESRCH`: a process ended while its file was open.
const NO_SUCH_PROCESS: i32 = 3;

/// The kernel's files: `/proc` and `/sys`, or folders of the same structure.
#[derive(Clone, Debug)]
pub struct Proc {
    proc: PathBuf,
    sys: PathBuf,
    system: ExplicitSystemInfo,
    /// True if these folders are the kernel's own.
    kernels: bool,
    /// The number of links of open files that were read.
    links: Arc<AtomicU64>,
}

/// The reason why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadFailure {
    /// The process is gone, or the kernel has no such file.
    Absent,
    /// The file exists, but cannot be read for this reason.
    Refused(Why),
}

impl Default for Proc {
    /// `/proc` and `/sys`.
    fn default() -> Self {
        Proc {
            kernels: true,
            ..Proc::at("/proc", "/sys")
        }
    }
}

impl Proc {
    /// Uses these folders instead of `/proc` and `/sys`.
    pub fn at(proc: impl Into<PathBuf>, sys: impl Into<PathBuf>) -> Self {
        let system = ExplicitSystemInfo {
            // Only times of day need it, and this crate reads none.
            boot_time_secs: 0,
            ticks_per_second: rustix::param::clock_ticks_per_second(),
            page_size: rustix::param::page_size() as u64,
            is_little_endian: cfg!(target_endian = "little"),
        };
        Proc {
            proc: proc.into(),
            sys: sys.into(),
            system,
            kernels: false,
            links: Arc::default(),
        }
    }

    /// True if other interfaces of the kernel describe the same system as these folders.
    pub(crate) fn is_kernels(&self) -> bool {
        self.kernels
    }

    /// True if a process has our network namespace, and the kernel can be queried about it.
    pub(crate) fn shares_network(&self, pid: u32) -> bool {
        let network = |process: &str| fs::read_link(self.proc.join(process).join("ns/net")).ok();
        let ours = network("self");
        self.kernels && ours.is_some() && ours == network(&pid.to_string())
    }

    /// Returns the path of a file of `/proc`.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.proc.join(file)
    }

    /// Returns the path of a file of a process.
    pub(crate) fn of(&self, pid: u32, file: &str) -> PathBuf {
        self.proc.join(pid.to_string()).join(file)
    }

    /// Returns the path of a file of `/sys`.
    pub(crate) fn sys(&self, file: &str) -> PathBuf {
        self.sys.join(file)
    }

    /// Reads the status line of a process; [`ReadFailure::Absent`] if it is gone.
    pub(crate) fn stat(&self, pid: u32) -> Result<Stat, ReadFailure> {
        parse(&self.of(pid, "stat"))
    }

    /// Returns the inode of the socket that a process has open under this number, if it is a
    /// socket.
    pub(crate) fn socket_at(&self, pid: u32, number: &OsStr) -> Option<u64> {
        self.links.fetch_add(1, Ordering::Relaxed);
        // The link of a file that was closed since the listing is absent.
        let link = fs::read_link(self.of(pid, "fd").join(number)).ok()?;
        match link.to_str()?.parse() {
            Ok(FDTarget::Socket(inode)) => Some(inode),
            _ => None,
        }
    }

    /// Returns the number of links of open files read so far: the largest cost if there are many.
    #[cfg(test)]
    pub(crate) fn links_read(&self) -> u64 {
        self.links.load(Ordering::Relaxed)
    }

    /// Returns the size of a process's file table: at least the number of its open files. 0 if it
    /// cannot be read.
    pub(crate) fn room_for_files(&self, pid: u32) -> u64 {
        let status = fs::read_to_string(self.of(pid, "status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
        line.and_then(|room| room.trim().parse().ok()).unwrap_or(0)
    }

    /// Reads and parses a file whose format depends on the machine.
    pub(crate) fn parse_for<T: FromReadSI>(&self, path: &Path) -> Result<T, ReadFailure> {
        let bytes = fs::read(path).map_err(|error| ReadFailure::because(&error))?;
        T::from_read(&bytes[..], &self.system).map_err(|_| ReadFailure::Refused(Why::Untold))
    }

    /// Converts ticks of the CPU's clock to nanoseconds.
    pub(crate) fn ticks_ns(&self, ticks: u64) -> u64 {
        let per_tick_ns = 1_000_000_000 / self.system.ticks_per_second.max(1);
        ticks.saturating_mul(per_tick_ns)
    }

    /// Converts pages of memory to bytes.
    pub(crate) fn pages_bytes(&self, pages: u64) -> u64 {
        pages.saturating_mul(self.system.page_size)
    }
}

/// Reads and parses a file.
pub(crate) fn parse<T: FromRead>(path: &Path) -> Result<T, ReadFailure> {
    let bytes = fs::read(path).map_err(|error| ReadFailure::because(&error))?;
    T::from_read(&bytes[..]).map_err(|_| ReadFailure::Refused(Why::Untold))
}

/// Reads a file as text.
pub(crate) fn text(path: &Path) -> Result<String, ReadFailure> {
    fs::read_to_string(path).map_err(|error| ReadFailure::because(&error))
}

/// Returns the names in a folder that are numbers: processes, threads, open files.
pub(crate) fn numbers_in(folder: &Path) -> Result<impl Iterator<Item = u32> + use<>, ReadFailure> {
    let entries = fs::read_dir(folder).map_err(|error| ReadFailure::because(&error))?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

impl ReadFailure {
    /// Classifies an error of the system.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    pub(crate) fn because(error: &io::Error) -> ReadFailure {
        match error.kind() {
            io::ErrorKind::PermissionDenied => ReadFailure::Refused(Why::Rights),
            io::ErrorKind::NotFound => ReadFailure::Absent,
            _ if error.raw_os_error() == Some(NO_SUCH_PROCESS) => ReadFailure::Absent,
            _ => ReadFailure::Refused(Why::Untold),
        }
    }

    /// Returns the reason for a file of the host, which may also not exist.
    pub(crate) fn why(self) -> Why {
        match self {
            ReadFailure::Absent => Why::Untold,
            ReadFailure::Refused(why) => why,
        }
    }
}
