//! Reads a saved run while another process writes it into a pipe.

use super::header::Header;
use super::line::{Kind, StoredSnapshot};
use super::reader::Lines;
use crate::Snapshot;
use crate::error::{Error, LineError};
use std::io::BufRead;
use std::path::Path;

/// A saved run that is read while it is written.
pub struct FollowedRun<'a, R> {
    lines: Lines<'a, R>,
    header: Header,
    format: u64,
}

impl<'a, R: BufRead> FollowedRun<'a, R> {
    /// Waits for the header; the path is for messages.
    ///
    /// # Errors
    /// If the input ends before that, or is not a saved run.
    pub fn begin(path: &'a Path, input: R) -> Result<FollowedRun<'a, R>, Error> {
        let mut lines = Lines::new(path, input);
        let (header, format) = lines.header()?;
        Ok(FollowedRun {
            lines,
            header,
            format,
        })
    }

    /// Returns the header: the plan, the machine and the time of the start.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Waits for the next interval; `None` if the run has ended, in an orderly way or not.
    ///
    /// # Errors
    /// If a line can't be read.
    pub fn next_interval(&mut self) -> Result<Option<Snapshot>, Error> {
        while let Some(line) = self.lines.next()?.filter(|line| line.whole) {
            let read = read(&line.bytes, self.format);
            match read.map_err(|reason| self.lines.error(reason))? {
                Read::Interval(snapshot) => return Ok(Some(*snapshot)),
                Read::End => return Ok(None),
                Read::Other => {}
            }
        }
        Ok(None)
    }
}

/// The content of a line.
enum Read {
    Interval(Box<Snapshot>),
    End,
    Other,
}

fn read(line: &[u8], format: u64) -> Result<Read, LineError> {
    let Kind { kind } = serde_json::from_slice(line)?;
    Ok(match kind.as_str() {
        "interval" => {
            let mut interval: StoredSnapshot = serde_json::from_slice(line)?;
            interval.read_as_of(format);
            Read::Interval(Box::new(interval.decode()?))
        }
        "summary" => Read::End,
        _ => Read::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, RunWriter, Summary};
    use loadline_plan::Plan;
    use std::time::SystemTime;

    fn written(ends: bool) -> Vec<u8> {
        let path = Path::new("pipe");
        let plan = Plan::default();
        let header = Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH);
        let mut writer = RunWriter::new(path, Vec::new(), &header).expect("a header");
        let mut summary = Summary::new(header);
        for second in 0..2 {
            let mut interval = Snapshot::empty(second * 1_000_000_000);
            interval.end_ns += 1_000_000_000;
            interval.counts.sent = second + 1;
            summary.observe(&interval);
            writer.interval(&interval).expect("an interval");
        }
        summary.complete = ends;
        writer.finish(&summary).expect("an end")
    }

    fn sent(bytes: &[u8]) -> Vec<u64> {
        let mut run = FollowedRun::begin(Path::new("pipe"), bytes).expect("a run");
        assert_eq!(run.header().plan, Plan::default());
        let mut sent = Vec::new();
        while let Some(interval) = run.next_interval().expect("it can be read") {
            sent.push(interval.counts.sent);
        }
        sent
    }

    #[test]
    fn intervals_are_told_until_the_run_ends_or_its_writer_does() {
        assert_eq!(sent(&written(true)), [1, 2]);
        let killed = written(false);
        assert_eq!(sent(&killed), [1, 2]);
        assert_eq!(
            sent(&killed[..killed.len() - 5]),
            [1],
            "a line that was cut"
        );
    }

    #[test]
    fn what_is_no_run_is_refused() {
        assert!(FollowedRun::begin(Path::new("pipe"), &b"Traceback"[..]).is_err());
        assert!(FollowedRun::begin(Path::new("pipe"), &b""[..]).is_err());
    }
}
