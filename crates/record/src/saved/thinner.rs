//! A saved run with fewer and longer intervals: as much of a long run as a report can hold.
//!
//! Neighbouring intervals are merged, as they are for a reader who is late. All counts and
//! distributions of the run stay exact, which a reader verifies against its summary; only its
//! course is coarser.

use super::encoding::Encoder;
use super::line::{Annotations, Beside, Format, Kind, StoredSnapshot, interval_line, to_line};
use super::reader::{Line, Lines};
use super::within_report::run_element;
use crate::error::{Error, LineError};
use crate::watched::Watched;
use crate::{LoadChange, Note, Snapshot, Transient};
use serde::Deserialize;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The usual most bytes of a run in its report: with the page some megabytes.
pub const MOST_RUN_BYTES: usize = 3_500_000;

/// Returns the element that holds this saved run in at most so many bytes, of a long run with
/// longer intervals; `None` if it can't be that short. A run that is being written is in it as far
/// as it has come.
///
/// # Errors
/// If the file can't be read, or is no saved run.
pub fn run_element_within(path: &Path, most_bytes: usize) -> Result<Option<String>, Error> {
    let most_bytes = most_bytes.max(1);
    let read_error = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let length = path.metadata().map_err(read_error)?.len();
    // Packed, a run is about as long as its file: the distributions in it are packed already.
    let mut run = match usize::try_from(length).unwrap_or(usize::MAX) / most_bytes {
        0 | 1 => fs::read(path).map_err(read_error)?,
        times => {
            let open = || File::open(path).map(BufReader::new).map_err(read_error);
            let cuts = cuts(path, open()?)?;
            thinned(path, open()?, &cuts, power_of_two(times))?
        }
    };
    loop {
        let element = run_element(&run);
        let times = element.len().div_ceil(most_bytes);
        if times <= 1 {
            return Ok(Some(element));
        }
        let cuts = cuts(path, &run[..])?;
        let thinner = thinned(path, &run[..], &cuts, power_of_two(times))?;
        if thinner.len() >= run.len() {
            return Ok(None);
        }
        run = thinner;
    }
}

/// Histories of a run halve themselves: stretches of powers of two fall together with theirs.
fn power_of_two(times: usize) -> usize {
    times.checked_next_power_of_two().unwrap_or(usize::MAX)
}

/// Returns for each run of a file how many of its first intervals are in no figure.
fn cuts(path: &Path, input: impl BufRead) -> Result<Vec<usize>, Error> {
    let mut lines = Lines::new(path, input);
    let mut cuts = Vec::new();
    while let Some(line) = lines.next()?.filter(|line| line.whole) {
        let cut = cut_of(&line.bytes).map_err(|reason| lines.error(reason))?;
        match cut {
            Mark::Header => cuts.push(0),
            Mark::Summary(cut) => {
                if let Some(last) = cuts.last_mut() {
                    *last = cut;
                }
            }
            Mark::Other => {}
        }
    }
    Ok(cuts)
}

/// The meaning of a line for the intervals that are in no figure.
enum Mark {
    Header,
    Summary(usize),
    Other,
}

fn cut_of(line: &[u8]) -> Result<Mark, LineError> {
    #[derive(Deserialize)]
    struct Cut {
        #[serde(default)]
        transient: Option<Transient>,
    }
    let Kind { kind } = serde_json::from_slice(line)?;
    Ok(match kind.as_str() {
        "header" => Mark::Header,
        "summary" => {
            let Cut { transient } = serde_json::from_slice(line)?;
            Mark::Summary(transient.map_or(0, Transient::intervals))
        }
        _ => Mark::Other,
    })
}

/// Returns the runs with so many of their intervals merged to one. `cuts` are the intervals at the
/// beginning of each that are in no figure: they are merged with none after them.
fn thinned(path: &Path, input: impl BufRead, cuts: &[usize], by: usize) -> Result<Vec<u8>, Error> {
    let mut lines = Lines::new(path, input);
    let mut thinner = Thinner {
        by,
        cuts: cuts.iter(),
        run: Run::default(),
        output: Vec::new(),
    };
    while let Some(line) = lines.next()?.filter(|line| line.whole) {
        thinner.take(line).map_err(|reason| lines.error(reason))?;
    }
    thinner.close();
    Ok(thinner.output)
}

