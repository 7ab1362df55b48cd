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
        // What a run that did not begin has reserved is removed: before it is reserved anew.
        self.reserved = None;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_record::{Environment, RunFile};
    use std::time::SystemTime;

    #[test]
    fn a_run_that_did_not_begin_leaves_the_file_to_the_next_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.run");
        let mut saved = SavedRun::new(&path, |_| unreachable!("it does not end"));
        saved.prepare().expect("it can be written");
        saved.prepare().expect("it can be written");
        let header = Header::new(
            &samples::plan(),
            Environment::default(),
            SystemTime::UNIX_EPOCH,
        );
        saved.begun(&header).expect("it is written");
        drop(saved);
        assert_eq!(RunFile::read_all(&path).expect("a run").len(), 1);
    }
}
