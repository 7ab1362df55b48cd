//! The saved run as an observer: one file, to which each run is appended while it lasts.

use crate::observer::{End, Interval, Observed, Observer};
use crate::preflight::Reserved;
use loadline_json::Judgement;
use loadline_record::{Annotations, Error, Header, RunWriter};
use loadline_verdict::RunResult;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;

/// Judges a run, for programs that read the file.
pub type Judge = fn(&RunResult) -> Judgement;

/// Saves runs in a file: the first replaces its content, each other one is appended.
pub struct SavedRun {
    path: PathBuf,
    judge: Judge,
    /// The number of runs in the file.
    runs: u32,
    reserved: Option<Reserved>,
    writer: Option<RunWriter<File>>,
}

impl SavedRun {
    /// Creates an observer, whose file is opened only when a run is about to be made.
    pub fn new(path: impl Into<PathBuf>, judge: Judge) -> SavedRun {
        SavedRun {
            path: path.into(),
            judge,
            runs: 0,
            reserved: None,
            writer: None,
        }
    }

    fn begin(&self, file: Reserved, header: &Header) -> Result<RunWriter<File>, Error> {
        match file.is_file() {
            true if self.runs > 0 => RunWriter::append(&self.path, header),
            _ => RunWriter::new(&self.path, file.take_empty(), header),
        }
    }
}

impl fmt::Debug for SavedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedRun")
            .field("path", &self.path)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

impl Observer for SavedRun {
    fn prepare(&mut self) -> Observed {
        self.reserved = Some(Reserved::open(&self.path)?);
        Ok(())
    }

    fn begun(&mut self, header: &Header) -> Observed {
        if let Some(file) = self.reserved.take() {
            self.writer = Some(self.begin(file, header)?);
            self.runs += 1;
        }
        Ok(())
    }

    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        match &mut self.writer {
            Some(writer) => {
                let Interval {
                    snapshot,
                    watched,
                    changes,
                    notes,
                    ..
                } = interval;
                let annotations = Annotations { changes, notes };
                Ok(writer.interval_beside(snapshot, *watched, annotations)?)
            }
            None => Ok(()),
        }
    }

    /// The file contains the whole run, with the judgement of the part that counts.
    fn ended(&mut self, end: &End<'_>) -> Observed {
        if let Some(writer) = self.writer.take() {
            let judgement = (self.judge)(end.result);
            writer.finish_judged(end.whole, Some(&judgement))?;
        }
        Ok(())
    }
}
