//! The limits of this machine: descriptors and local ports.

use std::io;

/// The resource of this machine whose exhaustion prevented a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// File descriptors: this process's limit (EMFILE) or the machine's (ENFILE).
    Descriptors,
    /// Local ports for this target (EADDRNOTAVAIL of connect, see ip(7)).
    Ports,
}

impl Shortage {
    /// Returns the resource that ran out according to the system; `None` for any other error. The
    /// kernel has one error for the lack of a port and for a local address that this machine does
    /// not have: callers who know that it is the latter wrap it.
    pub fn of(error: &io::Error) -> Option<Shortage> {
        match error.raw_os_error()? {
            libc::EMFILE | libc::ENFILE => Some(Shortage::Descriptors),
            libc::EADDRNOTAVAIL => Some(Shortage::Ports),
            _ => None,
        }
    }
}

/// The error that the hard limit of open files is too low for the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFilesError {
    /// The number of descriptors that the plan needs.
    pub needed: u64,
    /// The most descriptors that this process may open.
    pub limit: u64,
}

impl std::fmt::Display for OpenFilesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OpenFilesError { needed, limit } = self;
        write!(
            f,
            "the plan needs {needed} open files and this process may have {limit}: raise the hard \
             limit (`ulimit -Hn`, or LimitNOFILE in a service) or ask for fewer connections"
        )
    }
}

impl std::error::Error for OpenFilesError {}

/// Raises the soft limit of open files to the hard one, and checks that it allows `needed`.
pub fn ensure_open_files(needed: u64) -> Result<(), OpenFilesError> {
    let limit = raise_open_files().unwrap_or(u64::MAX);
    if needed <= limit {
        Ok(())
    } else {
        Err(OpenFilesError { needed, limit })
    }
}

/// Raises the soft limit of open files to the hard one, and returns it.
///
/// # Errors
/// If the kernel refuses to read or raise the limit.
pub fn raise_open_files() -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit for the kernel to fill.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: `limit` is a valid rlimit for the kernel to read.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_known_by_the_systems_number() {
        let of = |number| Shortage::of(&io::Error::from_raw_os_error(number));
        assert_eq!(of(libc::EMFILE), Some(Shortage::Descriptors));
        assert_eq!(of(libc::ENFILE), Some(Shortage::Descriptors));
        assert_eq!(of(libc::EADDRNOTAVAIL), Some(Shortage::Ports));
        assert_eq!(of(libc::ECONNREFUSED), None);
        let explained = io::Error::new(io::ErrorKind::AddrNotAvailable, "no address of ours");
        assert_eq!(Shortage::of(&explained), None);
    }

    #[test]
    fn a_need_beyond_the_hard_limit_says_what_to_do() {
        assert_eq!(ensure_open_files(8), Ok(()));
        let error = ensure_open_files(u64::MAX).unwrap_err();
        assert_eq!(error.needed, u64::MAX);
        assert!(error.to_string().contains("ulimit -Hn"), "{error}");
    }
}
