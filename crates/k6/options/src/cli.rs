//! k6's command lines: from words to a command, its options and its flags.

mod flags;
mod words;

use crate::error::OptionsError;
use crate::keys::Kind;
use crate::tier::Tier;
use crate::values;
use std::collections::BTreeMap;

pub use flags::help;

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The command.
    pub command: Command,
    /// The arguments after the command, such as a script.
    pub arguments: Vec<String>,
    /// The options that the command line sets.
    pub options: Tier,
    /// Other flags by their long names, with the given values in order.
    pub flags: BTreeMap<&'static str, Vec<String>>,
    /// Messages to print: warnings about deprecated flags.
    pub warnings: Vec<String>,
}

/// A command of k6.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Command {
    /// Runs a script.
    Run,
    /// Prints the options of a script.
    Inspect,
    /// Writes an archive of a script.
    Archive,
    /// Writes a new script.
    New,
    /// Prints the version.
    Version,
    /// Pauses a test.
    Pause,
    /// Resumes a paused test.
    Resume,
    /// Prints the state of a test.
    Status,
    /// Prints the metrics of a test.
    Stats,
    /// Changes the numbers of users of a test.
    Scale,
    /// Prints the list of commands.
    #[default]
    Help,
    /// A command that Loadline does not support.
    Absent(String),
}

/// Switches whose variables are checked, with the names of their fields in k6; empty for those that
/// are not options there.
const SWITCHES: [(&str, &str); 6] = [
    ("include-system-env-vars", ""),
    ("linger", "Linger"),
    ("new-machine-readable-summary", ""),
    ("no-summary", ""),
    ("no-thresholds", ""),
    ("no-usage-report", "NoUsageReport"),
];

fn truth(text: &str) -> Option<bool> {
    let value = values::from_text(Kind::Bool, text).ok()?;
    value.as_bool()
}

/// The error message for the value of a flag, in k6's wording.
pub(crate) type Refusal = String;

impl Invocation {
    /// Returns the last value of a flag; if it was not given, the value of its variable.
    pub fn flag(&self, name: &str, environment: &BTreeMap<String, String>) -> Option<String> {
        let given = self.flags.get(name).and_then(|values| values.last());
        let variable = format!("K6_{}", name.to_uppercase().replace('-', "_"));
        let set = environment.get(&variable).filter(|value| !value.is_empty());
        given.or(set).cloned()
    }

    /// True if a switch is on.
    pub fn is_on(&self, name: &str, environment: &BTreeMap<String, String>) -> bool {
        let value = self.flag(name, environment);
        value.is_some_and(|value| truth(&value) == Some(true))
    }

    /// Checks that the variables of switches are `true` or `false`.
    ///
    /// # Errors
    /// If a variable is neither, with k6's message.
    pub fn check_switches(
        &self,
        environment: &BTreeMap<String, String>,
    ) -> Result<(), OptionsError> {
        for (name, field) in SWITCHES {
            let value = self.flag(name, environment).unwrap_or_default();
            if value.is_empty() || truth(&value).is_some() {
                continue;
            }
            let variable = format!("K6_{}", name.to_uppercase().replace('-', "_"));
            return Err(match field {
                "" => OptionsError::refused(format!(
                    "env var '{variable}' is not a valid boolean value: strconv.ParseBool: \
                     parsing {value:?}: invalid syntax"
                )),
                field => OptionsError::invalid(format!(
                    "envconfig.Process: assigning {variable} to {field}: converting '{value}' to \
                     type null.Bool. details: invalid input:{value}"
                )),
            });
        }
        Ok(())
    }

    /// Returns all values of a flag.
    pub fn all(&self, name: &str) -> &[String] {
        self.flags.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Parses the words after the name of the program.
///
/// # Errors
/// If they are not a command line of k6, with its message.
pub fn parse(words: &[String]) -> Result<Invocation, OptionsError> {
    let read = words::read(words).map_err(OptionsError::refused)?;
    let problem = arity(&read);
    match problem {
        Some(problem) => Err(OptionsError::refused(problem)),
        None => Ok(read),
    }
}

/// Returns the error for a wrong number of arguments.
fn arity(read: &Invocation) -> Option<String> {
    let given = read.arguments.len();
    if read.flags.contains_key("help") {
        return None;
    }
    match read.command {
        Command::Run | Command::Inspect | Command::Archive if given != 1 => Some(format!(
            "accepts 1 arg(s), received {given}: arg should either be \"-\", if reading script \
             from stdin, or a path to a script file"
        )),
        Command::New if given > 1 => Some(format!("accepts at most 1 arg(s), received {given}")),
        Command::Run
        | Command::Inspect
        | Command::Archive
        | Command::New
        | Command::Version
        | Command::Pause
        | Command::Resume
        | Command::Status
        | Command::Stats
        | Command::Scale
        | Command::Help
        | Command::Absent(_) => None,
    }
}

#[cfg(test)]
mod tests;
