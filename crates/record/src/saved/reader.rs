//! Reads a saved run, complete or cut off.

use super::header::Header;
use super::line::{Beside, Format, Kind, LateNotes, RunEnd, StoredSearch, StoredSnapshot};
use super::search::SavedOutcome;
use super::within_report::unpacked;
use crate::error::{Error, LineError};
use crate::format::is_read;
use crate::interval_archive::without_first;
use crate::{Pattern, Snapshot, Summary, Transient};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The maximum size of a line, in bytes. A header contains the plan with all its requests; an
/// interval takes some kilobytes.
const LONGEST_LINE: u64 = 256 << 20;

/// A saved run that was read.
///
/// Its intervals stay encoded, at some kilobytes each, and are decoded one at a time.
#[derive(Clone, Debug)]
pub struct RunFile {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    pub(super) intervals: Vec<StoredSnapshot>,
    pub(super) summary: Summary,
    search_outcome: Option<SavedOutcome>,
    /// The bytes of a last line that is not whole and can't be read.
    stray_bytes: u64,
}

impl RunFile {
    /// Reads the only run in this file, or in this HTML report that holds one.
    ///
    /// A last line without its end (of a killed run) is ignored. Without a summary line the summary
    /// is computed from the intervals, and is not [`complete`](Summary::complete).
    pub fn read(path: &Path) -> Result<RunFile, Error> {
        RunFile::parse(path, opened(path)?)
    }

    /// Reads a run from this input; the path is for messages.
    pub fn parse(path: &Path, input: impl BufRead) -> Result<RunFile, Error> {
        let mut runs = RunFile::parse_all(path, input)?;
        match (runs.pop(), runs.len()) {
            (Some(only), 0) => Ok(only),
            (_, others) => Err(Error::Several {
                path: path.to_owned(),
                runs: others + 1,
            }),
        }
    }

    /// Reads all runs in this file, or in this HTML report that holds some, in the order in which
    /// they were run; at least one.
    ///
    /// Each of them may have been killed, as with [`read`](RunFile::read).
    pub fn read_all(path: &Path) -> Result<Vec<RunFile>, Error> {
        RunFile::parse_all(path, opened(path)?)
    }

    /// Reads all runs from this input, or from an HTML report that holds some, as
    /// [`read_all`](RunFile::read_all) does; the path is for messages.
    pub fn read_all_from(
        path: &Path,
        input: impl BufRead + 'static,
    ) -> Result<Vec<RunFile>, Error> {
        RunFile::parse_all(path, unpacked(path, input)?)
    }

    /// Reads all runs from this input, at least one; the path is for messages.
    pub fn parse_all(path: &Path, input: impl BufRead) -> Result<Vec<RunFile>, Error> {
        let mut lines = Lines::new(path, input);
        let (header, format) = lines.header()?;
        let mut run = RunFile::started(path, header).in_format(format);
        let mut before = Vec::new();
        while let Some(line) = lines.next()? {
            if line.bytes.trim_ascii().is_empty() {
                continue;
            }
            match run.take_or_begin(&line.bytes) {
                Err(LineError::Json(_)) if !line.whole => {
                    run.stray_bytes = line.bytes.len() as u64;
                    break;
                }
                Err(reason) => return Err(lines.error(reason)),
                Ok(None) => {}
                Ok(Some(next)) => before.push(std::mem::replace(&mut run, next)),
            }
        }
        before.push(run);
        Ok(before)
    }

    /// Creates a run with only its header.
    pub(super) fn started(path: &Path, header: Header) -> RunFile {
        RunFile {
            path: path.to_owned(),
            summary: Summary::new(header.clone()),
            header,
            intervals: Vec::new(),
            search_outcome: None,
            stray_bytes: 0,
        }
    }

    fn in_format(mut self, format: u64) -> RunFile {
        self.summary.format = format;
        self
    }

    /// Returns the header: the plan, the machine and the time of the start.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the summary of all intervals.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns the summary of all intervals, and drops the rest.
    pub fn into_summary(self) -> Summary {
        self.summary
    }

    /// Returns the outcome of the search whose last trial this is, if it was
    /// [stored](super::append_search) and this version can read it.
    pub fn search_outcome(&self) -> Option<&SavedOutcome> {
        self.search_outcome.as_ref()
    }

    /// Returns the number of bytes behind the end of this run, the last one of its file, that are
    /// no whole line, and so are not read. A run that was killed has no end: what breaks off is a
    /// part of it, and not counted here.
    pub fn stray_bytes(&self) -> u64 {
        match self.summary.complete {
            true => self.stray_bytes,
            false => 0,
        }
    }

