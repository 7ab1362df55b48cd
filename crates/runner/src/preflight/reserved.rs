//! Files that are opened before anything is sent, so that an unwritable file is reported at once.
//! The run may not start, so the content of a file is kept, and a file that did not exist is
//! removed again.
//!
//! A pipe is opened once and stays open: its reader takes a close for the end, and opening it again
//! would wait for another reader.

use super::destination::Destination;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A writable file to which nothing was written yet.
#[derive(Debug)]
pub struct Reserved {
    file: Option<File>,
    /// True for a regular file, which is written from its begin, in place of its content.
    is_file: bool,
    /// The path of a file that was created for this, to be removed if it is not used.
    new: Option<PathBuf>,
}

/// The error of a file that can't be written.
#[derive(Debug, thiserror::Error)]
#[error("{} can't be written", .path.display())]
pub struct Unwritable {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason why it can't be written.
    pub source: io::Error,
}

/// The reserved files of the whole process.
#[derive(Debug, Default)]
struct All {
    /// Files that were created and are still empty.
    new: Vec<PathBuf>,
    /// Pipes and other special files, by their paths.
    streams: Option<HashMap<PathBuf, File>>,
}

static ALL: Mutex<All> = Mutex::new(All {
    new: Vec::new(),
    streams: None,
});

impl Reserved {
    /// Opens or creates this file.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn open(path: &Path) -> Result<Self, Unwritable> {
        let reserve = || match Destination::of(path)? {
            Destination::File(_) => Reserved::file(path),
            Destination::Descriptor(file) => Ok(Reserved::stream(file)),
            Destination::Stream(stream) => open_once(&stream).map(Reserved::stream),
        };
        reserve().map_err(|source| Unwritable {
            path: path.to_owned(),
            source,
        })
    }

    fn file(path: &Path) -> io::Result<Self> {
        let is_new = path.symlink_metadata().is_err();
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        if is_new {
            all().new.push(path.to_owned());
        }
        Ok(Reserved {
            file: Some(file),
            is_file: true,
            new: is_new.then(|| path.to_owned()),
        })
    }

    fn stream(file: File) -> Self {
        Reserved {
            file: Some(file),
            is_file: false,
            new: None,
        }
    }

    /// True for a regular file; false for a pipe, a device or a descriptor of this process.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Returns the file with its content, to be written now.
    #[must_use]
    pub fn take(mut self) -> File {
        self.keep();
        self.file.take().expect("it is taken only once")
    }

    /// Returns the file without its content, to be written now.
    #[must_use]
    pub fn take_empty(self) -> File {
        let is_file = self.is_file;
        let file = self.take();
        if is_file {
            // A file that can't be truncated has nothing to lose.
            let _ = file.set_len(0);
        }
        file
    }

    /// Keeps the file from now on.
    fn keep(&mut self) -> Option<PathBuf> {
        let path = self.new.take()?;
        all().new.retain(|new| *new != path);
        Some(path)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(path) = self.keep() {
            // Nothing is lost if it stays.
            let _ = remove_file(path);
        }
    }
}

/// Removes the files that were created and are still empty, because the process ends here.
pub fn discard_all() {
    for path in std::mem::take(&mut all().new) {
        // Nothing is lost if it stays.
        let _ = remove_file(path);
    }
}

fn open_once(path: &Path) -> io::Result<File> {
    if let Some(open) = all().streams.get_or_insert_default().get(path) {
        return open.try_clone();
    }
    // Opened without the lock, so that no other thread waits: opening a pipe waits for a reader.
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let copy = opened.try_clone()?;
    let mut all = all();
    let streams = all.streams.get_or_insert_default();
    streams.insert(path.to_owned(), copy);
    Ok(opened)
}

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_there_goes_and_what_was_stays_unless_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("there"), "old").unwrap();
        for name in ["there", "new"] {
            drop(Reserved::open(&at(name)).unwrap());
        }
        assert_eq!(std::fs::read(at("there")).unwrap(), b"old");
        assert!(!at("new").exists());
        drop(Reserved::open(&at("taken")).unwrap().take());
        assert!(at("taken").exists());
        drop(Reserved::open(&at("there")).unwrap().take_empty());
        assert_eq!(std::fs::read(at("there")).unwrap(), b"");
        let refused = Reserved::open(&at("no/such/folder")).unwrap_err();
        assert!(refused.to_string().ends_with("can't be written"));
    }

    #[test]
    fn a_device_is_opened_once_and_never_emptied() {
        let null = Reserved::open(Path::new("/dev/null")).unwrap();
        assert!(!null.is_file());
        drop(null.take_empty());
        assert!(
            all()
                .streams
                .as_ref()
                .unwrap()
                .contains_key(Path::new("/dev/null"))
        );
    }
}
