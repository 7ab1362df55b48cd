//! Writing a saved run while the run goes on.

use super::encoding::Encoder;
use super::header::Header;
use super::line::{header_line, interval_line, search_line, summary_line};
use super::reader::RunFile;
use super::search::SavedOutcome;
use crate::watched::Watched;
use crate::{Error, LoadChange, Snapshot, Summary};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Writes a run line by line.
///
/// Each line goes out whole, in one call and unbuffered, so that a killed run leaves a readable
/// file. After an error nothing more should be written.
pub struct RunWriter<W: Write> {
    path: PathBuf,
    output: W,
    encoder: Encoder,
    /// How many changes of the load the intervals have told.
    told_changes: usize,
}

impl RunWriter<File> {
    /// A run into this file, which is emptied if there is one, beginning with its header.
    pub fn create(path: &Path, header: &Header) -> Result<RunWriter<File>, Error> {
        let output = File::create(path).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
        RunWriter::new(path, output, header)
    }

    /// A run behind those that this file holds already, beginning with its header. The file is made
    /// if there is none; a last line that was cut (of a run that was killed) is taken away.
    pub fn append(path: &Path, header: &Header) -> Result<RunWriter<File>, Error> {
        let output = open_behind(path).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
        RunWriter::new(path, output, header)
    }
}

impl RunFile {
    /// Writes the run into this file, which is emptied if there is one.
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

/// Opens a file behind its last whole line.
fn open_behind(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    // A pipe has no lines to stand behind.
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    let end = end_of_last_line(&mut file)?;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok(file)
}

/// Where the last whole line of a file ends, in bytes from its start.
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
    /// A run into this output, beginning with its header; the path is for messages. An output that
    /// [`finish`](RunWriter::finish) gave back takes the next run of a series.
    pub fn new(path: &Path, output: W, header: &Header) -> Result<RunWriter<W>, Error> {
        let mut writer = RunWriter {
            path: path.to_owned(),
            output,
            encoder: Encoder::new(),
            told_changes: 0,
        };
        writer.write(&header_line(header))?;
        Ok(writer)
    }

    /// Adds one interval of the measured part.
    pub fn interval(&mut self, interval: &Snapshot) -> Result<(), Error> {
        self.interval_beside(interval, None, &[])
    }

    /// Adds one interval of the measured part, with what was watched in it and the changes of the
    /// load that were told since the interval before.
    pub fn interval_beside(
        &mut self,
        interval: &Snapshot,
        watched: Option<&Watched>,
        changes: &[LoadChange],
    ) -> Result<(), Error> {
        self.told_changes += changes.len();
        let line = interval_line(interval, watched, changes, &mut self.encoder);
        self.write(&line)
    }

    /// Adds the summary of all intervals written, with the changes of the load that none of them
    /// told: the last line; and gives the output back. A
    /// summary that is not complete is left out, so that the file stays that of a killed run.
    pub fn finish(self, summary: &Summary) -> Result<W, Error> {
        self.finish_judged(summary, None::<&()>)
    }

    /// As [`finish`](RunWriter::finish), with how the run was judged, for programs that read the
    /// file. It is not read back: whoever reports the run judges it by what was recorded.
    pub fn finish_judged(
        mut self,
        summary: &Summary,
        judgement: Option<&impl Serialize>,
    ) -> Result<W, Error> {
        if summary.complete {
            let untold = summary.changes.get(self.told_changes..);
            let untold = untold.unwrap_or_default();
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
