//! Writes a saved run while the run lasts.

use super::encoding::Encoder;
use super::header::Header;
use super::line::{
    Annotations, changes_line, declared_line, header_line, interval_line, notes_line, search_line,
    summary_line,
};
use super::reader::RunFile;
use super::search::SavedOutcome;
use crate::watched::Watched;
use crate::{DeclaredCheck, Error, LoadChange, Note, Snapshot, Summary};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Writes a run line by line.
///
/// Each line is written completely, in one unbuffered call, so that a killed run leaves a readable
/// file. After an error nothing more should be written.
pub struct RunWriter<W: Write> {
    path: PathBuf,
    output: W,
    encoder: Encoder,
    /// The number of changes of the load that the intervals contain.
    written_changes: usize,
    /// The number of notes that the intervals contain.
    written_notes: usize,
}

impl RunWriter<File> {
    /// Creates this file, or empties an existing one, and writes the header.
    pub fn create(path: &Path, header: &Header) -> Result<RunWriter<File>, Error> {
        let output = File::create(path).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
        RunWriter::new(path, output, header)
    }

    /// Appends a run to those in this file, beginning with its header. The file is created if there
    /// is none; a last line that was cut off (of a run that was killed) is removed.
    pub fn append(path: &Path, header: &Header) -> Result<RunWriter<File>, Error> {
        let output = open_behind(path).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
        RunWriter::new(path, output, header)
    }
}

impl RunFile {
    /// Writes the run into this file; an existing one is emptied.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut writer = RunWriter::create(path, &self.header)?;
        for interval in &self.intervals {
            writer.interval(&interval.decoded())?;
        }
        writer.finish(&self.summary).map(drop)
    }
}

/// Appends the outcome of a search to the file that holds its trials.
pub fn append_search(path: &Path, outcome: &SavedOutcome) -> Result<(), Error> {
    let written = open_behind(path).and_then(|mut file| file.write_all(&search_line(outcome)));
    written.map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

/// Appends notes to a saved run whose writer has ended; they are on its last run.
///
/// # Errors
/// If there is no such file, or it can't be written.
pub fn append_notes(path: &Path, notes: &[Note]) -> Result<(), Error> {
    append_late(path, &notes_line(notes))
}

/// Appends changes of the load to a saved run whose writer has ended, and did not know of them;
/// they belong to its last run.
///
/// # Errors
/// If there is no such file, or it can't be written.
pub fn append_changes(path: &Path, changes: &[LoadChange]) -> Result<(), Error> {
    append_late(path, &changes_line(changes))
}

/// Appends a condition that a tool judged when its run had ended to a saved run whose writer has
/// ended; it belongs to the last run.
///
/// # Errors
/// If there is no such file, or it can't be written.
pub fn append_declared(path: &Path, check: &DeclaredCheck) -> Result<(), Error> {
    append_late(path, &declared_line(check))
}

fn append_late(path: &Path, line: &[u8]) -> Result<(), Error> {
    let append = || match path.metadata()?.is_file() {
        true => open_behind(path)?.write_all(line),
        false => Err(io::Error::other("it is no file, and nothing can be added")),
    };
    append().map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

/// Opens a file to write after its last complete line.
fn open_behind(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    // A pipe has no earlier lines.
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    let end = end_of_last_line(&mut file)?;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok(file)
}

/// Returns the end of the last complete line of a file, in bytes from its start.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut bytes = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        bytes.clear();
        file.take(end - start).read_to_end(&mut bytes)?;
        if let Some(index) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + index as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

impl<W: Write> RunWriter<W> {
    /// Begins a run in this output with its header; the path is for messages. An output that
    /// [`finish`](RunWriter::finish) returned accepts the next run of a series.
    pub fn new(path: &Path, output: W, header: &Header) -> Result<RunWriter<W>, Error> {
        let mut writer = RunWriter {
            path: path.to_owned(),
            output,
            encoder: Encoder::new(),
            written_changes: 0,
            written_notes: 0,
        };
        writer.write(&header_line(header))?;
        Ok(writer)
    }

    /// Adds one interval of the measured part.
    pub fn interval(&mut self, interval: &Snapshot) -> Result<(), Error> {
        self.interval_beside(interval, None, Annotations::default())
    }

    /// Adds one interval of the measured part, with the watched usage in it and what happened
    /// beside the load since the previous interval.
    pub fn interval_beside(
        &mut self,
        interval: &Snapshot,
        watched: Option<&Watched>,
        annotations: Annotations<'_>,
    ) -> Result<(), Error> {
        self.written_changes += annotations.changes.len();
        self.written_notes += annotations.notes.len();
        let line = interval_line(interval, watched, annotations, &mut self.encoder);
        self.write(&line)
    }

    /// Writes the last line: the summary of all intervals written, with the changes of the load
    /// and the notes after the last of them; returns the output. A summary that is not complete is
    /// omitted, so that the file stays that of a killed run.
    pub fn finish(self, summary: &Summary) -> Result<W, Error> {
        self.finish_judged(summary, None::<&()>)
    }

    /// Does the same as [`finish`](RunWriter::finish), and adds the judgement of the run for
    /// programs that read the file. It is not read back: reports judge a run by its records.
    pub fn finish_judged(
        mut self,
        summary: &Summary,
        judgement: Option<&impl Serialize>,
    ) -> Result<W, Error> {
        if summary.complete {
            let (changes, notes) = (&summary.changes, &summary.notes);
            let untold = Annotations {
                changes: changes.get(self.written_changes..).unwrap_or_default(),
                notes: notes.get(self.written_notes..).unwrap_or_default(),
            };
            let line = summary_line(summary, untold, judgement, &mut self.encoder);
            self.write(&line)?;
        }
        Ok(self.output)
    }

    fn write(&mut self, line: &[u8]) -> Result<(), Error> {
        self.output
            .write_all(line)
            .and_then(|()| self.output.flush())
            .map_err(|source| Error::Write {
                path: self.path.clone(),
                source,
            })
    }
}
