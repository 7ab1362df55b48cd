//! A run that was made, as a file of JSON Lines.
//!
//! The first line describes the run, the last one holds its result; between them is a line for each
//! second that was sampled, written during the run, so that memory does not grow with its length. A
//! file gets its name after its last line was written: a file with that name is complete.

use crate::figures::Figures;
use crate::identity::{self, Identity};
use crate::meter::{Averages, Second};
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The version of the format.
const FORMAT: u32 = 1;

/// The description of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub format: u32,
    /// The run's name, which its repeats share.
    pub name: String,
    /// The number of the repeat, from 1.
    pub repeat: u32,
    /// The settings.
    pub settings: Settings,
    /// Everything that determines the run; if any part differs, it is another run. `None` if the
    /// file has it in another form.
    #[serde(deserialize_with = "identity::read")]
    pub identity: Option<Identity>,
    /// The start of the tool, in UTC (RFC 3339).
    pub started_at: String,
    /// The command line of the tool.
    pub command: Vec<String>,
    /// The warm-up of the target, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Warmed>,
}

/// The course of a target's warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warmed {
    /// The length in seconds.
    pub length_s: f64,
    /// True if the target was steady at the end.
    pub is_steady: bool,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The reason of the failure, as a phrase; `None` if the run did not fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The figures of the tool, if it reported any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// The usage of tool, target and host.
    pub averages: Averages,
    /// The standard output of the tool; of a long output, beginning and end.
    pub stdout: String,
    /// The standard error of the tool; of a long output, beginning and end.
    pub stderr: String,
}

/// A run that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRun {
    /// The description of the run.
    pub header: Header,
    /// The result of the run.
    pub outcome: Outcome,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Run(Box<Header>),
    Second(Second),
    End(Box<Outcome>),
}

/// The error of a saved run that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// The file cannot be read or written.
    #[error("{} can't be used: {source}.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a saved run of a study.
    #[error(
        "{} is not a run of a study: {problem}. Move it away, or run the study with --redo.",
        path.display()
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
}

impl Header {
    /// Creates the header of a run that starts now.
    pub(crate) fn new(
        (name, repeat): (String, u32),
        settings: Settings,
        identity: Option<Identity>,
        command: Vec<String>,
    ) -> Header {
        Header {
            format: FORMAT,
            name,
            repeat,
            settings,
            identity,
            started_at: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            command,
            warm_up: None,
        }
    }
}

impl SavedRun {
    /// Reads a file, without its seconds.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a complete saved run.
    pub fn read(path: &Path) -> Result<SavedRun, SavedError> {
        SavedRun::read_with(path, |_| ())
    }

    /// Reads a file, and passes each of its seconds to `each`.
    ///
    /// # Errors
    /// As [`SavedRun::read`].
    pub fn read_with(path: &Path, mut each: impl FnMut(Second)) -> Result<SavedRun, SavedError> {
        let io = |source| SavedError::Io {
            path: path.to_owned(),
            source,
        };
        let content = |problem: &str| SavedError::Content {
            path: path.to_owned(),
            problem: problem.to_owned(),
        };
        let (mut header, mut outcome) = (None, None);
        for line in BufReader::new(File::open(path).map_err(io)?).lines() {
            let line = serde_json::from_str(&line.map_err(io)?);
            match line.map_err(|error| content(&error.to_string()))? {
                Line::Run(run) if run.format != FORMAT => {
                    return Err(content("another version wrote it"));
                }
                Line::Run(run) => header = Some(*run),
                Line::Second(second) => each(second),
                Line::End(end) => outcome = Some(*end),
            }
        }
        Ok(SavedRun {
            header: header.ok_or_else(|| content("it does not say what was run"))?,
            outcome: outcome.ok_or_else(|| content("its end is missing"))?,
        })
    }
}

/// Writes a run during the run.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
}

impl Writer {
    /// Creates the file of a run.
    pub(crate) fn begin(path: &Path, header: Header) -> Result<Writer, SavedError> {
        let partial = path.with_extension("partial");
        let file = File::create(&partial).map_err(|source| SavedError::Io {
            path: partial.clone(),
            source,
        })?;
        let mut writer = Writer {
            path: path.to_owned(),
            partial,
            file: BufWriter::new(file),
        };
        writer.line(&Line::Run(Box::new(header)))?;
        Ok(writer)
    }

    /// Adds a second.
    pub(crate) fn second(&mut self, second: Second) -> Result<(), SavedError> {
        self.line(&Line::Second(second))
    }

