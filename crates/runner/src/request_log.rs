//! The log of requests as an observer: one line for each request that ends.

use crate::observer::{End, Interests, Observed, Observer};
use crate::preflight::Reserved;
use loadline_record::{Exchange, Header, LogWriter};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The error of a log that can't be written.
#[derive(Debug, thiserror::Error)]
#[error("the log can't be written")]
pub struct LogError(#[from] io::Error);

/// Writes one line for each request.
#[derive(Debug)]
pub struct RequestLog {
    path: PathBuf,
    reserved: Option<Reserved>,
    writer: Option<LogWriter<File>>,
}

impl RequestLog {
    /// Creates a log, whose file is opened only when a run is about to be made.
    pub fn new(path: impl Into<PathBuf>) -> RequestLog {
        RequestLog {
            path: path.into(),
            reserved: None,
            writer: None,
        }
    }
}

impl Observer for RequestLog {
    fn interests(&self) -> Interests {
        Interests {
            exchanges: true,
            ..Interests::default()
        }
    }

    fn prepare(&mut self) -> Observed {
        // What a run that did not begin has reserved is removed: before it is reserved anew.
        self.reserved = None;
        self.reserved = Some(Reserved::open(&self.path)?);
        Ok(())
    }

    fn begun(&mut self, header: &Header) -> Observed {
        if let Some(file) = self.reserved.take() {
            let writer = LogWriter::new(file.take_empty(), &header.plan);
            self.writer = Some(writer.map_err(LogError)?);
        }
        Ok(())
    }

    fn exchanges(&mut self, _: usize, exchanges: &[Exchange]) -> Observed {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        for exchange in exchanges {
            writer.record(exchange).map_err(LogError)?;
        }
        Ok(())
    }

    fn ended(&mut self, _: &End<'_>) -> Observed {
        if let Some(writer) = self.writer.take() {
            writer.finish().map_err(LogError)?;
        }
        Ok(())
    }
}
