//! Errors of runs that could not be made, or not be recorded completely.

use crate::watching::WatchError;
use loadline_engine::StartError;
use loadline_plan::Contradiction;
use loadline_script::{LoadError, ScriptError};
use loadline_verdict::Impossible;
use std::error::Error;
use std::fmt;

/// An error of an observer.
pub type ObserverError = Box<dyn Error + Send + Sync>;

/// The reason why a run was not made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A process that is to be watched can't be.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The goal of `--until` can never be reached.
    #[error(transparent)]
    Goal(#[from] Impossible),
    /// A check is on a name that neither the plan nor a script defines.
    #[error(transparent)]
    Name(#[from] Contradiction),
    /// The script can't be loaded.
    #[error(transparent)]
    Script(#[from] LoadError),
    /// The script raised an error.
    #[error(transparent)]
    Threw(#[from] ScriptError),
    /// The load could not be begun.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Every one of the last trials of a search lost a part of its load, or never reached its
    /// target.
    #[error("the last trials of the search all had to be discarded: {0}")]
    Void(String),
    /// An observer was not ready.
    #[error(transparent)]
    Observer(ObserverError),
}

/// The errors of observers and of the end of a run that was measured, in the order in which they
/// occurred.
#[derive(Debug)]
pub struct Trouble(Vec<ObserverError>);

impl Trouble {
    /// Creates trouble with one error.
    pub fn of(error: impl Into<ObserverError>) -> Trouble {
        Trouble(vec![error.into()])
    }

    /// Creates trouble with all of these errors, if there are any.
    pub(crate) fn of_all(errors: Vec<ObserverError>) -> Option<Trouble> {
        (!errors.is_empty()).then_some(Trouble(errors))
    }

    /// Returns the trouble without the error of this text; `None` if nothing else is left.
    pub(crate) fn without(mut self, text: &str) -> Option<Trouble> {
        self.0.retain(|error| error.to_string() != text);
        Trouble::of_all(self.0)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return write!(f, "{only}");
        }
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(f, "{separator}{error}")?;
            let mut cause = error.source();
            while let Some(error) = cause {
                write!(f, ": {error}")?;
                cause = error.source();
            }
        }
        Ok(())
    }
}

impl Error for Trouble {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.0.as_slice() {
            [only] => only.source(),
            _ => None,
        }
    }
}
