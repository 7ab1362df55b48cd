//! Outputs: in which format a report is written, and where to.

use crate::exporting::variables;
use clap::ValueEnum;
use loadline_exporters::{Format as ExportFormat, NoExporter, Requested};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The output of a run: a report, or its metrics while it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GivenOut {
    /// A report of the result.
    Report(Output),
    /// The metrics, to another program.
    Metrics(Requested),
}

/// A report: in which format, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// The format of the report.
    pub(crate) format: Format,
    /// The destination of the report.
    pub(crate) to: Sink,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One object.
    Json,
    /// One row a second.
    Csv,
    /// One page with plots.
    Html,
    /// A database, which only a file can be.
    Sqlite,
    /// Cases in XML, for the job of a pipeline.
    Junit,
    /// Markdown, for the comment on a pull request.
    Markdown,
    /// The format of GitHub Actions, in the files of its runner.
    Github,
}

/// The destination of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// This file, replaced if it is there.
    File(PathBuf),
    /// The files of the runner of GitHub Actions.
    Runner,
}

/// Whether what is printed has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that is not dumb, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Not an output.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoOutput {
    /// An exporter without a valid address.
    #[error("{0}.")]
    Exporter(#[from] NoExporter),
    /// There is no such format, or no file after it.
    #[error(
        "`{0}` is not an output. Write text, json, csv, html, sqlite, junit, markdown or github, \
         and =FILE after it to write a file."
    )]
    Unknown(String),
    /// Neither a report nor an exporter.
    #[error(
        "`{0}` is not an output. Write text, json, csv, html, sqlite, junit, markdown or github, \
         and =FILE after it to write a file; or prometheus-rw, influxdb, otlp, otlp-grpc, statsd, \
         dogstatsd, scrape or webhook, and =ADDRESS after it, to send metrics."
    )]
    NothingGivenOut(String),
    /// A database on stdout.
    #[error("`{0}` needs a file: write sqlite=FILE.")]
    NoFile(String),
    /// A file where there is none to choose.
    #[error(
        "`{0}`: github goes where the runner of GitHub Actions wants it; write github, or \
         markdown=FILE."
    )]
    NoChoice(String),
}

impl Output {
    /// The text report on stdout.
    pub(crate) const TEXT: Output = Output {
        format: Format::Text,
        to: Sink::Stdout,
    };

    /// The file that it is written to, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.to {
            Sink::File(path) => Some(path),
            Sink::Stdout | Sink::Runner => None,
        }
    }
}

impl FromStr for GivenOut {
    type Err = NoOutput;

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "any other reason stays what it is"
    )]
    fn from_str(text: &str) -> Result<Self, NoOutput> {
        let (name, address) = match text.split_once('=') {
            Some((name, address)) => (name, Some(address)),
            None => (text, None),
        };
        match ExportFormat::named(name) {
            Some(format) => {
                let requested = match address {
                    Some(address) => Requested::new(format, address),
                    None => Requested::of_variables(format, &variables()),
                };
                Ok(GivenOut::Metrics(requested?))
            }
            None => text
                .parse()
                .map(GivenOut::Report)
                .map_err(|error| match error {
                    NoOutput::Unknown(text) => NoOutput::NothingGivenOut(text),
                    other => other,
                }),
        }
    }
}

impl FromStr for Output {
    type Err = NoOutput;

    fn from_str(text: &str) -> Result<Self, NoOutput> {
        let (format, to) = match text.split_once('=') {
            None => (text, Sink::Stdout),
            Some((format, "-")) => (format, Sink::Stdout),
            Some((_, "")) => return Err(NoOutput::Unknown(text.to_owned())),
            Some((format, file)) => (format, Sink::File(file.into())),
        };
        let format = match format {
            "text" => Format::Text,
            "json" => Format::Json,
            "csv" => Format::Csv,
            "html" => Format::Html,
            "sqlite" if to == Sink::Stdout => return Err(NoOutput::NoFile(text.to_owned())),
            "sqlite" => Format::Sqlite,
            "junit" => Format::Junit,
            "markdown" => Format::Markdown,
            "github" if text == "github" => {
                return Ok(Self {
                    format: Format::Github,
                    to: Sink::Runner,
                });
            }
            "github" => return Err(NoOutput::NoChoice(text.to_owned())),
            _ => return Err(NoOutput::Unknown(text.to_owned())),
        };
        Ok(Self { format, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exporter_is_a_format_and_an_address() {
        for (text, shown) in [
            (
                "prometheus-rw=http://u:p@a/w?x=1",
                "prometheus-rw (http://a/w)",
            ),
            ("influxdb=udp://a:8089", "influxdb (udp://a:8089)"),
            ("statsd=a:8125", "statsd (udp://a:8125)"),
            ("otlp-grpc=http://a:4317", "otlp-grpc (http://a:4317/)"),
            ("scrape=:9464", ""),
            ("otlp", ""),
            ("webhook=a", ""),
        ] {
            let found = match text.parse::<GivenOut>() {
                Ok(GivenOut::Metrics(requested)) => requested.described(),
                Ok(GivenOut::Report(output)) => panic!("{output:?}"),
                Err(error) => {
                    assert!(error.to_string().contains("needs the address"), "{error}");
                    String::new()
                }
            };
            assert_eq!(found, shown, "{text}");
        }
        let report = "json=a.json".parse::<GivenOut>();
        assert!(matches!(report, Ok(GivenOut::Report(_))));
        let error = "prometheus=a".parse::<GivenOut>().unwrap_err().to_string();
        assert!(error.contains("or prometheus-rw"), "{error}");
    }

    #[test]
    fn an_output_is_a_format_and_maybe_a_file() {
        let file = |path: &str| Sink::File(path.into());
        for (text, format, to) in [
            ("text", Format::Text, Sink::Stdout),
            ("json=-", Format::Json, Sink::Stdout),
            ("csv=a=b.csv", Format::Csv, file("a=b.csv")),
            ("html=a.html", Format::Html, file("a.html")),
            ("sqlite=a.db", Format::Sqlite, file("a.db")),
            ("junit=a.xml", Format::Junit, file("a.xml")),
            ("markdown", Format::Markdown, Sink::Stdout),
            ("github", Format::Github, Sink::Runner),
        ] {
            assert_eq!(text.parse(), Ok(Output { format, to }), "{text}");
        }
        for text in ["", "xml", "json=", "=a", "JSON", "json:a"] {
            assert_eq!(
                text.parse::<Output>(),
                Err(NoOutput::Unknown(text.to_owned())),
                "{text}"
            );
        }
        for text in ["github=a", "github=-"] {
            assert_eq!(
                text.parse::<Output>(),
                Err(NoOutput::NoChoice(text.to_owned())),
                "{text}"
            );
        }
        for text in ["sqlite", "sqlite=-"] {
            assert_eq!(
                text.parse::<Output>(),
                Err(NoOutput::NoFile(text.to_owned())),
                "{text}"
            );
        }
    }
}
