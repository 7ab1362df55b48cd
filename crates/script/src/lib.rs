//! What a script of any language is to those that run it.
//!
//! A [`Language`] loads scripts. A [`Script`] is one that is loaded: it sets itself up, begins the
//! load of a plan, ends the run when it raises an error, and concludes behind the report. Who runs
//! a script knows no more of it, and which languages there are is known in one place alone.
//!
//! # The order of calls
//!
//! 1. [`Language::load`] runs everything that comes before the run: the file itself, and what it
//!    calls to initialise its workers.
//! 2. [`Script::setup`] runs once, before connections are made.
//! 3. [`Script::start`] begins the load; in a plan of several scenarios [`Script::launch`]
//!    makes its users one of them. What users do is a [`Scenario`](loadline_engine::Scenario)
//!    of the engine, made once for each worker on its own thread. It sends through a
//!    [`Requester`](loadline_engine::Requester).
//! 4. While the load lasts, an error of the script ends the run through [`Script::on_error`];
//!    [`Script::failure`] says which it was.
//! 5. [`Script::teardown`] runs once, when the load has ended, whatever ended it.
//! 6. [`Script::conclude`] runs behind the report, if no error was raised before.

mod error;

pub use error::{LoadError, ScriptError};

use loadline_engine::{Detail, Launch, Run, StartError};
use loadline_plan::Plan;
use loadline_record::Summary;
use std::path::Path;
use std::sync::Arc;

/// Where a script's prints go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prints {
    /// To stdout.
    #[default]
    Stdout,
    /// To stderr, whatever the script says: stdout has a report that a program reads.
    Stderr,
}

/// What is done with the first error that a script raises while its load lasts: it ends the run.
pub type OnError = Arc<dyn Fn(ScriptError) + Send + Sync>;

/// A language that scripts are written in.
pub trait Language {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Whether a file of this name is one of its scripts.
    fn knows(&self, path: &Path) -> bool;

    /// Loads the script of a plan: all of it that comes before the run.
    ///
    /// # Errors
    /// If the script can't be loaded, or raises an error.
    fn load(&self, plan: &Plan, prints: Prints) -> Result<Box<dyn Script>, LoadError>;
}

/// A script that is loaded.
pub trait Script {
    /// Does what is to be done once before the load.
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

    /// Whether its users name their requests, beside what the plan says of names.
    fn names_requests(&self) -> bool {
        false
    }

    /// What begins its users on each worker.
    fn launch(&self) -> Launch;

    /// Calls this with the first error that the script raises while the load lasts, from the thread
    /// that raised it; at once if it was raised already.
    fn on_error(&self, act: OnError);

    /// The error that it raised while the load lasted, if it did: the first.
    fn failure(&self) -> Option<ScriptError>;

    /// Brings what it printed so far to its reader, before something else is printed there.
    fn flush(&self) {}

    /// Does what is to be done once when the load has ended.
    ///
    /// # Errors
    /// If the script raises an error.
    fn teardown(&self) -> Result<(), ScriptError> {
        Ok(())
    }

    /// Is told the result, behind the report.
    ///
    /// # Errors
    /// If the script raises an error.
    fn conclude(&self, summary: &Summary) -> Result<(), ScriptError>;
}

/// The language of a script: the first that knows a file of its name, or else the first of all.
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

        fn load(&self, _plan: &Plan, _prints: Prints) -> Result<Box<dyn Script>, LoadError> {
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
