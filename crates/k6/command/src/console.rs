//! The log of a command: messages of scripts, and errors.

mod lines;

use super::screen::Screen;
use super::secret_sources::Revealed;
use super::{FAILED, Refused, go_words};
use lines::{Form, When};
use loadline_script_js::{Entry, Level, Log};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// The options of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogOptions {
    /// The value of `--log-output`.
    pub(super) output: Option<String>,
    /// The value of `--log-format`.
    pub(super) format: Option<String>,
    /// True if the log is coloured on a terminal.
    pub(super) has_colours: bool,
    /// True if standard error is a terminal.
    pub(super) is_terminal: bool,
    /// True if entries of the lowest level are shown.
    pub(super) is_verbose: bool,
}

/// Writes entries of the log.
pub(super) struct Console {
    screen: Arc<Screen>,
    begun: Instant,
    form: Form,
    is_verbose: bool,
    place: Mutex<LogDestination>,
    /// The secrets that are removed from the log.
    revealed: Arc<Revealed>,
    /// The file of `--console-output`, once it is known.
    of_scripts: Mutex<Option<File>>,
}

/// The destination of entries.
enum LogDestination {
    Stderr,
    Stdout,
    Nowhere,
    File(File),
}

impl Console {
    /// Creates the log that these options describe.
    ///
    /// # Errors
    /// If the output is unknown, or its file can't be written.
    pub(super) fn new(
        options: &LogOptions,
        directory: &Path,
        screen: Arc<Screen>,
    ) -> Result<Self, Refused> {
        let output = options.output.as_deref().unwrap_or("stderr");
        let place = LogDestination::of(output, directory)?;
        let is_terminal = options.is_terminal && matches!(place, LogDestination::Stderr);
        let form = match options.format.as_deref() {
            Some("json") => Form::Json,
            Some("raw") => Form::Raw,
            _ if is_terminal && options.has_colours => Form::Terminal,
            _ => Form::Logfmt,
        };
        Ok(Console {
            screen,
            begun: Instant::now(),
            form,
            is_verbose: options.is_verbose,
            place: Mutex::new(place),
            revealed: Arc::default(),
            of_scripts: Mutex::default(),
        })
    }

    /// Returns the secrets that are removed from the log.
    pub(super) fn revealed(&self) -> &Arc<Revealed> {
        &self.revealed
    }

    /// Writes the messages of scripts to a file from now on.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn send_scripts_to(&self, path: &Path) -> Result<(), Refused> {
        let file = append(path)?;
        *self
            .of_scripts
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(file);
        Ok(())
    }

    /// Logs an entry without fields.
    pub(super) fn log_plain(&self, level: Level, message: &str) {
        self.log(&Entry {
            level,
            message,
            fields: &[],
        });
    }

    /// Logs the reason why a command ends, unless it was logged before.
    pub(super) fn log_refusal(&self, refused: &Refused) {
        if refused.text.is_empty() {
            return;
        }
        let hint = refused.hint.as_deref().map(|hint| ("hint", hint));
        self.log(&Entry {
            level: Level::Error,
            message: &refused.text,
            fields: hint.as_slice(),
        });
    }

    fn text(&self, form: Form, entry: &Entry<'_>, fields: &[(&str, &str)]) -> String {
        let when = When {
            at: SystemTime::now(),
            since_begin: self.begun.elapsed(),
        };
        let message = self.revealed.redacted(entry.message);
        let values = fields
            .iter()
            .map(|(_, value)| self.revealed.redacted(value));
        let values: Vec<String> = values.collect();
        let names = fields.iter().map(|(name, _)| *name);
        let fields: Vec<(&str, &str)> = names.zip(values.iter().map(String::as_str)).collect();
        let entry = Entry {
            message: &message,
            ..*entry
        };
        lines::line(form, &entry, &fields, when)
    }

    /// Writes a message of a script's `console` to its file; false if there is no such file or the
    /// entry has another source.
    fn log_to_file(&self, entry: &Entry<'_>) -> bool {
        let is_console = entry.fields.contains(&("source", "console"));
        let mut file = self
            .of_scripts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(file) = file.as_mut().filter(|_| is_console) else {
            return false;
        };
        let text = self.text(Form::Logfmt, entry, &[]);
        // The run continues even if its log can't be written.
        let _ = file.write_all(text.as_bytes());
        true
    }
}

impl Log for Console {
    fn log(&self, entry: &Entry<'_>) {
        if self.log_to_file(entry) || (entry.level == Level::Debug && !self.is_verbose) {
            return;
        }
        let text = self.text(self.form, entry, entry.fields);
        match &mut *self.place.lock().unwrap_or_else(PoisonError::into_inner) {
            LogDestination::Stderr => self.screen.print_error(&text),
            LogDestination::Stdout => self.screen.print(&text),
            LogDestination::Nowhere => {}
            LogDestination::File(file) => drop(file.write_all(text.as_bytes())),
        }
    }
}

impl LogDestination {
    fn of(output: &str, directory: &Path) -> Result<LogDestination, Refused> {
        let (name, arguments) = output.split_once('=').unwrap_or((output, ""));
        match name {
            "stderr" => Ok(LogDestination::Stderr),
            "stdout" => Ok(LogDestination::Stdout),
            "none" => Ok(LogDestination::Nowhere),
            "file" if arguments.is_empty() => Err(Refused::new(
                FAILED,
                "error while parsing logfile configuration key `file` with no value",
            )),
            "file" => {
                let path = arguments.split(',').next().unwrap_or_default();
                Ok(LogDestination::File(append(&directory.join(path))?))
            }
            _ => Err(Refused::new(
                FAILED,
                format!("unsupported log output '{output}'"),
            )),
        }
    }
}

fn append(path: &Path) -> Result<File, Refused> {
    let opened = File::options().create(true).append(true).open(path);
    opened.map_err(|error| {
        let problem = go_words::system(&error);
        Refused::new(FAILED, format!("open {}: {problem}", path.display()))
    })
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}
