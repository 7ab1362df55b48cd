//! The interface of scripts, whatever their language.
//!
//! A [`Language`] loads scripts. A [`Script`] is a loaded one: it sets itself up, begins the load
//! of a plan, ends the run when it raises an error, and concludes after the report. A caller needs
//! to know nothing else of a script, and the list of languages is in one place only.
//!
//! # The order of calls
//!
//! 1. [`Language::load`] runs everything before the run: the file itself, and its functions that
//!    initialise workers.
//! 2. [`Script::setup`] runs once, before connections are made.
//! 3. [`Script::start`] begins the load; in a plan of several scenarios [`Script::launch`] makes
//!    its users one of them. The behaviour of users is a [`Scenario`](loadline_engine::Scenario) of
//!    the engine, created once for each worker on its own thread. It sends through a
//!    [`Requester`](loadline_engine::Requester).
//! 4. During the load, an error of the script ends the run through [`Script::on_error`];
//!    [`Script::failure`] returns it.
//! 5. [`Script::teardown`] runs once, when the load has ended, for whatever reason.
//! 6. [`Script::conclude`] runs after the report, if no error was raised before.
//!
//! Where other processes send the load, they get the script as [`Script::pack`] returns it, and
//! create its users by [`Language::unpack`]; everything before the load and after it runs in the
//! first process as well. Their errors come back as the tally [`Raised`].
//!
//! ## To change
//!
//! - the interface of a language: `Language` and `Script` in `lib.rs`
//! - errors of scripts: `error.rs`; those that other processes raise `raised.rs`
//! - a tally that the users of a scenario do not count themselves: `with_tally.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod error;
mod raised;
mod with_tally;

pub use error::{LoadError, ScriptError};
pub use raised::Raised;
pub use with_tally::{TallySource, WithTally};

use loadline_engine::{Detail, Launch, Run, StartError};
use loadline_plan::Plan;
use loadline_record::Summary;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The output for a script's prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prints {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error, whatever the script uses: standard output has a report for a program.
    Stderr,
}

/// The process that sends the load of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadSender {
    /// The one that loads the script first.
    #[default]
    Here,
    /// Others, to which the script is sent.
    Elsewhere,
}

/// The action on the first error that a script raises during its load: it ends the run.
pub type OnError = Arc<dyn Fn(ScriptError) + Send + Sync>;

/// A language that scripts are written in.
pub trait Language {
    /// Returns the name of the language for messages.
    fn name(&self) -> &'static str;

    /// True if a file of this name is a script in this language.
    fn knows(&self, path: &Path) -> bool;

    /// Loads the script of a plan, and runs the part of it that comes before the run.
    ///
    /// # Errors
    /// If the script can't be loaded, or raises an error.
    fn load(
        &self,
        plan: &Plan,
        prints: Prints,
        place: LoadSender,
    ) -> Result<Box<dyn Script>, LoadError>;

    /// Creates the users of a script that another process has [packed](Script::pack), for these
    /// workers of the run.
    ///
    /// # Errors
    /// If it is no packed script of this language, or can't be loaded here.
    fn unpack(&self, packed: &str, workers: Range<u32>) -> Result<Launch, LoadError>;
}

/// A loaded script.
pub trait Script {
    /// Runs the part of the script that comes once before the load.
    ///
    /// # Errors
    /// If the script raises an error.
    fn setup(&self) -> Result<(), ScriptError> {
        Ok(())
    }

    /// Begins the load of a plan that has no scenarios. Blocks until its connections are up.
    ///
    /// # Errors
    /// Those of [`Run::start`].
    fn start(&self, plan: Plan, detail: Detail) -> Result<Run, StartError> {
        Run::launch(plan, detail, &[self.launch()])
    }

    /// True if the users name their requests, in addition to the names of the plan.
    fn names_requests(&self) -> bool {
        false
    }

    /// Returns the launch of the script's users on each worker.
    fn launch(&self) -> Launch;

    /// Returns the script with the files that it has read, as a text from which another process
    /// creates the same users.
    ///
    /// # Errors
    /// If it is too large to be sent.
    fn pack(&self) -> Result<String, LoadError>;

    /// Takes an error that the script raised in another process.
    fn raise(&self, error: ScriptError);

    /// Sets the function to call with the first error that the script raises during the load, from
    /// the thread that raised it. It is called at once if there was an error already.
    fn on_error(&self, act: OnError);

    /// Returns the first error that the script raised during the load, if there was one.
    fn failure(&self) -> Option<ScriptError>;

    /// Flushes the script's prints so far; to be called before other output to the same place.
    fn flush(&self) {}

    /// Runs the part of the script that comes once after the load.
    ///
    /// # Errors
    /// If the script raises an error.
    fn teardown(&self) -> Result<(), ScriptError> {
        Ok(())
    }

    /// Passes the result to the script, after the report.
    ///
    /// # Errors
    /// If the script raises an error.
    fn conclude(&self, summary: &Summary) -> Result<(), ScriptError>;
}

/// Returns the language of a script: the first that recognises the file by its name, or else the
/// first of all.
pub fn language_of<'a>(path: &Path, languages: &[&'a dyn Language]) -> Option<&'a dyn Language> {
    let knowing = languages.iter().find(|language| language.knows(path));
    knowing.or(languages.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str);

    impl Language for Named {
        fn name(&self) -> &'static str {
            self.0
        }

        fn knows(&self, path: &Path) -> bool {
            path.extension()
                .is_some_and(|extension| extension == self.0)
        }

        fn load(&self, _: &Plan, _: Prints, _: LoadSender) -> Result<Box<dyn Script>, LoadError> {
            Err(LoadError::new("none is loaded here"))
        }

        fn unpack(&self, _packed: &str, _workers: Range<u32>) -> Result<Launch, LoadError> {
            Err(LoadError::new("none is loaded here"))
        }
    }

    #[test]
    fn the_name_of_a_file_tells_its_language_and_the_first_takes_what_nobody_knows() {
        let languages: [&dyn Language; 2] = [&Named("lua"), &Named("js")];
        let name = |path: &str| language_of(Path::new(path), &languages).map(Language::name);
        assert_eq!(name("a.js"), Some("js"));
        assert_eq!(name("a.lua"), Some("lua"));
        assert_eq!(name("script"), Some("lua"));
        assert!(language_of(Path::new("a.js"), &[]).is_none());
    }
}
