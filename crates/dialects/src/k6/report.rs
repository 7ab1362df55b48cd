//! What is said of a run behind its end: the summary, the script's own, files.

use super::command::Asked;
use super::conduct::Ran;
use super::natives::Natives;
use super::test::Test;
use super::{FAILED, Refused, go_json, go_words};
use loadline_k6_metrics::summary::{self, Ended, TimeUnit};
use loadline_k6_metrics::{Portion, builtin};
use loadline_runner::Observer;
use loadline_script_js::{Entry, Level, Log, SummaryFiles};
use md5::{Digest, Md5};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// What is printed, and what is written.
pub(super) struct Report {
    mode: Mode,
    /// The file of `--summary-export`.
    export: Option<String>,
    /// Loadline's own outputs.
    natives: Vec<Native>,
}

/// An output of Loadline's own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Native {
    kind: Kind,
    /// Its file, as it was named.
    named: String,
    path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The saved run.
    Saved,
    /// The HTML report.
    Page,
}

impl Native {
    fn new(kind: Kind, file: &str, asked: &Asked<'_>) -> Self {
        Native {
            kind,
            named: file.to_owned(),
            path: asked.surroundings.place.directory.join(file),
        }
    }
}

/// How much the summary says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Disabled,
    Compact,
    Full,
}

impl Report {
    /// What a command line asks for.
    ///
    /// # Errors
    /// If a mode or an output is none.
    pub(super) fn of(asked: &Asked<'_>) -> Result<Report, Refused> {
        let mode = match asked.flag("summary-mode").as_deref() {
            None | Some("compact") => Mode::Compact,
            Some("full") => Mode::Full,
            Some("disabled") => Mode::Disabled,
            Some(_) => return Err(Refused::new(FAILED, "invalid summary mode")),
        };
        let asked_for = asked.invocation.all("out").iter();
        let mut natives: Vec<Native> = asked_for
            .map(|output| native(asked, output))
            .collect::<Result<_, _>>()?;
        let environment = &asked.surroundings.place.environment;
        if let Some(file) = environment.get("K6_WEB_DASHBOARD_EXPORT") {
            natives.push(Native::new(Kind::Page, file, asked));
        }
        Ok(Report {
            mode: match asked.is_on("no-summary") {
                true => Mode::Disabled,
                false => mode,
            },
            export: asked.flag("summary-export"),
            natives,
        })
    }

    /// Whether outputs want each value.
    pub(super) fn keeps_samples(&self) -> bool {
        false
    }

    /// Whether the summary tells groups and scenarios apart.
    pub(super) fn is_full(&self) -> bool {
        self.mode == Mode::Full
    }

    /// The outputs, as the header names them.
    pub(super) fn described(&self) -> String {
        let described = self.natives.iter().map(|native| match native.kind {
            Kind::Saved => format!("loadline ({})", native.named),
            Kind::Page => format!("html ({})", native.named),
        });
        match self.natives.is_empty() {
            true => "-".to_owned(),
            false => described.collect::<Vec<_>>().join(", "),
        }
    }

    /// What makes Loadline's own outputs.
    pub(super) fn observers(&self, natives: Natives) -> Vec<Box<dyn Observer>> {
        let made = self.natives.iter().map(|native| match native.kind {
            Kind::Saved => (natives.save)(native.path.clone()),
            Kind::Page => (natives.page)(native.path.clone()),
        });
        made.collect()
    }

    /// Takes what users recorded.
    pub(super) fn take(&self, _portion: &Portion) {}

    /// Says what is to be said of a run that has ended.
    pub(super) fn conclude(&self, asked: &Asked<'_>, test: &Test, ran: &Ran) {
        if self.mode != Mode::Disabled {
            self.summarise(asked, test, ran);
        }
        // Where nothing was sent there is nothing to believe.
        if ran.totals.sink(builtin::HTTP_REQS).is_some() {
            tell_verdict(asked, ran);
        }
    }