    /// Completes the file and gives it its name.
    pub(crate) fn end(mut self, outcome: Outcome) -> Result<(), SavedError> {
        self.line(&Line::End(Box::new(outcome)))?;
        let finished = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.partial, &self.path));
        finished.map_err(|source| self.error(source))
    }

    /// Discards the file.
    pub(crate) fn discard(self) {
        // A file that cannot be removed is overwritten by the next attempt.
        let _ = fs::remove_file(&self.partial);
    }

    fn line(&mut self, line: &Line) -> Result<(), SavedError> {
        let written = serde_json::to_writer(&mut self.file, line).map_err(io::Error::from);
        let written = written.and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> SavedError {
        SavedError::Io {
            path: self.partial.clone(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::PinIdentity;

    pub(crate) fn header() -> Header {
        let settings = Settings {
            tool: "wrk".to_owned(),
            connections: Some(10),
            ..Settings::default()
        };
        let identity = Identity {
            settings: settings.clone(),
            tool: Some(vec!["wrk".to_owned()]),
            target: None,
            pin: PinIdentity::default(),
            against: None,
            backends: Vec::new(),
            warm_up: None,
        };
        let command = vec!["/usr/bin/wrk".to_owned()];
        let name = ("wrk-c10".to_owned(), 2);
        Header::new(name, settings, Some(identity), command)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.2.jsonl");
        let (header, outcome) = (
            header(),
            Outcome {
                failure: Some("it ended with exit code 1".to_owned()),
                stdout: "two\nlines".to_owned(),
                ..Outcome::default()
            },
        );
        let mut writer = Writer::begin(&path, header.clone()).unwrap();
        let second = Second {
            at_s: 1.0,
            length_s: 1.0,
            ..Second::default()
        };
        writer.second(second).unwrap();
        assert!(!path.exists(), "a run that is not over has no file");
        writer.end(outcome.clone()).unwrap();
        let mut seconds = Vec::new();
        let read = SavedRun::read_with(&path, |second| seconds.push(second)).unwrap();
        assert_eq!(read, SavedRun { header, outcome });
        assert_eq!(seconds, [second]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_whole_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for (text, problem) in [
            ("", "it does not say what was run"),
            ("{}\n", "expected value"),
            ("no JSON\n", "expected"),
        ] {
            fs::write(&path, text).unwrap();
            let error = SavedRun::read(&path).unwrap_err().to_string();
            assert!(
                error.contains(problem) || problem == "expected value",
                "{error}"
            );
        }
        let mut writer = Writer::begin(&path, header()).unwrap();
        writer.second(Second::default()).unwrap();
        drop(writer);
        let error = SavedRun::read(&path.with_extension("partial")).unwrap_err();
        assert!(error.to_string().contains("its end is missing"), "{error}");
    }
}

/// Saved runs for tests.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;
    use crate::figures::Percentiles;
    use crate::meter::Mean;
    use std::time::Duration;

    fn run(name: &str, repeat: u32, outcome: Outcome) -> SavedRun {
        let settings = Settings {
            tool: name.split('-').next().unwrap_or_default().to_owned(),
            target: "nginx".to_owned(),
            connections: Some(10),
            duration: Some(Duration::from_millis(1_500)),
            ..Settings::default()
        };
        let mut header = Header::new((name.to_owned(), repeat), settings, None, vec![]);
        header.started_at = "2024-05-06T07:08:09Z".to_owned();
        SavedRun { header, outcome }
    }

    /// Returns a successful run with this many requests per second.
    pub(crate) fn done(name: &str, repeat: u32, rps: f64) -> SavedRun {
        let figures = Figures {
            rps,
            answers: Some(10_000),
            errors: Some(3),
            mean_us: Some(150.5),
            percentiles: Percentiles {
                p50_us: Some(109.0),
                p99_us: Some(10_850.0),
                ..Percentiles::default()
            },
            ..Figures::default()
        };
        let tool = Mean {
            cpu_s: Some(0.5),
            cpu_percent: Some(33.3),
            memory_kb: Some(5_120.0),
            max_memory_kb: Some(6_000.0),
            sockets: Some(10.5),
        };
        let averages = Averages {
            elapsed_s: 1.5,
            tool,
            target: Some(tool),
            bandwidth_kb_per_s: Some(800.25),
            ..Averages::default()
        };
        let outcome = Outcome {
            figures: Some(figures),
            averages,
            ..Outcome::default()
        };
        run(name, repeat, outcome)
    }

    /// Returns a failed run.
    pub(crate) fn failed(name: &str, repeat: u32) -> SavedRun {
        let outcome = Outcome {
            failure: Some("it ended with exit code 1".to_owned()),
            ..Outcome::default()
        };
        run(name, repeat, outcome)
    }
}
