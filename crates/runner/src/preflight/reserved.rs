//! Files that are opened before anything is sent, so that one that can't be written is said at
//! once. The run may not start, so what a file holds is left, and a file that was not there is
//! taken away again.
//!
//! A pipe is opened once and stays open: its reader takes our closing it for the end, and opening
//! it again would wait for another reader.

use super::destination::Destination;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that can be written, and is not yet.
#[derive(Debug)]
pub struct Reserved {
    file: Option<File>,
    /// Whether it is a file that is written from its begin, in place of what it holds.
    is_file: bool,
    /// Where the file is if it was made for this, to be taken away if nothing comes of it.
    new: Option<PathBuf>,
}

/// A file can't be written.
#[derive(Debug, thiserror::Error)]
#[error("{} can't be written", .path.display())]
pub struct Unwritable {
    /// The file.
    pub path: PathBuf,
    /// Why it can't be written.
    pub source: io::Error,
}

/// What is reserved by the whole process.
#[derive(Debug, Default)]
struct All {
    /// Files that were made and hold nothing yet.
    new: Vec<PathBuf>,
    /// Pipes, and whatever else is no file, by their paths.
    streams: Option<HashMap<PathBuf, File>>,
}

static ALL: Mutex<All> = Mutex::new(All {
    new: Vec::new(),
    streams: None,
});

impl Reserved {
    /// Opens or makes this file.
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

    /// Whether it is a file, and no pipe, device or descriptor of this process.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// The file as it is, which is written now.
    #[must_use]
    pub fn take(mut self) -> File {
        self.keep();
        self.file.take().expect("it is taken only once")
    }

    /// The file, which is written now, in place of what it holds.
    #[must_use]
    pub fn take_empty(self) -> File {
        let is_file = self.is_file;
        let file = self.take();
        if is_file {
            // One that can't be made shorter has nothing to lose.
            let _ = file.set_len(0);
        }
        file
    }

    /// From now on the file stays.
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

/// Takes away the files that were made and hold nothing yet: the process ends here.
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
    // No other process is kept waiting: a pipe is open when it has a reader.
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