    fn summarise(&self, asked: &Asked<'_>, test: &Test, ran: &Ran) {
        let settings = test.settings();
        let ended = Ended {
            totals: &ran.totals,
            outcomes: &ran.outcomes,
            elapsed_ns: ran.elapsed.as_nanos() as u64,
            trend_stats: &settings.trend_stats,
            time_unit: settings.time_unit.as_deref().and_then(TimeUnit::parse),
        };
        let mut files =
            own_summary(asked, test, ran, &ended).unwrap_or_else(|| self.usual_summary(&ended));
        if let Some(path) = &self.export {
            let json = summary::export(&ended, &md5_hex).to_string();
            files.push((path.clone(), go_json::indented_by(4, &json).into_bytes()));
        }
        if let Some(problem) = write_all(asked, &files) {
            tell(asked, &problem);
        }
    }

    fn usual_summary(&self, ended: &Ended<'_>) -> SummaryFiles {
        let text = summary::text(ended, self.is_full());
        vec![("stdout".to_owned(), text.into_bytes())]
    }
}

/// Says whether the result can be believed.
fn tell_verdict(asked: &Asked<'_>, ran: &Ran) {
    for said in &ran.verdict {
        asked.console.log(&Entry {
            level: match said.is_warning {
                true => Level::Warning,
                false => Level::Info,
            },
            message: &said.text,
            fields: &[("source", "loadline")],
        });
    }
}

/// An output, as `--out` names it.
fn native(asked: &Asked<'_>, output: &str) -> Result<Native, Refused> {
    let (name, file) = output.split_once('=').unwrap_or((output, ""));
    let refused = |text: String| Err(Refused::new(FAILED, text));
    match name {
        "loadline" | "html" if file.is_empty() => refused(format!(
            "the output '{name}' needs a file, as in {name}=FILE"
        )),
        "loadline" => Ok(Native::new(Kind::Saved, file, asked)),
        "html" => Ok(Native::new(Kind::Page, file, asked)),
        "json" | "csv" => refused(format!(
            "Loadline does not write the output '{name}' yet; use --out loadline=FILE, which \
             `loadline report` reads"
        )),
        _ => refused(format!(
            "invalid output type '{name}', available types are: html, loadline"
        )),
    }
}

/// What the script's `handleSummary()` gives; `None` without one, or where it gives nothing.
fn own_summary(
    asked: &Asked<'_>,
    test: &Test,
    ran: &Ran,
    ended: &Ended<'_>,
) -> Option<SummaryFiles> {
    if !test.program.has("handleSummary") {
        return None;
    }
    let terminals = asked.surroundings.terminals;
    let setup_data = ran.setup_data.as_deref();
    let around = summary::Surroundings {
        is_stdout_tty: terminals.stdout,
        is_stderr_tty: terminals.stderr,
        no_color: !asked.has_colours,
        setup_data: setup_data.and_then(|json| serde_json::from_str::<Value>(json).ok()),
    };
    let data = summary::handle_summary_data(ended, &around, &md5_hex);
    test.program
        .handle_summary(&data.to_string())
        .unwrap_or_else(|failure| {
            asked.console.log_refusal(&Refused::thrown(failure));
            None
        })
}

/// Writes texts to files; what went wrong, if something did.
fn write_all(asked: &Asked<'_>, files: &SummaryFiles) -> Option<String> {
    let mut problems = String::new();
    let screen = &asked.surroundings.screen;
    for (name, content) in files {
        match name.as_str() {
            "stdout" => screen.print(&String::from_utf8_lossy(content)),
            "stderr" => screen.print_error(&String::from_utf8_lossy(content)),
            path => {
                let written = fs::write(asked.surroundings.place.directory.join(path), content);
                if let Err(error) = written {
                    let problem = go_words::system(&error);
                    // Writing to a text can't fail.
                    let _ = write!(
                        problems,
                        "\n\t- could not open '{path}': open {path}: {problem}"
                    );
                }
            }
        }
    }
    (!problems.is_empty()).then(|| format!("Could not save some summary information:{problems}"))
}

fn tell(asked: &Asked<'_>, problem: &str) {
    asked.console.log(&Entry {
        level: Level::Error,
        message: "failed to handle the end-of-test summary",
        fields: &[("error", problem)],
    });
}

fn md5_hex(text: &str) -> String {
    let digest = Md5::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
