//! Early ends of a run: a failed condition of `--abort-on`, the goal of `--until` once it is
//! reached, and a stop for which responses keep the run waiting too long.
//!
//! An observer like every other: it reads the run so far and sends commands.

use crate::commands::{Command, Commands};
use crate::error::RunError;
use crate::observer::{Interval, Observed, Observer};
use loadline_plan::{Check, Plan, Until};
use loadline_record::{Ended, Summary};
use loadline_verdict::{Goal, evaluate_all};
use std::time::Duration;

/// The longest time for which a run that was ordered to stop waits for responses in flight; its
/// `--timeout` may be shorter.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Ends a run early, by the rules of its plan.
pub(crate) struct EarlyEnd {
    commands: Commands,
    /// The conditions of `--abort-on`, until one has failed.
    abort_on: Vec<Check>,
    /// The goal of `--until`, until it is reached.
    goal: Option<(Goal, Until)>,
    stop_timeout: Duration,
}

impl EarlyEnd {
    /// Creates the rules of this plan; `commands` are those of its run.
    ///
    /// # Errors
    /// If the goal of the plan can never be reached.
    pub(crate) fn of(plan: &Plan, commands: &Commands) -> Result<EarlyEnd, RunError> {
        Ok(EarlyEnd {
            commands: commands.clone(),
            abort_on: plan.abort_on.clone(),
            goal: Goal::of(plan)?.zip(plan.until),
            stop_timeout: STOP_TIMEOUT.min(plan.connection.timeout),
        })
    }

    fn abort_if_broken(&mut self, summary: &Summary) {
        let duration = Duration::from_nanos(summary.duration_ns);
        let results = evaluate_all(&self.abort_on, &summary.total, duration);
        if let Some(broken) = results.into_iter().find(|result| result.failed()) {
            self.abort_on.clear();
            let why = Ended::Aborted(broken.text);
            self.commands.end_run(Command::Abort, why);
        }
    }

    /// Stops gently: requests in flight when the goal is reached are awaited, like all before.
    fn stop_if_reached(&mut self, summary: &Summary) {
        let reached = self.goal.take_if(|(goal, _)| goal.is_met(summary));
        if let Some((_, until)) = reached {
            let why = match until {
                Until::Decided => Ended::Decided,
                Until::Precise { .. } => Ended::Precise,
            };
            self.commands.end_run(Command::Stop, why);
        }
    }

    fn abort_if_impatient(&self) {
        let stopped = self.commands.stopped_at();
        if stopped.is_some_and(|since| since.elapsed() >= self.stop_timeout) {
            self.commands.send(Command::Abort);
        }
    }
}

impl Observer for EarlyEnd {
    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        if !interval.snapshot.drain {
            self.abort_if_broken(interval.summary);
            self.stop_if_reached(interval.summary);
        }
        self.abort_if_impatient();
        Ok(())
    }

    fn idle(&mut self, _: &Summary) -> Observed {
        self.abort_if_impatient();
        Ok(())
    }
}
