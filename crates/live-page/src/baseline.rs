//! The run that goes on beside a baseline: compared at few looks, as it was saved so far.

use loadline_page::{Against, Page};
use loadline_plan::Plan;
use loadline_reactor::let_workers_go_first;
use loadline_record::{RunFile, Summary};
use loadline_report::{against, never_against, not_yet_against, page_of_runs};
use loadline_verdict::{Comparison, Looks, SavedRun, check_baseline};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A saved run, or several, that a run is shown and compared beside.
#[derive(Debug)]
pub struct Baseline {
    /// Its name for the reader.
    pub name: String,
    /// The runs.
    pub runs: Vec<SavedRun>,
    /// Its report.
    pub page: Page,
}

impl Baseline {
    /// Creates the baseline of these saved runs.
    pub fn new(name: &str, runs: Vec<SavedRun>) -> Baseline {
        Baseline {
            name: name.to_owned(),
            page: page_of_runs(runs.iter().map(|one| one.run.clone()).collect()),
            runs,
        }
    }

    /// Reads a saved run, or the one within a report, that was dropped onto the page.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn dropped(
        name: &str,
        content: impl AsRef<[u8]> + 'static,
    ) -> Result<Baseline, loadline_record::Error> {
        let path = Path::new(name);
        let runs = RunFile::read_all_from(path, Cursor::new(content))?;
        Ok(Baseline::new(name, SavedRun::all(path, runs)))
    }
}

/// The comparison of the current run.
pub(crate) struct Beside {
    baseline: Arc<Baseline>,
    /// The file of the saved run.
    saved: PathBuf,
    looks: Looks,
    found: Arc<Mutex<Found>>,
    /// True if the runs can't be compared, and it was said why.
    is_settled: bool,
}

struct Found {
    is_looking: bool,
    against: Against,
}

impl Beside {
    /// Begins the comparison of a run of this plan, which is saved into this file.
    pub(crate) fn new(baseline: Arc<Baseline>, plan: &Plan, saved: Option<PathBuf>) -> Beside {
        let refused = match &saved {
            None => Some("the run is not saved; start it with --save FILE.".to_owned()),
            Some(_) => check_baseline(&baseline.runs, plan, 1)
                .err()
                .map(|error| error.to_string()),
        };
        let against = match &refused {
            Some(why) => never_against(&baseline.name, why),
            None => not_yet_against(&baseline.name),
        };
        Beside {
            saved: saved.unwrap_or_default(),
            looks: Looks::default(),
            found: Arc::new(Mutex::new(Found {
                is_looking: false,
                against,
            })),
            is_settled: refused.is_some(),
            baseline,
        }
    }

    /// Takes the run, an interval longer. A look that is due is made on a thread of its own: it
    /// reads the saved run, and takes part of a second.
    pub(crate) fn observe(&mut self, so_far: &Summary) {
        self.refuse_changed(so_far);
        if self.is_settled || self.found().is_looking {
            return;
        }
        let Some(look) = self.looks.due(so_far) else {
            return;
        };
        self.found().is_looking = true;
        let (baseline, found) = (Arc::clone(&self.baseline), Arc::clone(&self.found));
        let saved = self.saved.clone();
        let begun = thread::Builder::new()
            .name("baseline".to_owned())
            .spawn(move || {
                let_workers_go_first();
                let against = looked_at(&baseline, &saved, look);
                let mut found = locked(&found);
                if found.is_looking {
                    found.against = against;
                }
                found.is_looking = false;
            });
        if begun.is_err() {
            self.found().is_looking = false;
        }
    }

    /// Looks at a run that has ended, and whose file is whole.
    pub(crate) fn conclude(&mut self, whole: &Summary) -> Against {
        self.refuse_changed(whole);
        if !self.is_settled && whole.duration_ns > 0 {
            let look = self.looks.at_the_end();
            return looked_at(&self.baseline, &self.saved, look);
        }
        self.against()
    }

    /// Returns what is known.
    pub(crate) fn against(&self) -> Against {
        self.found().against.clone()
    }

    /// Times of another load than that of the baseline can't be compared with its own.
    fn refuse_changed(&mut self, so_far: &Summary) {
        if self.is_settled || so_far.changes.is_empty() {
            return;
        }
        let why = "the load was changed while the run went on.";
        let against = never_against(&self.baseline.name, why);
        // A look that is under way comes too late.
        *self.found() = Found {
            is_looking: false,
            against,
        };
        self.is_settled = true;
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        locked(&self.found)
    }
}

fn looked_at(baseline: &Baseline, saved: &Path, look: u64) -> Against {
    let refused = |why: String| never_against(&baseline.name, &why);
    let run = match RunFile::read_all(saved).map(|mut runs| runs.pop()) {
        Ok(Some(run)) => run,
        Ok(None) => return refused("the saved run is empty.".to_owned()),
        Err(error) => return refused(error.to_string()),
    };
    let so_far_s = run.summary().duration_ns as f64 / 1e9;
    let run = SavedRun {
        path: saved.to_owned(),
        number: None,
        run,
    };
    match Comparison::of_look(&baseline.runs, run, look) {
        Ok(comparison) => against(&baseline.name, &comparison, so_far_s),
        Err(error) => refused(error.to_string()),
    }
}

fn locked(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}