    /// Returns the intervals of the window, in order, without those of a transient that was cut.
    pub fn snapshots(&self) -> impl ExactSizeIterator<Item = Snapshot> + '_ {
        let left_out = self.left_out();
        self.window()[left_out..]
            .iter()
            .map(StoredSnapshot::decoded)
    }

    /// Returns the drain after the window, if there is one.
    pub fn drain(&self) -> Option<Snapshot> {
        let drain = self.intervals.get(self.window().len());
        drain.map(StoredSnapshot::decoded)
    }

    /// Returns the intervals without the drain after them.
    pub(super) fn window(&self) -> &[StoredSnapshot] {
        let drains = self.intervals.iter().filter(|interval| interval.is_drain());
        &self.intervals[..self.intervals.len() - drains.count()]
    }

    /// Reads the next line; if it is a header, returns the run that it begins.
    fn take_or_begin(&mut self, line: &[u8]) -> Result<Option<RunFile>, LineError> {
        let Kind { kind } = serde_json::from_slice(line)?;
        match kind.as_str() {
            "header" => {
                let (header, format) = next_header(line)?;
                let next = RunFile::started(&self.path, header);
                Ok(Some(next.in_format(format)))
            }
            "search" => {
                let StoredSearch { outcome } = serde_json::from_slice(line)?;
                self.search_outcome = outcome;
                Ok(None)
            }
            "notes" => {
                let LateNotes {
                    notes,
                    changes,
                    declared,
                } = serde_json::from_slice(line)?;
                self.summary.notes.extend(notes);
                self.summary.changes.extend(changes);
                self.summary.declared.extend(declared);
                Ok(None)
            }
            _ if self.summary.complete => Err(LineError::AfterSummary),
            "interval" => self.take_interval(line).map(|()| None),
            "summary" => self.take_summary(line).map(|()| None),
            _ => Err(LineError::UnknownKind(kind)),
        }
    }

    fn take_interval(&mut self, line: &[u8]) -> Result<(), LineError> {
        let mut interval: StoredSnapshot = serde_json::from_slice(line)?;
        interval.read_as_of(self.summary.format);
        let Beside {
            watch,
            changes,
            notes,
        } = serde_json::from_slice(line)?;
        let decoded = interval.decode()?;
        self.refuse_misplaced(&decoded)?;
        self.summary.observe(&decoded);
        self.summary.changes.extend(changes);
        self.summary.notes.extend(notes);
        if let Some(watched) = watch {
            self.summary.observe_watched(&watched);
        }
        self.intervals.push(interval);
        Ok(())
    }

    /// Refuses an interval out of place. Intervals follow each other without a gap from zero on;
    /// otherwise figures over time would be wrong, and counts too low.
    fn refuse_misplaced(&self, next: &Snapshot) -> Result<(), LineError> {
        let start_ns = next.start_ns;
        if self.intervals.last().is_some_and(StoredSnapshot::is_drain) {
            return Err(LineError::AfterDrain);
        }
        let before_ns = self.intervals.last().map_or(0, StoredSnapshot::end_ns);
        match start_ns.cmp(&before_ns) {
            Ordering::Less => Err(LineError::OutOfOrder {
                start_ns,
                before_ns,
            }),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(LineError::Gap {
                start_ns,
                before_ns,
            }),
        }
    }

    fn take_summary(&mut self, line: &[u8]) -> Result<(), LineError> {
        let mut total: StoredSnapshot = serde_json::from_slice(line)?;
        total.read_as_of(self.summary.format);
        let RunEnd {
            ended,
            unfinished,
            host,
            transient,
            declared,
            odd_agents,
            begins_off,
            outside,
        } = serde_json::from_slice(line)?;
        let unfinished = unfinished.decode()?;
        self.summary.plan_lost(&unfinished);
        if total.decode()? != self.summary.total {
            return Err(LineError::NotTheSum);
        }
        let Beside { changes, notes, .. } = serde_json::from_slice(line)?;
        self.summary.changes.extend(changes);
        self.summary.notes.extend(notes);
        self.summary.host = host;
        self.summary.transient = transient;
        self.summary.declared = declared;
        self.summary.odd_agents = odd_agents;
        self.summary.begins_off = begins_off;
        self.summary.add_outside(&outside.decode()?);
        self.summary.finish(ended, unfinished);
        let whole = std::mem::replace(&mut self.summary, Summary::new(self.header.clone()));
        let left_out = transient.map_or(0, Transient::intervals);
        let rest = self.intervals.iter().skip(left_out);
        let decoded = rest.map(StoredSnapshot::decoded);
        let rest = decoded.map(|interval| {
            let arrivals = Pattern::of(&interval);
            (interval, arrivals)
        });
        self.summary = without_first(whole, left_out, rest);
        Ok(())
    }

    /// Returns the run as far as it had come at this instant, in nanoseconds of the measured part:
    /// a record that breaks off there. No transient is cut.
    pub fn until_ns(&self, end_ns: u64) -> RunFile {
        let run = RunFile::started(&self.path, self.header.clone());
        let mut run = run.in_format(self.summary.format);
        let window = self.window().iter();
        for interval in window.take_while(|interval| interval.end_ns() <= end_ns) {
            run.summary.observe(&interval.decoded());
            run.intervals.push(interval.clone());
        }
        run
    }

    /// Returns the number of intervals that are excluded from every figure.
    fn left_out(&self) -> usize {
        let left_out = self.summary.transient.map_or(0, Transient::intervals);
        if left_out < self.window().len() {
            left_out
        } else {
            0
        }
    }
}

