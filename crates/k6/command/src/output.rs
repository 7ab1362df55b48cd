//! The outputs of `--out`. `json` and `csv` have every sample of a run with its tags, as k6 writes
//! it; `loadline` are Loadline's own; `exports` sends metrics to other programs.
//!
//! Samples arrive in portions while the run lasts and are written at once, so that memory does not
//! grow with them.

mod csv;
pub(super) mod dashboard;
pub(super) mod exports;
mod json;
pub(super) mod loadline;
mod time;

pub(super) use csv::TimeFormat;
pub(super) use time::rfc3339_nano;

use super::{FAILED, Refused, go_words};
use flate2::Compression;
use flate2::write::GzEncoder;
use loadline_k6_metrics::{MetricId, Portion, RecorderSetup, Thresholds};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// A file of samples.
pub(super) struct SampleFile {
    writer: Box<dyn Write>,
    form: Form,
    /// The first error; nothing more is written after it.
    problem: Option<String>,
}

/// The format of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An object on each line.
    Json,
    /// A row for each sample.
    Csv(TimeFormat),
}

/// The metrics of a run, as its outputs describe them.
#[derive(Clone, Copy)]
pub(super) struct Described<'a> {
    pub(super) recording: &'a Arc<RecorderSetup>,
    pub(super) thresholds: &'a Thresholds,
    /// The system tags that are set.
    pub(super) system_tags: &'a [String],
}

impl SampleFile {
    /// Opens a file, which is compressed if its name ends in `.gz`; `None` is standard output.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn open(form: Form, named: Option<&str>, directory: &Path) -> Result<Self, Refused> {
        let writer: Box<dyn Write> = match named {
            None => Box::new(io::stdout()),
            Some(named) => {
                let file = File::create(directory.join(named)).map_err(|error| {
                    let problem = go_words::system(&error);
                    Refused::new(FAILED, format!("open {named}: {problem}"))
                })?;
                let file = BufWriter::new(file);
                match named.ends_with(".gz") {
                    true => Box::new(GzEncoder::new(file, Compression::default())),
                    false => Box::new(file),
                }
            }
        };
        Ok(SampleFile {
            writer,
            form,
            problem: None,
        })
    }

    /// Writes the text before all samples, and creates the writer.
    pub(super) fn begin(self, described: Described<'_>) -> SampleWriter {
        let mut columns = described.system_tags.to_vec();
        columns.retain(|tag| !matches!(tag.as_str(), "vu" | "iter"));
        columns.sort();
        let mut writer = SampleWriter {
            file: self,
            recording: Arc::clone(described.recording),
            thresholds: described.thresholds.clone(),
            columns,
            seen: HashSet::new(),
        };
        if matches!(writer.file.form, Form::Csv(_)) {
            let header = writer.csv_header();
            writer.write(&header);
        }
        writer
    }
}

/// Writes samples to a file.
pub(super) struct SampleWriter {
    file: SampleFile,
    recording: Arc<RecorderSetup>,
    thresholds: Thresholds,
    /// The tags that have columns of their own, in CSV.
    columns: Vec<String>,
    /// The metrics that were already described, in JSON.
    seen: HashSet<MetricId>,
}

impl SampleWriter {
    /// Writes the samples of users.
    pub(super) fn take(&mut self, portion: &Portion) {
        for sample in &portion.samples {
            let text = match self.file.form {
                Form::Json => self.json(sample),
                Form::Csv(format) => self.csv(sample, format),
            };
            self.write(&text);
        }
    }

    /// Flushes the file; returns the first error, if there was one.
    pub(super) fn end(mut self) -> Option<String> {
        let flushed = self.file.writer.flush();
        let problem = flushed.err().map(|error| go_words::system(&error));
        self.file.problem.or(problem)
    }

    fn write(&mut self, text: &str) {
        if self.file.problem.is_none()
            && let Err(error) = self.file.writer.write_all(text.as_bytes())
        {
            self.file.problem = Some(go_words::system(&error));
        }
    }

    fn name(&self, metric: MetricId) -> String {
        self.recording.registry.name(metric).unwrap_or_default()
    }
}
