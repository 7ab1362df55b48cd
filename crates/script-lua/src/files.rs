//! The files that a script reads before its load, which go with it to other processes.
//!
//! Where the load is sent elsewhere, the names of files are noted when they are opened for reading.
//! A process that received them keeps them as files without a name, which end with it; the script
//! finds them by the names that they had.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The most bytes of a script and its files.
const MOST_BYTES: u64 = 256 << 20;

/// The files that a script reads.
#[derive(Debug)]
pub(crate) enum Files {
    /// Those of this machine.
    Here,
    /// Those of this machine, whose names are noted.
    Noted(Mutex<BTreeSet<String>>),
    /// Those that came with the script, by their names.
    Received(BTreeMap<String, File>),
}

impl Files {
    /// Creates the files of a script whose load is sent elsewhere.
    pub(crate) fn noted() -> Files {
        Files::Noted(Mutex::default())
    }

    /// Creates the files that came with a script.
    ///
    /// # Errors
    /// If they can't be kept in the folder for temporary files.
    pub(crate) fn received(contents: BTreeMap<String, Vec<u8>>) -> io::Result<Files> {
        let keep = |(name, bytes): (String, Vec<u8>)| Ok((name, nameless(&bytes)?));
        let kept: io::Result<_> = contents.into_iter().map(keep).collect();
        Ok(Files::Received(kept?))
    }

    /// True if a script has to ask for the places of its files.
    pub(crate) fn are_placed(&self) -> bool {
        !matches!(self, Files::Here)
    }

    /// Returns the place of a file to be read; `None` if it should have come with the script and
    /// has not.
    pub(crate) fn place(&self, name: &str) -> Option<String> {
        match self {
            Files::Here => Some(name.to_owned()),
            Files::Noted(names) => {
                let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
                names.insert(name.to_owned());
                Some(name.to_owned())
            }
            Files::Received(files) => {
                let file = files.get(name)?;
                Some(format!("/proc/self/fd/{}", file.as_raw_fd()))
            }
        }
    }

    /// Returns the contents of the files that were noted and exist.
    ///
    /// # Errors
    /// The sentence about files that are too large together.
    pub(crate) fn contents(&self) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let Files::Noted(names) = self else {
            return Ok(BTreeMap::new());
        };
        let names = names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut contents = BTreeMap::new();
        let mut left = MOST_BYTES;
        for name in names.iter().filter(|name| Path::new(name).is_file()) {
            let Ok(bytes) = fs::read(name) else {
                continue;
            };
            left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
                let most = MOST_BYTES >> 20;
                format!(
                    "the files that the script reads are more than {most} MiB, up to {name}; have \
                     it read less, or run it in one process."
                )
            })?;
            contents.insert(name.clone(), bytes);
        }
        Ok(contents)
    }
}

/// Creates a file with these contents that has no name: it is gone when its last user is.
fn nameless(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_files_are_found_elsewhere_by_their_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.txt");
        fs::write(&path, "a\nb\n").expect("a file");
        let name = path.to_str().expect("UTF-8");
        let noted = Files::noted();
        assert_eq!(noted.place(name).as_deref(), Some(name));
        noted.place("no such file");
        let contents = noted.contents().expect("little");
        assert_eq!(contents.keys().collect::<Vec<_>>(), [name]);
        drop(folder);
        let received = Files::received(contents).expect("files");
        let place = received.place(name).expect("the file");
        for _ in 0..2 {
            assert_eq!(fs::read_to_string(&place).expect("the file"), "a\nb\n");
        }
        assert_eq!(received.place("no such file"), None);
    }

    #[test]
    fn files_of_this_machine_stay_where_they_are() {
        assert!(!Files::Here.are_placed());
        assert_eq!(Files::Here.place("a").as_deref(), Some("a"));
        assert!(Files::Here.contents().expect("none").is_empty());
    }
}
