//! The folder of a study's results: a file that says whose it is, and one for each run.

use crate::expand::Run;
use crate::saved::{SavedError, SavedRun};
use crate::study::Study;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that says whose results these are.
const MARK: &str = "study.json";
/// The folder of what is only needed while a run lasts.
const WORK: &str = "work";

/// The folder of a study's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// What was not there before a folder was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// It and those above it, from below.
    folders: Vec<PathBuf>,
    /// Whether its mark was not there either.
    marked: bool,
}

/// What the file says.
#[derive(Serialize, Deserialize)]
struct Mark {
    study: String,
}

/// A folder that can't take the results.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It can't be read or written.
    #[error("{} can't be used for results: {source}.", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It has the results of another study.
    #[error(
        "{} has the results of the study {theirs}, not of {ours}; name another folder with \
         --results.",
        path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The study that they are of.
        theirs: String,
        /// The study that they are not of.
        ours: String,
    },
    /// It has files that no study wrote.
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
    /// Takes a folder for the results of a study. Nothing is written yet.
    ///
    /// # Errors
    /// If it has anything else in it, or can't be read.
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

    /// Makes it, and marks it as the study's. What was not there before is told.
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

    /// Takes back what was made, where nothing came to stand beside it.
    pub(crate) fn unmake(&self, made: &Made) {
        let entries = fs::read_dir(&self.path).map(Iterator::count);
        // What can't be removed is an empty folder or a mark, which the next study takes over.
        if made.marked && matches!(entries, Ok(1)) {
            let _ = fs::remove_file(self.path.join(MARK));
        }
        for folder in &made.folders {
            let _ = fs::remove_dir(folder);
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a run.
    pub fn run(&self, run: &Run) -> PathBuf {
        self.file(&run.name, run.repeat)
    }

    /// The file of a repeat of the run of this name.
    pub(crate) fn file(&self, name: &str, repeat: u32) -> PathBuf {
        self.path.join(format!("{name}.{repeat}.jsonl"))
    }

    /// The result of each of these runs, of those that were made, in their order.
    ///
    /// # Errors
    /// If a file is there and can't be read.
    pub fn saved(&self, runs: &[Run]) -> Result<Vec<SavedRun>, SavedError> {
        let paths = runs.iter().map(|run| self.run(run));
        let there = paths.filter(|path| path.exists());
        there.map(|path| SavedRun::read(&path)).collect()
    }

    /// A folder for what is only needed while something runs.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.path.join(WORK).join(name)
    }

    /// Nothing runs any more.
    pub(crate) fn clear_work(&self) {
        // What stays is written over by the next study.
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