struct Thinner<'a> {
    /// The number of intervals that become one.
    by: usize,
    cuts: std::slice::Iter<'a, usize>,
    run: Run,
    output: Vec<u8>,
}

/// The run whose lines are read.
#[derive(Default)]
struct Run {
    format: u64,
    encoder: Encoder,
    /// The intervals at its beginning that are in no figure.
    cut: usize,
    /// The intervals so far.
    intervals: usize,
    /// The intervals so far that are written.
    written: usize,
    /// The intervals at the beginning of what is written that are in no figure.
    written_cut: usize,
    open: Option<Open>,
}

/// The interval to which others are added.
struct Open {
    snapshot: Snapshot,
    watched: Option<Watched>,
    changes: Vec<LoadChange>,
    notes: Vec<Note>,
    /// The number of intervals in it.
    count: usize,
}

impl Thinner<'_> {
    fn take(&mut self, line: Line) -> Result<(), LineError> {
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let Kind { kind } = serde_json::from_slice(&line.bytes)?;
        match kind.as_str() {
            "interval" => return self.interval(&line.bytes),
            "header" => self.begin(&line.bytes)?,
            "summary" if self.run.cut > 0 => {
                self.close();
                let mut summary: Value = serde_json::from_slice(&line.bytes)?;
                let intervals = self.run.written_cut;
                summary["transient"] = serde_json::to_value(Transient::Cut { intervals })?;
                self.output.extend(to_line(&summary));
                return Ok(());
            }
            _ => self.close(),
        }
        self.output.extend(line.bytes);
        Ok(())
    }

    fn begin(&mut self, line: &[u8]) -> Result<(), LineError> {
        self.close();
        let Format { loadline: format } = serde_json::from_slice(line)?;
        self.run = Run {
            format,
            cut: self.cuts.next().copied().unwrap_or(0),
            ..Run::default()
        };
        Ok(())
    }

    fn interval(&mut self, line: &[u8]) -> Result<(), LineError> {
        let mut stored: StoredSnapshot = serde_json::from_slice(line)?;
        if stored.is_drain() {
            self.close();
            self.output.extend_from_slice(line);
            return Ok(());
        }
        stored.read_as_of(self.run.format);
        let next = stored.decode()?;
        let Beside {
            watch,
            changes,
            notes,
        } = serde_json::from_slice(line)?;
        let run = &mut self.run;
        let is_at_cut = run.cut > 0 && run.intervals == run.cut;
        if is_at_cut || run.open.as_ref().is_some_and(|open| open.count >= self.by) {
            self.close();
        }
        let run = &mut self.run;
        run.intervals += 1;
        match &mut run.open {
            Some(open) => open.add(&next, watch, changes, notes),
            None => {
                run.open = Some(Open {
                    snapshot: next,
                    watched: watch,
                    changes,
                    notes,
                    count: 1,
                });
            }
        }
        Ok(())
    }

    /// Writes the interval to which others were added.
    fn close(&mut self) {
        let run = &mut self.run;
        let Some(open) = run.open.take() else { return };
        let annotations = Annotations {
            changes: &open.changes,
            notes: &open.notes,
        };
        let watched = open.watched.as_ref();
        let line = interval_line(&open.snapshot, watched, annotations, &mut run.encoder);
        self.output.extend(line);
        run.written += 1;
        if run.intervals <= run.cut {
            run.written_cut = run.written;
        }
    }
}

