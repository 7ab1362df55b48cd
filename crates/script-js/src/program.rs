//! A script that is loaded: its files, its options and what it exports.

use crate::api::offline::NoSecrets;
use crate::modules::store::{Sources, Store};
use crate::realm;
use crate::run::{Entry, Level, Log};
use crate::samples::Worker;
use crate::vu::Vu;
use loadline_k6_metrics::{RecorderSetup, Registry};
use loadline_k6_modules::{Secrets, SharedArrays};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use url::Url;

/// What a script is loaded from.
pub struct LoadSetup {
    /// The URL of its main module: of the scheme `file`, or `https`.
    pub main: Url,
    /// Where its files come from.
    pub sources: Box<dyn Sources>,
    /// The variables of `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Where it logs.
    pub log: Arc<dyn Log>,
    /// What its metrics are registered in.
    pub registry: Arc<Registry>,
    /// What `k6/secrets` gives; without it each secret is refused.
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
    found: Found,
}

/// What `handleSummary` gives: the contents of files, by their names in its order.
pub type SummaryFiles = Vec<(String, Vec<u8>)>;

/// What the first initialisation finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// `export const options`, as JSON.
    pub(crate) options: Option<String>,
    /// The names of the functions it exports.
    pub(crate) functions: BTreeSet<String>,
}

/// Why a script can't run, or not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Its files can't be read or compiled: why.
    #[error("{0}")]
    NotLoaded(String),
    /// Its options have no form as JSON.
    #[error("error parsing script options: {0}")]
    Options(String),
    /// It threw while it was initialised, set up or torn down: what, with its stack.
    #[error("{0}")]
    Threw(String),
    /// A promise of `setup()` or `teardown()` was rejected: what with, and its stack.
    #[error("{0}")]
    Rejected(String),
    /// It ended the run itself: what it said, and where.
    #[error("{0}")]
    Aborted(String),
    /// What `setup()` gave has no form as JSON.
    #[error("error marshaling setup() data to JSON: {0}")]
    SetupData(String),
    /// What `handleSummary()` gave can't be written.
    #[error("{0}")]
    SummaryFiles(String),
    /// The system refuses a stack.
    #[error("no memory for another virtual user: {0}")]
    Memory(String),
}

impl Program {
    /// Loads a script: runs it once, as the user 0.
    ///
    /// # Errors
    /// If it can't be read or compiled, or throws.
    pub fn load(setup: LoadSetup) -> Result<Arc<Program>, Failure> {
        let mut program = Program {
            main: setup.main,
            store: Arc::new(Store::new(setup.sources, Arc::clone(&setup.log))),
            env: setup.env,
            log: setup.log,
            registry: setup.registry,
            arrays: SharedArrays::default(),
            secrets: setup.secrets.unwrap_or_else(|| Arc::new(NoSecrets)),
            found: Found::default(),
        };
        let first = Arc::new(program.clone_unloaded());
        let worker = Worker::new(first.unrecorded());
        let vu = Vu::new(&first, 0, None, worker);
        program.found = realm::initialise(&vu)?;
        program.store.freeze();
        Ok(Arc::new(program))
    }

    /// What recorders are made of whose values nobody wants.
    fn unrecorded(&self) -> Arc<RecorderSetup> {
        Arc::new(RecorderSetup {
            registry: Arc::clone(&self.registry),
            ..RecorderSetup::default()
        })
    }

    /// The same, before it is known what there is in it.
    fn clone_unloaded(&self) -> Program {
        Program {
            main: self.main.clone(),
            store: Arc::clone(&self.store),
            env: self.env.clone(),
            log: Arc::clone(&self.log),
            registry: Arc::clone(&self.registry),
            arrays: self.arrays.clone(),
            secrets: Arc::clone(&self.secrets),
            found: Found::default(),
        }
    }

    /// Its `options`, as JSON.
    pub fn options(&self) -> Option<&str> {
        self.found.options.as_deref()
    }

    /// The metrics that it has, and those that are built in.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Whether it exports a function of this name.
    pub fn has(&self, function: &str) -> bool {
        self.found.functions.contains(function)
    }

    /// Whether it exports any function.
    pub fn has_functions(&self) -> bool {
        !self.found.functions.is_empty()
    }

    /// The modules that it is made of and the files that it opened, by their URLs.
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
