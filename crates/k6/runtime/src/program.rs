//! A loaded script: its files, its options and its exports.

use crate::modules::store::{Sources, Store};
use crate::run::{Entry, Level, Log};
use loadline_k6_metrics::Registry;
use loadline_k6_modules::{Secrets, SharedArrays};
use rquickjs::{Ctx, Object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use url::Url;

/// Everything that is needed to load a script.
pub struct LoadSetup {
    /// The URL of the main module, with the scheme `file` or `https`.
    pub main: Url,
    /// The source of the script's files.
    pub sources: Box<dyn Sources>,
    /// The variables of `__ENV`.
    pub env: BTreeMap<String, String>,
    /// The receiver of log entries.
    pub log: Arc<dyn Log>,
    /// The registry of the script's metrics.
    pub registry: Arc<Registry>,
    /// The secrets of `k6/secrets`; if `None`, each secret is refused.
    pub secrets: Option<Arc<dyn Secrets + Send + Sync>>,
}

/// A loaded script.
pub struct Program {
    pub(crate) main: Url,
    pub(crate) store: Arc<Store>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) arrays: SharedArrays,
    pub(crate) secrets: Arc<dyn Secrets + Send + Sync>,
    /// The modules that scripts import by name, without files.
    pub(crate) built_in: BuiltIn,
    pub(crate) found: Found,
}

/// Returns the function that creates the module of this name.
///
/// # Errors
/// The message for a module that does not exist or is not supported.
pub(crate) type BuiltIn = fn(&str) -> Result<Make, String>;

/// Creates the object of a module.
pub(crate) type Make = for<'js> fn(&Ctx<'js>) -> rquickjs::Result<Object<'js>>;

/// The result of `handleSummary`: names and contents of files, in its order.
pub type SummaryFiles = Vec<(String, Vec<u8>)>;

/// The results of the first initialisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// `export const options`, as JSON.
    pub(crate) options: Option<String>,
    /// The names of the exported functions.
    pub(crate) functions: BTreeSet<String>,
}

/// The reason why a script can't run, or can't continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A file can't be read or compiled; the reason.
    #[error("{0}")]
    NotLoaded(String),
    /// The options have no form as JSON.
    #[error("error parsing script options: {0}")]
    Options(String),
    /// An exception during initialisation, setup or teardown; its text and stack.
    #[error("{0}")]
    Threw(String),
    /// A rejected promise of `setup()` or `teardown()`; the reason and its stack.
    #[error("{0}")]
    Rejected(String),
    /// The script ended the run; its message and the place of the call.
    #[error("{0}")]
    Aborted(String),
    /// The result of `setup()` has no form as JSON.
    #[error("error marshaling setup() data to JSON: {0}")]
    SetupData(String),
    /// The result of `handleSummary()` can't be written.
    #[error("{0}")]
    SummaryFiles(String),
    /// The system has no memory for another user's stack or runtime.
    #[error("no memory for another virtual user: {0}")]
    Memory(String),
}

impl Program {
    /// Returns the script's `options`, as JSON.
    pub fn options(&self) -> Option<&str> {
        self.found.options.as_deref()
    }

    /// Returns the registry of the script's metrics and of the built-in ones.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// True if the script exports a function of this name.
    pub fn has(&self, function: &str) -> bool {
        self.found.functions.contains(function)
    }

    /// True if the script exports any function.
    pub fn has_functions(&self) -> bool {
        !self.found.functions.is_empty()
    }

    /// Returns the contents of all modules of the script and of all files that it opened, by their
    /// URLs.
    pub fn files(&self) -> BTreeMap<Url, Vec<u8>> {
        self.store.all()
    }

    /// Logs an entry with these fields.
    pub(crate) fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        self.log.log(&Entry {
            level,
            message,
            fields,
        });
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("main", &self.main.as_str())
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}
