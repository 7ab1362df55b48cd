//! The run that goes on beside a baseline: compared at few looks, as it was saved so far.

use loadline_page::{Against, Page, Tone};
use loadline_plan::Plan;
use loadline_reactor::run_when_idle;
use loadline_record::{RunFile, Summary};
use loadline_report::{against, never_against, not_yet_against, page_of_runs};
use loadline_verdict::{Comparison, Looks, SavedRun, check_baseline};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
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
    /// What the last look found.
    against: Against,
    /// The place of what the look finds that is under way. Nobody waits for its thread.
    looking: Option<Arc<OnceLock<Against>>>,
    /// True if the runs can't be compared, and it was said why.
    is_settled: bool,
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
        Beside {
            saved: saved.unwrap_or_default(),
            looks: Looks::default(),
            against: match &refused {
                Some(why) => never_against(&baseline.name, why),
                None => not_yet_against(&baseline.name),
            },
            looking: None,
            is_settled: refused.is_some(),
            baseline,
        }
    }

    /// Takes the run, an interval longer. A look that is due is made on a thread of its own: it
    /// reads the saved run, and takes part of a second.
    pub(crate) fn observe(&mut self, so_far: &Summary) {
        self.refuse_changed(so_far);
        self.take_look();
        if self.is_settled || self.looking.is_some() {
            return;
        }
        if let Some(look) = self.looks.due(so_far) {
            self.looking = self.begin_look(look);
        }
    }

    /// Begins a look on a thread of its own; `None` if the system has none.
    fn begin_look(&self, look: u64) -> Option<Arc<OnceLock<Against>>> {
        let place = Arc::<OnceLock<Against>>::default();
        let (baseline, saved) = (Arc::clone(&self.baseline), self.saved.clone());
        let found = Arc::clone(&place);
        let begun = thread::Builder::new()
            .name("baseline".to_owned())
            .spawn(move || {
                // It is no matter in which second a comparison is there.
                run_when_idle();
                let against = looked_at(&baseline, &saved, look);
                // There is one look at a time.
                let _ = found.set(against);
            });
        begun.is_ok().then_some(place)
    }

    fn take_look(&mut self) {
        let found = self.looking.as_ref().and_then(|place| place.get().cloned());
        if let Some(against) = found {
            (self.against, self.looking) = (against, None);
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
        self.against.clone()
    }

    /// True unless the runs can't be compared.
    pub(crate) fn compares(&self) -> bool {
        !self.is_settled
    }

    /// True if the last look found the run faster or slower.
    pub(crate) fn is_decided(&self) -> bool {
        self.against.tone != Tone::Plain
    }

    /// Times of another load than that of the baseline can't be compared with its own.
    fn refuse_changed(&mut self, so_far: &Summary) {
        if self.is_settled || so_far.changes.is_empty() {
            return;
        }
        let why = "the load was changed while the run went on.";
        self.against = never_against(&self.baseline.name, why);
        // A look that is under way comes too late.
        self.looking = None;
        self.is_settled = true;
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
