//! *Backends*, which the targets of a study need while they run, such as a database. They run from
//! before the first target is started until the last one has been stopped, and are reset before
//! each run.

use crate::command::BackendLocation;
use crate::events::Events;
use crate::folder::Folder;
use crate::study::Study;
use crate::target::{NoTarget, Serving};

/// The backends of a study while they run.
#[derive(Debug, Default)]
pub(crate) struct Backends<'a>(Vec<Serving<'a>>);

impl<'a> Backends<'a> {
    /// Starts all of a study, in the order of the file: each may use those before it.
    pub(crate) fn start(
        study: &'a Study,
        folder: &Folder,
        events: &Events,
    ) -> Result<Backends<'a>, NoTarget> {
        let mut backends = Backends::default();
        for backend in &study.backends {
            let folder = folder.work(&format!("backend-{}", backend.name));
            let places = backends.places();
            let serving = Serving::start(study, backend, &folder, places, events)?;
            backends.0.push(serving);
        }
        Ok(backends)
    }

    /// Returns their locations.
    pub(crate) fn places(&self) -> Vec<BackendLocation> {
        self.0.iter().map(Serving::place).collect()
    }

    /// The process of each that was started here.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.0.iter().filter_map(Serving::pid).collect()
    }

    /// Runs the command of each for before a run.
    pub(crate) fn reset(&self, events: &Events) -> Result<(), NoTarget> {
        self.0.iter().try_for_each(|backend| backend.reset(events))
    }

    /// Stops all, the last one first.
    pub(crate) fn stop(self) -> Result<(), NoTarget> {
        self.0.into_iter().rev().try_for_each(Serving::stop)
    }
}
