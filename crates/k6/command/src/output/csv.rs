//! The output `csv`: a row for each sample.

use super::SampleWriter;
use super::time::{local, rfc3339_nano};
use chrono::SecondsFormat;
use loadline_k6_metrics::Sample;
use std::fmt::Write;

/// The time format of the output `csv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TimeFormat {
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
    pub(crate) fn named(name: &str) -> Option<Self> {
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

impl SampleWriter {
    /// Returns the names of the columns.
    pub(super) fn csv_header(&self) -> String {
        let names = self.columns.iter().map(String::as_str);
        let first = ["metric_name", "timestamp", "metric_value"];
        let all = first.into_iter().chain(names);
        let all = all.chain(["extra_tags", "metadata"]);
        all.collect::<Vec<_>>().join(",") + "\n"
    }

    /// Returns the row of a sample.
    pub(super) fn csv(&self, sample: &Sample, format: TimeFormat) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_1970() {
        assert_eq!(TimeFormat::UnixMilli.text(1_500_000_000), "1500");
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("x=y,\"z"), "\"x=y,\"\"z\"");
        assert_eq!(quoted(" a"), "\" a\"");
    }
}
