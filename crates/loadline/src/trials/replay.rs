//! A saved search, made again from its trials: its course depends on what these saw alone.

use super::sight::{Sight, descent};
use super::whole;
use loadline_capacity::{Descent, Ended, Measure, Outcome, Part, Purpose, Seen, Settings, find};
use loadline_plan::Shape;
use loadline_record::{self as record, RoleKind, RunFile, Snapshot, Summary};
use serde::{Deserialize, Serialize};
use std::slice;

/// What a search was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Searched {
    /// Whether users were searched, instead of rates.
    pub(crate) users: bool,
    /// Where it looked, how long and how closely.
    pub(crate) settings: Settings,
}

/// A search that was made again.
pub(crate) struct Replayed {
    /// What was found.
    pub(crate) outcome: Outcome,
    /// Whether users were searched, instead of rates.
    pub(crate) users: bool,
    /// Whether it was ended before its end.
    pub(crate) interrupted: bool,
}

/// What the search found that these runs are the trials of; `None` if they are not all those of one
/// search, from its first, or of one whose course this program would not take.
pub(crate) fn replay(runs: &[RunFile]) -> Option<Replayed> {
    let searched = searched(runs.first()?)?;
    let (users, settings) = (searched.users, &searched.settings);
    let mut trials = Saved {
        runs: runs.iter(),
        users,
        sight: Sight::new(),
    };
    let (outcome, ended) = find(settings, &mut trials);
    let interrupted = match ended {
        Ended::Complete => false,
        Ended::Interrupted => true,
        Ended::Failed(OtherCourse) => return None,
    };
    trials.runs.next().is_none().then_some(Replayed {
        outcome,
        users,
        interrupted,
    })
}

fn searched(run: &RunFile) -> Option<Searched> {
    let role = run.header().role.as_ref()?;
    let is_first = role.kind == RoleKind::Trial && role.number == 1;
    let searched = role.search.clone().filter(|_| is_first)?;
    serde_json::from_value(searched).ok()
}

/// The trials of a saved search, in the order in which they were made.
struct Saved<'a> {
    runs: slice::Iter<'a, RunFile>,
    users: bool,
    sight: Sight,
}

/// The next saved trial is not the one that the search makes next.
struct OtherCourse;

impl Saved<'_> {
    /// The next one; `None` where the search was ended, or in the middle of it.
    fn next(&mut self, purpose: Purpose, level: f64) -> Result<Option<&RunFile>, OtherCourse> {
        let Some(run) = self.runs.next() else {
            return Ok(None);
        };
        let role = run.header().role.as_ref();
        let named = role.and_then(|role| role.name.as_deref()) == Some(purpose.name());
        if !named || self.level(run.summary()) != level {
            return Err(OtherCourse);
        }
        let summary = run.summary();
        let whole = summary.complete && summary.ended != record::Ended::Interrupted;
        Ok(whole.then_some(run))
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

    fn trial(&mut self, purpose: Purpose, level: f64, _: f64) -> Result<Option<Seen>, OtherCourse> {
        let Some(run) = self.next(purpose, level)? else {
            return Ok(None);
        };
        let summary = run.summary().clone();
        Ok(Some(self.sight.see(&summary, level)))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, OtherCourse> {
        let run = self.next(Purpose::Ladder(Part::Over), over.0)?;
        Ok(run.map(|run| {
            let snapshots: Vec<Snapshot> = run.snapshots().collect();
            descent(run.summary(), &snapshots, whole(over), back.0)
        }))
    }
}
