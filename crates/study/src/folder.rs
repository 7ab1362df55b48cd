//! The folder of a study's results: a file that names the study, and a file for each run.

use crate::expand::Run;
use crate::saved::{SavedError, SavedRun};
use crate::study::Study;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that names the study.
const MARK: &str = "study.json";
/// The folder of files that are only needed during a run.
const WORK: &str = "work";

/// The folder of a study's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// The files and folders that the making of a folder added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// The new folders: the results' folder first, then those above it.
    folders: Vec<PathBuf>,
    /// True if the file that names the study was new, too.
    marked: bool,
}

/// The content of the file that names the study.
#[derive(Serialize, Deserialize)]
struct Mark {
    study: String,
}

/// The error of a folder that cannot hold the results.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder cannot be read or written.
    #[error("{} can't be used for results: {source}.", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folder has the results of another study.
    #[error(
        "{} has the results of the study {theirs}, not of {ours}; name another folder with \
         --results.",
        path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The study of these results.
        theirs: String,
        /// The current study.
        ours: String,
    },
    /// The folder has files that no study wrote.
    #[error(
        "{} is not empty and has no results of a study; name another folder with --results.",
        path.display()
    )]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

impl Folder {
    /// Selects a folder for the results of a study. Nothing is written yet.
    ///
    /// # Errors
    /// If the folder has other files in it, or cannot be read.
    pub fn open(path: &Path, study: &Study) -> Result<Folder, FolderError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let io = |source| FolderError::Io {
            path: path.clone(),
            source,
        };
        match fs::read_to_string(path.join(MARK)) {
            Ok(text) => check(&path, &text, study)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.exists() && fs::read_dir(&path).map_err(io)?.next().is_some() {
                    return Err(FolderError::NotEmpty { path });
                }
            }
            Err(error) => return Err(io(error)),
        }
        Ok(Folder { path })
    }

    /// Makes the folder, and writes the name of the study into it. Returns what was added.
    pub(crate) fn make(&self, study: &Study) -> Result<Made, FolderError> {
        let io = |source| FolderError::Io {
            path: self.path.clone(),
            source,
        };
        let is_new = |path: &&Path| !path.exists();
        let folders = self.path.ancestors().take_while(is_new);
        let made = Made {
            folders: folders.map(Path::to_owned).collect(),
            marked: !self.path.join(MARK).exists(),
        };
        fs::create_dir_all(&self.path).map_err(io)?;
        let mark = Mark {
            study: study.name.clone(),
        };
        let text = serde_json::json!(mark).to_string() + "\n";
        fs::write(self.path.join(MARK), text).map_err(io)?;
        Ok(made)
    }

    /// Removes what was added, unless there are results by now.
    pub(crate) fn unmake(&self, made: &Made) {
        let entries = fs::read_dir(&self.path).map(Iterator::count);
        // An empty folder or a mark that cannot be removed is used by the next study.
        if made.marked && matches!(entries, Ok(1)) {
            let _ = fs::remove_file(self.path.join(MARK));
        }
        for folder in &made.folders {
            let _ = fs::remove_dir(folder);
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file of a run.
    pub fn run(&self, run: &Run) -> PathBuf {
        self.file(&run.name, run.repeat)
    }

    /// Returns the file of a repeat of the run with this name.
    pub(crate) fn file(&self, name: &str, repeat: u32) -> PathBuf {
        self.path.join(format!("{name}.{repeat}.jsonl"))
    }

    /// Returns the results of those of these runs that were made, in their order.
    ///
    /// # Errors
    /// If a file exists and cannot be read.
    pub fn saved(&self, runs: &[Run]) -> Result<Vec<SavedRun>, SavedError> {
        let paths = runs.iter().map(|run| self.run(run));
        let there = paths.filter(|path| path.exists());
        there.map(|path| SavedRun::read(&path)).collect()
    }

    /// Returns the folder of files that are only needed while something runs.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.path.join(WORK).join(name)
    }

    /// Removes the files that were needed while something ran.
    pub(crate) fn clear_work(&self) {
        // Files that cannot be removed are overwritten by the next study.
        let _ = fs::remove_dir_all(self.path.join(WORK));
    }
}

fn check(path: &Path, text: &str, study: &Study) -> Result<(), FolderError> {
    match serde_json::from_str::<Mark>(text) {
        Ok(Mark { study: theirs }) if theirs == study.name => Ok(()),
        Ok(Mark { study: theirs }) => Err(FolderError::Foreign {
            path: path.to_owned(),
            theirs,
            ours: study.name.clone(),
        }),
        Err(_) => Err(FolderError::NotEmpty {
            path: path.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(name: &str) -> Study {
        let text = format!(
            "name = \"{name}\"\n[[target]]\nname = \"t\"\nurl = \"http://127.0.0.1:1/\"\n\
             [[runs]]\ntool = \"wrk\"\nduration = \"1s\""
        );
        Study::parse(Path::new("s.toml"), &text).unwrap()
    }

    #[test]
    fn a_folder_belongs_to_one_study() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let folder = Folder::open(&path, &study("one")).unwrap();
        assert!(!path.exists(), "nothing is written by opening");
        folder.make(&study("one")).unwrap();
        assert_eq!(Folder::open(&path, &study("one")).unwrap(), folder);
        let refused = Folder::open(&path, &study("two")).unwrap_err().to_string();
        let sentence = "has the results of the study one, not of two; name another folder with \
                        --results.";
        assert!(refused.ends_with(sentence), "{refused}");
    }

    #[test]
    fn a_folder_with_other_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "precious").unwrap();
        let refused = Folder::open(folder.path(), &study("one")).unwrap_err();
        assert!(matches!(refused, FolderError::NotEmpty { .. }), "{refused}");
        fs::write(folder.path().join(MARK), "no JSON").unwrap();
        let refused = Folder::open(folder.path(), &study("one")).unwrap_err();
        assert!(matches!(refused, FolderError::NotEmpty { .. }), "{refused}");
    }
}