impl Open {
    fn add(
        &mut self,
        next: &Snapshot,
        watched: Option<Watched>,
        changes: Vec<LoadChange>,
        notes: Vec<Note>,
    ) {
        self.snapshot.lengthen(next);
        match (&mut self.watched, watched) {
            (Some(own), Some(next)) => own.lengthen(&next),
            (own @ None, next) => *own = next,
            (Some(_), None) => {}
        }
        self.changes.extend(changes);
        self.notes.extend(notes);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{header, second};
    use crate::{Ended, RunFile, RunWriter, Summary, Unfinished};

    /// A run of this many seconds with a note in one of them, whose first ones are cut.
    fn run(seconds: u64, transient: Option<Transient>) -> Vec<u8> {
        let path = Path::new("a.run");
        let mut writer = RunWriter::new(path, Vec::new(), &header()).unwrap();
        let mut summary = Summary::new(header());
        for index in 0..seconds {
            let notes = [Note::new(index, "deployed").unwrap()];
            let annotations = Annotations {
                notes: &notes[..usize::from(index == 5)],
                ..Annotations::default()
            };
            writer
                .interval_beside(&second(index), None, annotations)
                .unwrap();
            summary.observe(&second(index));
        }
        summary.transient = transient;
        summary.finish(Ended::Duration, Unfinished::default());
        summary.notes = vec![Note::new(5, "deployed").unwrap()];
        writer.finish(&summary).unwrap()
    }

    fn thin(run: &[u8], by: usize) -> Vec<u8> {
        let path = Path::new("a.run");
        thinned(path, run, &cuts(path, run).unwrap(), by).unwrap()
    }

    fn read(run: &[u8]) -> RunFile {
        RunFile::parse(Path::new("a.run"), run).unwrap()
    }

    #[test]
    fn what_is_merged_has_the_same_sums() {
        let whole = run(21, None);
        let (before, after) = (read(&whole), read(&thin(&whole, 4)));
        let (before, after) = (before.into_summary(), after.into_summary());
        assert_eq!(after.total, before.total);
        assert_eq!(after.duration_ns, before.duration_ns);
        assert_eq!(after.arrivals, before.arrivals);
        assert_eq!(after.notes, before.notes);
        assert!(after.complete);
        let lengths: Vec<u64> = (after.rows.iter())
            .map(|row| (row.end_ns - row.start_ns) / 1_000_000_000)
            .collect();
        assert_eq!(lengths, [4, 4, 4, 4, 4, 1]);
        let sum = |summary: &Summary| -> u64 {
            let counts = summary.rows.iter().map(|row| row.counts.completed);
            counts.sum()
        };
        assert_eq!(sum(&after), sum(&before));
    }

    #[test]
    fn a_run_is_merged_again_and_a_single_interval_stays() {
        let whole = run(16, None);
        let twice = thin(&thin(&whole, 4), 4);
        assert_eq!(read(&twice).snapshots().len(), 1);
        assert_eq!(read(&twice).summary().total, read(&whole).summary().total);
        assert_eq!(thin(&twice, 2), twice);
    }

    #[test]
    fn nothing_is_merged_across_the_end_of_the_transient() {
        let whole = run(12, Some(Transient::Cut { intervals: 5 }));
        let (before, after) = (read(&whole), read(&thin(&whole, 4)));
        let cut = after.summary().transient;
        assert_eq!(cut, Some(Transient::Cut { intervals: 2 }));
        let (before, after) = (before.into_summary(), after.into_summary());
        assert_eq!(after.total, before.total);
        assert_eq!(after.duration_ns, before.duration_ns);
        let whole_of = |summary: Summary| summary.uncut.map(|uncut| uncut.total);
        assert_eq!(whole_of(after), whole_of(before));
    }

    #[test]
    fn runs_of_a_series_and_a_run_that_breaks_off_are_merged_by_themselves() {
        let mut series = run(5, None);
        series.extend(run(3, Some(Transient::Cut { intervals: 1 })));
        series.truncate(series.len() - 10);
        let thin = thin(&series, 8);
        let runs = RunFile::parse_all(Path::new("a.run"), &thin[..]).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!(
            (runs[0].snapshots().len(), runs[1].snapshots().len()),
            (1, 1)
        );
        assert!(runs[0].summary().complete && !runs[1].summary().complete);
    }

    #[test]
    fn an_element_is_as_short_as_it_has_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.run");
        fs::write(&path, run(200, None)).unwrap();
        let whole = run_element_within(&path, usize::MAX).unwrap().unwrap();
        let most = whole.len() / 3;
        let element = run_element_within(&path, most).unwrap().unwrap();
        assert!(element.len() <= most, "{} of {most}", element.len());
        let report = folder.path().join("a.html");
        fs::write(&report, format!("<p>{element}")).unwrap();
        let (report, own) = (
            RunFile::read(&report).unwrap(),
            RunFile::read(&path).unwrap(),
        );
        assert_eq!(report.summary().total, own.summary().total);
        assert!(report.snapshots().len() < 200);
        assert_eq!(run_element_within(&path, 10).unwrap(), None);
        fs::write(&path, "no run\n").unwrap();
        assert!(run_element_within(&path, 1).is_err());
    }
}
