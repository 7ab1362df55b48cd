//! A saved search, made again from its trials: its course depends on what these saw alone.

use super::evaluation::Evaluation;
use super::whole;
use loadline_capacity::{
    Descent, Measure, Observation, Part, Purpose, SearchEnd, SearchOutcome, Settings, Trial, find,
};
use loadline_plan::{Plan, Shape};
use loadline_record::{self as record, Role, RoleKind, RunFile, Snapshot, Summary};
use loadline_verdict::RunResult;
use serde::{Deserialize, Serialize};
use std::slice;

/// What a search was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// Whether users were searched, instead of rates.
    pub users: bool,
    /// Where it looked, how long and how closely.
    pub settings: Settings,
    /// Whether the check on errors is ours, as none was given.
    #[serde(default)]
    pub errors_added: bool,
    /// What was asked for of each trial. Its requests are in the trials' own plans.
    pub plan: Plan,
}

impl Searched {
    /// As its trials keep it: each of them has the requests in its own plan.
    #[must_use]
    pub fn without_requests(self) -> Searched {
        Searched {
            plan: Plan {
                requests: Vec::new(),
                ..self.plan
            },
            ..self
        }
    }
}

/// A search that was made again.
#[derive(Debug)]
pub struct Replayed {
    /// What was found.
    pub outcome: SearchOutcome,
    /// What was asked for, with the requests of the trials.
    pub searched: Searched,
    /// Whether it was ended before its end.
    pub interrupted: bool,
}

/// What the search found that these runs are the trials of; `None` if they are not all those of one
/// search, from its first, or of one whose course this program would not take.
pub fn replay(runs: &[RunFile]) -> Option<Replayed> {
    let first = runs.first()?;
    let searched = searched(first)?;
    let mut trials = Saved {
        runs: runs.iter(),
        made: 0,
        first,
        users: searched.users,
        evaluation: Evaluation::default(),
    };
    let (outcome, ended) = find(&searched.settings, &mut trials);
    let interrupted = match ended {
        SearchEnd::Complete => false,
        SearchEnd::Interrupted => true,
        SearchEnd::Failed(OtherCourse) => return None,
    };
    trials.runs.next().is_none().then(|| Replayed {
        outcome,
        searched: Searched {
            plan: Plan {
                requests: first.header().plan.requests.clone(),
                ..searched.plan.clone()
            },
            ..searched
        },
        interrupted,
    })
}

/// Whether these runs begin as those of a search do.
pub fn is_search(runs: &[RunFile]) -> bool {
    let role = runs.first().and_then(|first| first.header().role.as_ref());
    role.is_some_and(|role| role.kind == RoleKind::Trial)
}

/// What the search of this trial was asked for.
fn searched(run: &RunFile) -> Option<Searched> {
    let search = run.header().role.as_ref()?.search.clone()?;
    let searched: Searched = serde_json::from_value(search).ok()?;
    let checks = &run.header().plan.checks;
    let fits = searched.settings.checks == checks.len() && searched.plan.checks == *checks;
    fits.then_some(searched)
}

/// The trials of a saved search, in the order in which they were made.
struct Saved<'a> {
    runs: slice::Iter<'a, RunFile>,
    made: u32,
    first: &'a RunFile,
    users: bool,
    evaluation: Evaluation,
}

/// The next saved trial is not the one that the search makes next.
struct OtherCourse;

impl Saved<'_> {
    /// The next one; `None` where the search was ended, or in the middle of it.
    fn next(&mut self, purpose: Purpose, level: f64) -> Result<Option<&RunFile>, OtherCourse> {
        let Some(run) = self.runs.next() else {
            return Ok(None);
        };
        self.made += 1;
        if !self.is_next(run, purpose) || self.level(run.summary()) != level {
            return Err(OtherCourse);
        }
        let summary = run.summary();
        let whole = summary.complete && summary.ended != record::Ended::Interrupted;
        Ok(whole.then_some(run))
    }

    /// Whether this run is the next trial of the same search, and was made for this.
    fn is_next(&self, run: &RunFile, purpose: Purpose) -> bool {
        let (role, plan) = (&run.header().role, &run.header().plan);
        let first = self.first.header();
        let expected = Role {
            kind: RoleKind::Trial,
            number: self.made,
            of: None,
            name: Some(purpose.name().to_owned()),
            search: first.role.as_ref().and_then(|role| role.search.clone()),
        };
        let same = plan.requests == first.plan.requests && plan.checks == first.plan.checks;
        role.as_ref() == Some(&expected) && same
    }

    /// The level at which a trial began.
    fn level(&self, summary: &Summary) -> f64 {
        let load = &summary.plan.load;
        match &load.shape {
            _ if self.users => f64::from(load.connections),
            Shape::Rate { rate, .. } | Shape::RateStages { start: rate, .. } => rate.per_second(),
            _ => f64::NAN,
        }
    }
}

impl Measure for Saved<'_> {
    type Error = OtherCourse;

    fn trial(
        &mut self,
        purpose: Purpose,
        level: f64,
        _: f64,
    ) -> Result<Option<Observation>, OtherCourse> {
        let Some(run) = self.next(purpose, level)? else {
            return Ok(None);
        };
        let result = RunResult::new(run.summary().clone());
        Ok(Some(self.evaluation.see(result, level)))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, OtherCourse> {
        let Some(run) = self.next(Purpose::Ladder(Part::Over), over.0)? else {
            return Ok(None);
        };
        let window = run.snapshots().filter(|interval| !interval.drain);
        let snapshots: Vec<Snapshot> = window.collect();
        let result = RunResult::new(run.summary().clone());
        let evaluation = &self.evaluation;
        let descent = evaluation.see_descent(&result, &snapshots, whole(over), back.0);
        Ok(Some(descent))
    }

    fn ended(&mut self, trial: &Trial) {
        self.evaluation.keep(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.evaluation.together(level)
    }
}
