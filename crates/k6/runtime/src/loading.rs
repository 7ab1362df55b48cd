//! Loading a script: its first initialisation.

use crate::api;
use crate::modules::store::Store;
use crate::program::{Failure, Found, LoadSetup, Program};
use crate::realm;
use crate::samples::Worker;
use crate::vu::Vu;
use loadline_k6_metrics::RecorderSetup;
use loadline_k6_modules::{Secrets, SharedArrays};
use std::sync::Arc;

impl Program {
    /// Loads a script: runs it once, as user 0.
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
            built_in: api::module,
            found: Found::default(),
        };
        let first = Arc::new(program.clone_unloaded());
        let worker = Worker::new(first.unrecorded());
        let vu = Vu::new(&first, 0, None, worker);
        program.found = realm::initialise(&vu)?;
        program.store.freeze();
        Ok(Arc::new(program))
    }

    /// Returns the setup of a recorder whose values are not used.
    fn unrecorded(&self) -> Arc<RecorderSetup> {
        Arc::new(RecorderSetup {
            registry: Arc::clone(&self.registry),
            ..RecorderSetup::default()
        })
    }

    /// Copies the program for the first initialisation, without its results.
    fn clone_unloaded(&self) -> Program {
        Program {
            main: self.main.clone(),
            store: Arc::clone(&self.store),
            env: self.env.clone(),
            log: Arc::clone(&self.log),
            registry: Arc::clone(&self.registry),
            arrays: self.arrays.clone(),
            secrets: Arc::clone(&self.secrets),
            built_in: self.built_in,
            found: Found::default(),
        }
    }
}

/// No secrets: each request for one fails.
#[derive(Debug)]
pub(crate) struct NoSecrets;

impl Secrets for NoSecrets {
    fn value(&self, _: Option<&str>, _: &str) -> std::result::Result<String, String> {
        Err("no secret sources are configured".to_owned())
    }
}
