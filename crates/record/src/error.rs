//! The errors of saved runs.

use crate::format::FORMAT_VERSION;
use std::io;
use std::path::PathBuf;

/// An error of a saved run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Two runs were not started at the same time.
    #[error(
        "{} and {} are not parts of one run: they were not started together but {apart_s:.1} s \
         apart. Merge only files of one run.", first.display(), other.display()
    )]
    Apart {
        /// The run that the others are compared with.
        first: PathBuf,
        /// The run that does not belong to it.
        other: PathBuf,
        /// The seconds between their starts.
        apart_s: f64,
    },
    /// The first line was not written whole.
    #[error(
        "{} ends within its first line: the run was killed before anything was measured. \
         Run it again.", path.display()
    )]
    CutHeader {
        /// The file.
        path: PathBuf,
    },
    /// Two runs had different plans.
    #[error(
        "{} and {} are not parts of one run: {key} is {in_first} in the first and {in_other} in \
         the second. Merge only files of one plan.", first.display(), other.display()
    )]
    DifferentPlans {
        /// The run that does not belong to it.
        first: PathBuf,
        /// The run that is no part of it.
        other: PathBuf,
        /// The first key that differs, as a path into the header.
        key: String,
        /// Its value in the first run, as JSON.
        in_first: String,
        /// Its value in the other run, as JSON.
        in_other: String,
    },
    /// The file is empty.
    #[error("{} is empty. Give a file that was written with --save.", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line is invalid.
    #[error(
        "{}, line {line}: {reason}. Take an undamaged copy, or make the run again.",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// The reason.
        reason: LineError,
    },
    /// No run was given to merge.
    #[error("there is no run to merge. Give at least one file that was written with --save.")]
    NothingToMerge,
    /// The file is not a saved run.
    #[error(
        "{} is not a saved run: its first line is no Loadline header. \
         Give a file that was written with --save.", path.display()
    )]
    NotARun {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be opened or read.
    #[error("{} can't be read: {source}. Give a file that was written with \
             --save.", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The same run was given twice.
    #[error("{} and {} are the same run. Give each file once.", first.display(), other.display())]
    SameRun {
        /// The run that the others are compared with.
        first: PathBuf,
        /// The equal run.
        other: PathBuf,
    },
    /// The file has several runs where one is needed.
    #[error(
        "{} holds {runs} runs, and one is needed here. Give a file of a single \
         run.", path.display()
    )]
    Several {
        /// The file.
        path: PathBuf,
        /// The number of runs in it.
        runs: usize,
    },
    /// The file's format is unknown.
    #[error(
        "{} is a saved run of format version {found}, and this program reads versions 1 to \
         {FORMAT_VERSION}. Read it with the version of Loadline that wrote it.", path.display()
    )]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
    },
    /// The file could not be created or written.
    #[error("the saved run {} can't be written: {source}. Give --save another \
             path.", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The reason why a line of a saved run is invalid.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// An interval follows the drain, which must be the last one.
    #[error("an interval follows the drain, which is the last one")]
    AfterDrain,
    /// There is a line after the summary that does not begin another run.
    #[error("a line follows the summary, which is the last one of a run")]
    AfterSummary,
    /// The interval ends before it begins.
    #[error("the interval ends at {end_ns} ns, before it begins at {start_ns} ns")]
    Backwards {
        /// The begin of the interval.
        start_ns: u64,
        /// The end of the interval.
        end_ns: u64,
    },
    /// The interval begins later than the previous one ends.
    #[error(
        "the interval begins at {start_ns} ns, and the line above it ends at {before_ns} ns: \
         lines were lost between them"
    )]
    Gap {
        /// The begin of the interval.
        start_ns: u64,
        /// The end of the previous interval; 0 if there is none.
        before_ns: u64,
    },
    /// The line is not JSON, or keys are missing or of the wrong type.
    #[error("it is damaged: {0}")]
    Json(#[from] serde_json::Error),
    /// The summary is not the sum of the intervals.
    #[error("the summary is not the sum of the intervals: lines were lost or changed")]
    NotTheSum,
    /// The interval begins before the previous one ends.
    #[error(
        "the interval begins at {start_ns} ns, before the one above it ends at {before_ns} ns: \
         lines were moved or doubled"
    )]
    OutOfOrder {
        /// The begin of the interval.
        start_ns: u64,
        /// The end of the previous interval.
        before_ns: u64,
    },
    /// A further run in the file has an unknown format.
    #[error(
        "a run of format version {0} begins there, and this program reads versions 1 \
         to {FORMAT_VERSION}"
    )]
    OtherVersion(u64),
    /// A distribution cannot be decoded.
    #[error("the distribution `{name}` is damaged: {source}")]
    Times {
        /// The name of the distribution.
        name: &'static str,
        /// The reason.
        source: DecodeError,
    },
    /// A custom metric cannot be decoded.
    #[error("the metric `{name}` is damaged")]
    CustomMetric {
        /// The name of the metric.
        name: String,
    },
    /// A series cannot be decoded.
    #[error("the series `{name}` is damaged")]
    Series {
        /// The name of the series.
        name: String,
    },
    /// A request with a trace cannot be decoded.
    #[error("the request of the trace `{id}` is damaged")]
    Trace {
        /// The identifier of the trace, as it is written.
        id: String,
    },
    /// The line is longer than any line of a saved run.
    #[error("it is longer than any line of a saved run")]
    TooLong,
    /// The line is neither an interval nor a summary.
    #[error("its kind is `{0}`, which is neither `interval` nor `summary`")]
    UnknownKind(String),
}

/// The reason why an encoded histogram cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The text is not base64.
    #[error("it is not base64 ({0})")]
    Base64(#[from] base64::DecodeError),
    /// The range or precision differs from that of Loadline's histograms.
    #[error("its range or precision is not that of Loadline")]
    Bounds,
    /// A count is larger than any run's.
    #[error("a count in it is larger than any run's")]
    Count,
    /// The compressed bytes are cut off or changed.
    #[error("its bytes do not decompress ({0})")]
    Compression(io::Error),
    /// The bytes do not begin like an HdrHistogram in the compressed V2 encoding, or are cut off.
    #[error("it is no HdrHistogram in the compressed V2 encoding")]
    Encoding,
}
