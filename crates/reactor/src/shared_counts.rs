//! Counts that the processes of one machine share.
//!
//! They lie in memory without a name in the file system. Another process opens it through the
//! descriptor of the process that made it, in `/proc`; the memory is freed with the last of them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

/// Counts that processes share, each 0 at first.
#[derive(Debug)]
pub struct SharedCounts {
    first: NonNull<AtomicU64>,
    number: usize,
    file: File,
}

// SAFETY: the memory is only used as atomic numbers, and mapped until the value is dropped.
unsafe impl Send for SharedCounts {}
// SAFETY: as above.
unsafe impl Sync for SharedCounts {}

impl SharedCounts {
    /// Creates this many counts.
    ///
    /// # Errors
    /// The system's reason, if it provides no memory for them; also if they are none.
    pub fn create(number: usize) -> io::Result<Self> {
        let name = c"loadline-counts";
        // SAFETY: the name ends with zero and is only read.
        let made = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made, and nothing else owns it.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(made) });
        file.set_len(size(number) as u64)?;
        Self::map(file, number)
    }

    /// Opens the counts of another process, which are this many.
    ///
    /// # Errors
    /// The system's reason, if they can't be opened; also if the file has another size.
    pub fn open(place: &Path, number: usize) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(place)?;
        if file.metadata()?.len() != size(number) as u64 {
            return Err(io::Error::other("it has another number of counts"));
        }
        Self::map(file, number)
    }

    /// Returns the path at which other processes open the counts, as long as this process has them.
    pub fn place(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Returns the count with this number, from 0.
    ///
    /// # Panics
    /// When there is no such count.
    pub fn count(&self, nth: usize) -> &AtomicU64 {
        assert!(nth < self.number, "there is no count {nth}");
        // SAFETY: the memory has `number` counts, is aligned to a page, and stays mapped as long
        // as `self`. Zeros are a valid atomic number.
        unsafe { self.first.add(nth).as_ref() }
    }

    fn map(file: File, number: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, at a place that the kernel chooses, of a file of this size.
        let first = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size(number),
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if first == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let first = NonNull::new(first.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(SharedCounts {
            first,
            number,
            file,
        })
    }
}

impl Drop for SharedCounts {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this size, and no reference to it outlives `self`.
        unsafe { libc::munmap(self.first.as_ptr().cast(), size(self.number)) };
    }
}

/// Returns the size of this many counts in bytes.
fn size(number: usize) -> usize {
    number * size_of::<AtomicU64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;

    #[test]
    fn whoever_opens_the_counts_counts_on() {
        let made = SharedCounts::create(3).expect("memory");
        let opened = SharedCounts::open(&made.place(), 3).expect("the same memory");
        assert_eq!(opened.count(2).load(Relaxed), 0);
        thread::scope(|scope| {
            for counts in [&made, &opened] {
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        counts.count(2).fetch_add(1, Relaxed);
                    }
                });
            }
        });
        drop(made);
        assert_eq!(opened.count(2).load(Relaxed), 20_000);
        assert_eq!(opened.count(1).load(Relaxed), 0);
    }

    #[test]
    fn what_is_not_these_counts_is_refused() {
        let made = SharedCounts::create(3).expect("memory");
        let place = made.place();
        let error = SharedCounts::open(&place, 4).expect_err("another number");
        assert_eq!(error.to_string(), "it has another number of counts");
        drop(made);
        assert!(SharedCounts::open(Path::new("/proc/self/fd/none"), 3).is_err());
        assert!(SharedCounts::create(0).is_err(), "nothing to share");
    }

    #[test]
    #[should_panic(expected = "there is no count 3")]
    fn a_count_beyond_the_last_is_refused() {
        let _ = SharedCounts::create(3).expect("memory").count(3);
    }
}
