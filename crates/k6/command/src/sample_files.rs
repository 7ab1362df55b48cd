//! The outputs `json` and `csv`: every sample of a run with its tags, as k6 writes it.
//!
//! Samples arrive in portions while the run lasts and are written at once, so that memory does not
//! grow with them.

use super::{FAILED, Refused, go_json, go_words};
use chrono::{DateTime, Local, SecondsFormat, TimeZone};
use flate2::Compression;
use flate2::write::GzEncoder;
use loadline_k6_metrics::{MetricId, Portion, RecorderSetup, Sample, ThresholdSource, Thresholds};
use loadline_k6_options::GoDuration;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

/// The time format of the output `csv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimeFormat {
    #[default]
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

impl TimeFormat {
    /// Returns the format with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "unix" => TimeFormat::Unix,
            "unix_milli" => TimeFormat::UnixMilli,
            "unix_micro" => TimeFormat::UnixMicro,
            "unix_nano" => TimeFormat::UnixNano,
            "rfc3339" => TimeFormat::Rfc3339,
            "rfc3339_nano" => TimeFormat::Rfc3339Nano,
            _ => return None,
        })
    }

    fn text(self, at_ns: u64) -> String {
        match self {
            TimeFormat::Unix => (at_ns / 1_000_000_000).to_string(),
            TimeFormat::UnixMilli => (at_ns / 1_000_000).to_string(),
            TimeFormat::UnixMicro => (at_ns / 1_000).to_string(),
            TimeFormat::UnixNano => at_ns.to_string(),
            TimeFormat::Rfc3339 => local(at_ns).to_rfc3339_opts(SecondsFormat::Secs, true),
            TimeFormat::Rfc3339Nano => rfc3339_nano(at_ns),
        }
    }
}

fn local(at_ns: u64) -> DateTime<Local> {
    Local.timestamp_nanos(i64::try_from(at_ns).unwrap_or(i64::MAX))
}

/// Formats a time as Go does: RFC 3339 without zeros at the end of the fraction.
pub(super) fn rfc3339_nano(at_ns: u64) -> String {
    let whole = local(at_ns).to_rfc3339_opts(SecondsFormat::Secs, true);
    let fraction = at_ns % 1_000_000_000;
    if fraction == 0 {
        return whole;
    }
    let digits = format!("{fraction:09}");
    let digits = digits.trim_end_matches('0');
    // The seconds end after 19 characters, in any time zone.
    let (seconds, zone) = whole.split_at(19);
    format!("{seconds}.{digits}{zone}")
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
            let names = writer.columns.iter().map(String::as_str);
            let first = ["metric_name", "timestamp", "metric_value"];
            let all = first.into_iter().chain(names);
            let all = all.chain(["extra_tags", "metadata"]);
            let header = all.collect::<Vec<_>>().join(",") + "\n";
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

    fn json(&mut self, sample: &Sample) -> String {
        let mut text = String::new();
        if self.seen.insert(sample.metric) {
            text = self.description(sample.metric);
        }
        let pairs = |pairs: &[(String, String)]| pairs.iter().cloned().collect();
        let metadata: BTreeMap<String, String> = pairs(&sample.tags.metadata);
        let point = Point {
            metric: self.name(sample.metric),
            kind: "Point",
            data: PointData {
                time: rfc3339_nano(sample.at_ns),
                value: sample.value,
                tags: pairs(&sample.tags.tags),
                metadata: (!metadata.is_empty()).then_some(metadata),
            },
        };
        text + &go_json::compact(&point) + "\n"
    }

    /// Returns the line of a metric before its first sample.
    fn description(&self, metric: MetricId) -> String {
        let all = self.recording.registry.all();
        let name = self.name(metric);
        let Some(known) = all.into_iter().find(|one| one.name == name) else {
            return String::new();
        };
        let submetrics = self.recording.submetrics.of(metric).iter();
        let submetrics: Vec<Submetric> = submetrics
            .map(|index| &self.recording.submetrics.all()[*index])
            .map(|one| Submetric {
                name: one.name.clone(),
                suffix: one.suffix.clone(),
                tags: one.tags.iter().cloned().collect(),
            })
            .collect();
        let thresholds = self.thresholds.of(&name).map(threshold).collect();
        let line = Metric {
            kind: "Metric",
            data: MetricData {
                name: name.clone(),
                kind: known.kind.name(),
                contains: known.contains.name(),
                thresholds,
                submetrics: (!submetrics.is_empty()).then_some(submetrics),
            },
            metric: name.clone(),
        };
        // k6 does not escape the conditions.
        let text = go_json::compact(&line) + "\n";
        let text = text.replace("\\u003c", "<").replace("\\u003e", ">");
        text.replace("\\u0026", "&")
    }

    fn csv(&self, sample: &Sample, format: TimeFormat) -> String {
        let mut fields = vec![
            self.name(sample.metric),
            format.text(sample.at_ns),
            format!("{:.6}", sample.value),
        ];
        let column = |name: &String| sample.tags.tag(name).unwrap_or_default().to_owned();
        fields.extend(self.columns.iter().map(column));
        let extra = sample.tags.tags.iter();
        let extra = extra.filter(|(name, _)| !self.columns.contains(name));
        fields.push(joined(extra));
        fields.push(joined(sample.tags.metadata.iter()));
        let quoted: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
        quoted.join(",") + "\n"
    }
}

