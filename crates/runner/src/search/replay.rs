//! Runs the algorithm of a search again on its saved trials. The next trial depends only on the
//! results of earlier ones.

use super::evaluation::Evaluation;
use super::{longer, whole};
use loadline_capacity::{
    Descent, Measure, Observation, Part, Purpose, SearchEnd, SearchOutcome, Trial, find,
};
use loadline_plan::Shape;
use loadline_record::{self as record, Role, RoleKind, RunFile, Searched, Snapshot, Summary};
use loadline_verdict::RunResult;
use std::slice;

/// Returns the outcome of the search whose trials are these runs, and true if it ended early;
/// `None` if they are not all trials of one search, from its first, or if this version would make
/// other trials.
pub(super) fn replay(runs: &[RunFile], searched: &Searched) -> Option<(SearchOutcome, bool)> {
    let mut trials = Saved {
        runs: runs.iter(),
        made: 0,
        first: runs.first()?,
        last: runs.last()?,
        users: searched.users,
        overhead_s: searched.settings.overhead_s,
        evaluation: Evaluation::default(),
    };
    let (outcome, ended) = find(&searched.settings, &mut trials);
    let interrupted = match ended {
        SearchEnd::Complete => false,
        SearchEnd::Interrupted => true,
        SearchEnd::Failed(OtherTrial) => return None,
    };
    trials
        .runs
        .next()
        .is_none()
        .then_some((outcome, interrupted))
}

/// The trials of a saved search, in the order in which they were made.
struct Saved<'a> {
    runs: slice::Iter<'a, RunFile>,
    made: u32,
    first: &'a RunFile,
    last: &'a RunFile,
    users: bool,
    overhead_s: f64,
    evaluation: Evaluation,
}

/// The error that the next saved trial is not the one that the search makes next.
struct OtherTrial;

impl Saved<'_> {
    /// Returns the next trial; `None` if the search ended before it, or during it.
    fn next(&mut self, purpose: Purpose, level: f64) -> Result<Option<&RunFile>, OtherTrial> {
        let Some(run) = self.runs.next() else {
            return Ok(None);
        };
        self.made += 1;
        if !self.is_next(run, purpose) || self.level(run.summary()) != level {
            return Err(OtherTrial);
        }
        let summary = run.summary();
        let whole = summary.complete && summary.ended != record::Ended::Interrupted;
        Ok(whole.then_some(run))
    }

    /// True if this run is the next trial of the same search, and was made for this purpose.
    fn is_next(&self, run: &RunFile, purpose: Purpose) -> bool {
        let (role, plan) = (&run.header().role, &run.header().plan);
        let first = self.first.header();
        let expected = Role {
            kind: RoleKind::Trial,
            number: self.made,
            of: None,
            name: Some(purpose.name().to_owned()),
            search: first.role.as_ref().and_then(|role| role.search.clone()),
            spent_s: role.as_ref().and_then(|role| role.spent_s),
        };
        let same = plan.requests == first.plan.requests
            && plan.list == first.plan.list
            && plan.checks == first.plan.checks;
        role.as_ref() == Some(&expected) && same
    }

    /// Returns the time spent when the next trial was about to begin; `None` if the version that
    /// saved it did not record the time. After the last trial it is the time spent before it, its
    /// own length and the overhead of a trial: a search that was killed had time left.
    fn next_spent_s(&self) -> Option<f64> {
        let spent_s = |run: &RunFile| run.header().role.as_ref()?.spent_s;
        if let Some(next) = self.runs.as_slice().first() {
            return spent_s(next);
        }
        let summary = self.last.summary();
        let length_s = summary.plan.warmup.as_secs_f64() + summary.total.end_ns as f64 / 1e9;
        Some(spent_s(self.last)? + length_s + self.overhead_s)
    }

    /// Returns the level at which a trial began.
    fn level(&self, summary: &Summary) -> f64 {
        let load = &summary.plan.load;
        match &load.shape {
            _ if self.users => f64::from(load.users),
            Shape::Rate { rate, .. } | Shape::RateStages { start: rate, .. } => rate.per_second(),
            Shape::Closed
            | Shape::ClosedStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => f64::NAN,
        }
    }
}

impl Measure for Saved<'_> {
    type Error = OtherTrial;

    fn trial(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, OtherTrial> {
        let Some(run) = self.next(purpose, level)? else {
            return Ok(None);
        };
        let result = RunResult::new(run.summary().clone());
        let plan = run.header().plan.clone();
        let seen = self.evaluation.observe(result, level);
        Ok(Some(match self.next_spent_s() {
            Some(_) => seen,
            None => longer(seen, &plan, seconds + self.overhead_s),
        }))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, OtherTrial> {
        let Some(run) = self.next(Purpose::Ladder(Part::Over), over.0)? else {
            return Ok(None);
        };
        let window = run.snapshots().filter(|interval| !interval.drain);
        let snapshots: Vec<Snapshot> = window.collect();
        let result = RunResult::new(run.summary().clone());
        let evaluation = &self.evaluation;
        let descent = evaluation.observe_descent(&result, &snapshots, whole(over), back.0);
        Ok(Some(descent))
    }

    fn spent_s(&mut self) -> Option<f64> {
        self.next_spent_s()
    }

    fn ended(&mut self, trial: &Trial) {
        self.evaluation.keep(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.evaluation.together(level)
    }
}
