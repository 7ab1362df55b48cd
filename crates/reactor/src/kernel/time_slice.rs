//! How soon a worker that wakes up has its core.
//!
//! A thread that computes keeps its core for some milliseconds (its slice) before one that wakes up
//! has its turn, unless that one has requested a shorter slice. What Loadline does beside the load,
//! once a second, and what other programs do would so delay requests for milliseconds.

use std::io;
use std::mem::{size_of, zeroed};

/// The slice of a worker, the shortest that the kernel grants.
const SLICE_NS: u64 = 100_000;

/// What sched_setattr(2) reads, in its first version.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    niceness: i32,
    priority: u32,
    /// Of a usual thread its slice, since Linux 6.12; ignored before.
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// Requests a short slice for the calling thread, and those that it starts from now on. Where the
/// system refuses, or the thread is not a usual one, nothing changes.
pub(super) fn shorten_time_slice() {
    let usual = u32::try_from(libc::SCHED_OTHER);
    if let Ok(mut attributes) = attributes()
        && usual == Ok(attributes.policy)
    {
        attributes.runtime_ns = SLICE_NS;
        // SAFETY: the kernel reads as many bytes as `size` says; 0 means the calling thread.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}

fn attributes() -> io::Result<Attributes> {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut attributes: Attributes = unsafe { zeroed() };
    let size = size_of::<Attributes>();
    // SAFETY: the kernel writes `size` bytes at most; 0 means the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
    match result {
        0 => Ok(attributes),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn changed() -> (Attributes, Attributes) {
        let before = attributes().expect("every thread has some");
        shorten_time_slice();
        (before, attributes().expect("every thread has some"))
    }

    #[test]
    fn only_the_slice_of_the_calling_thread_is_shorter() {
        let (before, after) = thread::spawn(changed).join().expect("ends");
        // Before Linux 6.12 a thread has no slice of its own.
        let expected = if before.runtime_ns == 0 { 0 } else { SLICE_NS };
        assert_eq!(after.runtime_ns, expected);
        assert_eq!(
            (after.policy, after.niceness, after.flags),
            (before.policy, before.niceness, before.flags)
        );
        assert_eq!(attributes().expect("own").runtime_ns, before.runtime_ns);
    }
}