/// Reads the header of a further run in the file.
fn next_header(line: &[u8]) -> Result<(Header, u64), LineError> {
    match serde_json::from_slice(line)? {
        Format { loadline } if is_read(loadline) => Ok((serde_json::from_slice(line)?, loadline)),
        Format { loadline } => Err(LineError::OtherVersion(loadline)),
    }
}

pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// True if it ends in a newline, and so was written completely.
    pub(super) whole: bool,
}

/// The lines of a file, counted.
pub(super) struct Lines<'a, R> {
    path: &'a Path,
    input: R,
    /// The number of the last line returned, from 1.
    number: usize,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(super) fn new(path: &'a Path, input: R) -> Lines<'a, R> {
        Lines {
            path,
            input,
            number: 0,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Line>, Error> {
        let mut bytes = Vec::new();
        let mut part = (&mut self.input).take(LONGEST_LINE + 1);
        part.read_until(b'\n', &mut bytes)
            .map_err(|source| read_error(self.path, source))?;
        self.number += 1;
        if bytes.len() as u64 > LONGEST_LINE {
            return Err(self.error(LineError::TooLong));
        }
        let whole = bytes.ends_with(b"\n");
        Ok((!bytes.is_empty()).then_some(Line { bytes, whole }))
    }

    pub(super) fn header(&mut self) -> Result<(Header, u64), Error> {
        let path = self.path.to_owned();
        self.refuse_other_files()?;
        let Some(line) = self.next()? else {
            return Err(Error::Empty { path });
        };
        let format = match serde_json::from_slice(&line.bytes) {
            Ok(Format { loadline }) if is_read(loadline) => loadline,
            Ok(Format { loadline: found }) => return Err(Error::UnknownVersion { path, found }),
            Err(_) if !line.whole && begins_as_header(&line.bytes) => {
                return Err(Error::CutHeader { path });
            }
            Err(_) => return Err(Error::NotARun { path }),
        };
        let header = serde_json::from_slice(&line.bytes);
        let header = header.map_err(|error| self.error(error.into()))?;
        Ok((header, format))
    }

    /// Refuses a file that does not begin as a saved run does, before a line is read: it may have
    /// no line ends.
    fn refuse_other_files(&mut self) -> Result<(), Error> {
        let begin = self.input.fill_buf();
        let begin = begin.map_err(|source| read_error(self.path, source))?;
        match begin.trim_ascii_start().first() {
            None if begin.is_empty() => Ok(()),
            Some(b'{') => Ok(()),
            _ => Err(Error::NotARun {
                path: self.path.to_owned(),
            }),
        }
    }

    pub(super) fn error(&self, reason: LineError) -> Error {
        Error::Line {
            path: self.path.to_owned(),
            line: self.number,
            reason,
        }
    }
}

/// True if a cut line may be the beginning of a header.
fn begins_as_header(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = br#"{"loadline":"#;
    let length = line.len().min(BEGINNING.len());
    line[..length] == BEGINNING[..length]
}

/// Opens a saved run, or the one within a report.
fn opened(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let file = File::open(path).map_err(|source| read_error(path, source))?;
    unpacked(path, BufReader::new(file))
}

fn read_error(path: &Path, source: std::io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        source,
    }
}
