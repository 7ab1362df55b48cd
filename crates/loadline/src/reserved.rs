//! Files that are opened before anything is sent, so that one that can't be written is said at
//! once. The run may not start, so what a file holds is left, and a file that was not there is
//! taken away again.

use anyhow::{Context, Result};
use std::fs::{File, OpenOptions, remove_file};
use std::path::{Path, PathBuf};

/// A file that can be written, and is not yet.
#[derive(Debug)]
pub(crate) struct Reserved {
    file: Option<File>,
    /// Where the file is if it was made for this, to be taken away if nothing comes of it.
    new: Option<PathBuf>,
}

impl Reserved {
    /// Opens or makes this file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let is_new = path.symlink_metadata().is_err();
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        Ok(Reserved {
            file: Some(opened.with_context(|| format!("{} can't be written", path.display()))?),
            new: is_new.then(|| path.to_owned()),
        })
    }

    /// The file, which is written now.
    pub(crate) fn take(mut self) -> File {
        self.new = None;
        self.file.take().expect("it is taken only once")
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(path) = &self.new {
            // Nothing is lost if it stays.
            let _ = remove_file(path);
        }
    }
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
        let refused = Reserved::open(&at("no/such/folder")).unwrap_err();
        assert!(refused.to_string().ends_with("can't be written"));
    }
}