/// Joins pairs as `a=b&c=d`.
fn joined<'a>(pairs: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        let and = if text.is_empty() { "" } else { "&" };
        // Writing to a text can't fail.
        let _ = write!(text, "{and}{name}={value}");
    }
    text
}

/// Formats a field of CSV (RFC 4180), in quotes where Go uses quotes.
fn quoted(field: &str) -> String {
    let is_special = |letter: char| matches!(letter, ',' | '"' | '\r' | '\n');
    let begins_blank = field.starts_with(char::is_whitespace);
    match field == "\\." || begins_blank || field.contains(is_special) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

#[derive(Serialize)]
struct Point {
    metric: String,
    #[serde(rename = "type")]
    kind: &'static str,
    data: PointData,
}

#[derive(Serialize)]
struct PointData {
    time: String,
    value: f64,
    tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<BTreeMap<String, String>>,
}

#[derive(Serialize)]
struct Metric {
    #[serde(rename = "type")]
    kind: &'static str,
    data: MetricData,
    metric: String,
}

#[derive(Serialize)]
struct MetricData {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    contains: &'static str,
    thresholds: Vec<Threshold>,
    submetrics: Option<Vec<Submetric>>,
}

/// A condition as in the script, alone or with its options for ending the run.
#[derive(Serialize)]
#[serde(untagged)]
enum Threshold {
    Plain(String),
    #[serde(rename_all = "camelCase")]
    Aborting {
        threshold: String,
        abort_on_fail: bool,
        delay_abort_eval: Option<String>,
    },
}

fn threshold(source: &ThresholdSource) -> Threshold {
    let expression = source.expression.clone();
    if !source.abort_on_fail {
        return Threshold::Plain(expression);
    }
    let delay = source.delay_abort_eval_ns.map(Duration::from_nanos);
    Threshold::Aborting {
        threshold: expression,
        abort_on_fail: true,
        delay_abort_eval: delay.map(|delay| GoDuration::of(delay).to_string()),
    }
}

#[derive(Serialize)]
struct Submetric {
    name: String,
    suffix: String,
    tags: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_without_needless_zeros() {
        let nano = |ns: u64| rfc3339_nano(1_700_000_000_000_000_000 + ns);
        assert!(nano(0).starts_with("2023-11-"), "{}", nano(0));
        assert!(!nano(0).contains('.'));
        assert!(nano(120_000_000).contains(".12"), "{}", nano(120_000_000));
        assert!(!nano(120_000_000).contains(".120"));
        assert_eq!(TimeFormat::UnixMilli.text(1_500_000_000), "1500");
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("x=y,\"z"), "\"x=y,\"\"z\"");
        assert_eq!(quoted(" a"), "\" a\"");
    }
}
