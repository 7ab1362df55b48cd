//! Evaluates trials: what a trial's run says about the target, whether it was just made or is read
//! from a file.

use super::limits::{cores_of, disturbance, lost_time, own_limit};
use loadline_capacity::{Descent, Observation, OwnLimit, Trial};
use loadline_record::watched::GENERATOR;
use loadline_record::{Censored, Counts, Model, Snapshot, Summary, Unfinished};
use loadline_verdict::{
    CheckOutcome, CheckResult, Observed, RunResult, evaluate_all, evaluate_observed,
    evaluate_together,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// A response that takes less than this many times as long as at the lowest load is as fast as
/// before.
const AS_EVER: u64 = 2;

/// Evaluates the trials of a search in their order: each also by what the trials before it saw.
#[derive(Debug)]
pub(super) struct Evaluation {
    /// The shortest median of the service time, in nanoseconds.
    service_at_ease_ns: u64,
    /// The shortest response time of all trials, in nanoseconds.
    fastest_ns: u64,
    /// The last trial, which may yet come to count.
    last: Option<Summary>,
    /// Those that count, by the bits of their level.
    levels: BTreeMap<u64, Vec<Summary>>,
}

impl Default for Evaluation {
    fn default() -> Evaluation {
        Evaluation {
            service_at_ease_ns: u64::MAX,
            fastest_ns: u64::MAX,
            last: None,
            levels: BTreeMap::new(),
        }
    }
}

impl Evaluation {
    /// Keeps the answers of the trial that was seen last, if it counts for the search.
    pub(super) fn keep(&mut self, trial: &Trial) {
        let last = self.last.take().filter(|_| trial.counts());
        let level = trial.level.to_bits();
        self.levels.entry(level).or_default().extend(last);
    }

    /// For each check whether it holds on all answers together that were kept of this level.
    pub(super) fn together(&self, level: f64) -> Vec<bool> {
        let kept = self.levels.get(&level.to_bits());
        let runs: Vec<&Summary> = kept.into_iter().flatten().collect();
        let checks = runs
            .first()
            .map(|run| evaluate_together(&run.plan.checks, &runs));
        checks.unwrap_or_default().iter().map(holds).collect()
    }

    /// What the next trial saw, at this level.
    pub(super) fn observe(&mut self, result: RunResult, level: f64) -> Observation {
        let summary = &result.summary;
        let seen = seen(&Stretch::whole(summary), &result.checks, &result, level);
        let response = &summary.total.times.response;
        if !response.is_empty() {
            self.fastest_ns = self.fastest_ns.min(response.min_ns());
        }
        let own_limit = own_limit(&result, self.fastest_ns).or_else(|| self.connections(summary));
        let disturbance = disturbance(&result, self.fastest_ns);
        let service_ns = summary.total.times.service.percentile_ns(50.0);
        if service_ns > 0 {
            self.service_at_ease_ns = self.service_at_ease_ns.min(service_ns);
        }
        self.last = Some(result.summary);
        Observation {
            own_limit,
            disturbance,
            ..seen
        }
    }

    /// What a run saw at one level for so long, and then at another.
    pub(super) fn observe_descent(
        &self,
        run: &RunResult,
        snapshots: &[Snapshot],
        over: (f64, Duration),
        back: f64,
    ) -> Descent {
        let summary = &run.summary;
        let split = (over.1.as_secs() as usize).min(snapshots.len());
        let (above, below) = snapshots.split_at(split);
        let see = |stretch: Stretch<'_>, level: f64| Observation {
            disturbance: disturbance(&RunResult::new(stretch.alone(summary)), self.fastest_ns),
            ..seen(&stretch, &stretch.evaluate(summary), run, level)
        };
        let back_at = Stretch {
            unfinished: Some(&summary.unfinished),
            ..Stretch::of(above, below)
        };
        Descent {
            over: see(Stretch::of(&[], above), over.0),
            back: see(back_at, back),
            intervals: intervals(summary, below),
        }
    }

    /// Arrivals wait for connections that are in use, and each answer comes as fast as at the
    /// lowest load: with more connections there would be more. At one instant, the last of the
    /// window, some connections may just have had their answer. What waited then is sent behind it.
    fn connections(&self, summary: &Summary) -> Option<OwnLimit> {
        let most = summary.plan.load.max_users;
        let window = summary.rows.iter().map(|row| row.counts);
        let in_flight = window
            .clone()
            .next_back()
            .map_or(0, |counts| counts.in_flight);
        let all_in_use = summary.model == Model::Open
            && waiting(window) > in_flight
            && 2 * in_flight >= u64::from(most);
        let service_ns = summary.total.times.service.percentile_ns(50.0);
        let as_ever = service_ns < self.service_at_ease_ns.saturating_mul(AS_EVER);
        (all_in_use && as_ever && self.service_at_ease_ns < u64::MAX).then(|| {
            OwnLimit::Connections {
                most: summary
                    .plan
                    .connection
                    .of_users(summary.plan.load.max_users),
            }
        })
    }
}

/// A part of a run, or all of it.
struct Stretch<'a> {
    snapshot: Snapshot,
    duration: Duration,
    /// What had fallen due and not ended at its end.
    waiting: u64,
    /// By how much that had grown since its beginning: whatever was planned has been answered, has
    /// failed, or waits.
    grown: f64,
    /// What had been sent and not answered when the wait for it ended.
    in_flight: u64,
    /// What had no response at its end; `None` where the run goes on behind it, which answers it.
    unfinished: Option<&'a Unfinished>,
}

/// What had fallen due and not ended at the end of these intervals, which are all from the
/// beginning.
fn waiting(intervals: impl Iterator<Item = Counts> + Clone) -> u64 {
    let planned: u64 = intervals.clone().map(|counts| counts.planned).sum();
    let sent: u64 = intervals.clone().map(|counts| counts.sent).sum();
    let in_flight = intervals.last().map_or(0, |counts| counts.in_flight);
    planned.saturating_sub(sent) + in_flight
}

fn grown(intervals: impl Iterator<Item = Counts>) -> f64 {
    let more = |counts: Counts| counts.planned as f64 - (counts.completed + counts.failed) as f64;
    intervals.map(more).sum()
}

impl<'a> Stretch<'a> {
    /// All of it. What waited at the end of the window is that of its intervals: it may have been
    /// waited for behind that.
    fn whole(summary: &'a Summary) -> Stretch<'a> {
        let intervals = summary.rows.iter().map(|row| row.counts);
        Stretch {
            snapshot: summary.total.clone(),
            duration: Duration::from_nanos(summary.rated_ns()),
            waiting: waiting(intervals.clone()),
            grown: grown(intervals),
            in_flight: summary.unfinished.in_flight,
            unfinished: Some(&summary.unfinished),
        }
    }

    /// These intervals, with those of the same run before them.
    fn of(before: &[Snapshot], intervals: &[Snapshot]) -> Stretch<'a> {
        let start_ns = intervals.first().map_or(0, |interval| interval.start_ns);
        let mut snapshot = Snapshot::empty(start_ns);
        for interval in intervals {
            snapshot.append(interval);
        }
        let counts = |interval: &Snapshot| interval.counts;
        let all = before.iter().chain(intervals).map(counts);
        Stretch {
            duration: Duration::from_nanos(snapshot.length_ns()),
            waiting: waiting(all),
            grown: grown(intervals.iter().map(counts)),
            in_flight: snapshot.counts.in_flight,
            unfinished: None,
            snapshot,
        }
    }

    /// The response times, with the ages of what had none.
    fn response(&self) -> Censored<'_> {
        let times = &self.snapshot.times.response;
        let censored = self.unfinished.map(|open| open.beside_response(times));
        censored.unwrap_or_else(|| Censored::from(times))
    }

    /// The checks of the run on this part of it.
    fn evaluate(&self, summary: &Summary) -> Vec<CheckResult> {
        let observed = Observed {
            unfinished: self.unfinished,
            timeout: Some(summary.plan.connection.timeout),
            ..Observed::of_part(&self.snapshot, self.duration)
        };
        evaluate_observed(&summary.plan.checks, &observed)
    }

    /// The run as if nothing else had been counted. What was seen of its machine is of all of it.
    fn alone(&self, summary: &Summary) -> Summary {
        Summary {
            total: self.snapshot.clone(),
            ..summary.clone()
        }
    }
}

/// What was seen in this part of a run, in which the checks came out like this.
fn seen(stretch: &Stretch<'_>, checks: &[CheckResult], run: &RunResult, level: f64) -> Observation {
    let summary = &run.summary;
    let counts = &stretch.snapshot.counts;
    let ended = counts.answered + counts.failed;
    let response = stretch.response();
    let (p50, p99) = (response.percentile(50.0), response.percentile(99.0));
    let undecided = |check: &CheckResult| check.outcome == CheckOutcome::Undecided;
    Observation {
        checks: checks.iter().map(holds).collect(),
        undecided: checks.iter().map(undecided).collect(),
        answers_per_s: counts.completed as f64 / stretch.duration.as_secs_f64().max(1e-9),
        failed_share: counts.failed as f64 / ended.max(1) as f64,
        p50_ns: p50.value(),
        p50_at_least: p50.is_at_least(),
        p99_ns: p99.value(),
        p99_at_least: p99.is_at_least(),
        mean_s: response.times.mean_ns() / 1e9,
        outstanding_s: match summary.model {
            Model::Open => stretch.waiting as f64 / level,
            Model::Closed => 0.0,
        },
        grown: match summary.model {
            Model::Open => stretch.grown,
            Model::Closed => 0.0,
        },
        in_flight: stretch.in_flight,
        drained_s: summary.drained_ns as f64 / 1e9,
        target_cores: target_cores(summary),
        lost_time: lost_time(run),
        own_limit: None,
        disturbance: None,
    }
}

/// Whether a check holds as far as one trial can tell: the search is what makes it sure.
fn holds(check: &CheckResult) -> bool {
    check.estimate_holds
}

/// The end of each interval, in seconds after the first begins, and whether all checks hold in it.
fn intervals(summary: &Summary, intervals: &[Snapshot]) -> Vec<(f64, bool)> {
    let start_ns = intervals.first().map_or(0, |interval| interval.start_ns);
    let held = |interval: &Snapshot| {
        let length = Duration::from_nanos(interval.length_ns());
        let checks = evaluate_all(&summary.plan.checks, interval, length);
        checks.iter().all(holds)
    };
    let end_s = |interval: &Snapshot| (interval.end_ns - start_ns) as f64 / 1e9;
    intervals
        .iter()
        .map(|interval| (end_s(interval), held(interval)))
        .collect()
}

/// The cores that all watched processes but the generator used; `None` if there were none.
fn target_cores(summary: &Summary) -> Option<f64> {
    let trees = summary.watch.trees.iter().enumerate();
    let targets = trees.filter(|(_, tree)| tree.name != GENERATOR);
    let cores = targets.filter_map(|(index, _)| cores_of(summary, index));
    cores.reduce(|sum, cores| sum + cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_plan::Plan;
    use loadline_record::{Ended, Environment, Header};
    use std::time::SystemTime;

    const MS: u64 = 1_000_000;

    /// A second in which this many responses took 2 ms, with this many requests that had waited in
    /// vain for so long when it ended.
    fn cut(answered: u64, waiting: u64, age_ms: u64) -> RunResult {
        let plan = Plan {
            checks: vec!["p99<1s".parse().expect("a check")],
            ..samples::plan()
        };
        let environment = Environment::default();
        let mut summary = Summary::new(Header::new(&plan, environment, SystemTime::UNIX_EPOCH));
        let mut second = Snapshot::empty(0);
        second.end_ns = 1_000 * MS;
        second.times.response.record_many_ns(2 * MS, answered);
        second.counts.answered = answered;
        second.counts.sent = answered + waiting;
        second.counts.in_flight = waiting;
        summary.observe(&second);
        let mut unfinished = Unfinished {
            in_flight: waiting,
            oldest_ns: age_ms * MS,
            ..Unfinished::default()
        };
        unfinished
            .ages
            .response
            .record_many_ns(age_ms * MS, waiting);
        summary.finish(Ended::Duration, unfinished);
        RunResult::new(summary)
    }

    #[test]
    fn the_times_of_a_trial_are_those_of_its_run() {
        for (answered, waiting, age_ms) in [(4_000, 0, 0), (3_650, 340, 912), (300, 900, 1_500)] {
            let run = cut(answered, waiting, age_ms);
            let response = run.summary.response();
            let (p50, p99) = (response.percentile(50.0), response.percentile(99.0));
            let seen = Evaluation::default().observe(run.clone(), 20.0);
            assert_eq!(
                (seen.p50_ns, seen.p50_at_least),
                (p50.value(), p50.is_at_least())
            );
            assert_eq!(
                (seen.p99_ns, seen.p99_at_least),
                (p99.value(), p99.is_at_least())
            );
            let undecided = run.checks[0].outcome == CheckOutcome::Undecided;
            assert_eq!(seen.undecided, [undecided], "{answered}");
        }
        let open = Evaluation::default().observe(cut(3_650, 340, 912), 20.0);
        assert!(open.p99_at_least && open.p99_ns.abs_diff(912 * MS) < MS);
        assert_eq!((open.checks, open.undecided), (vec![false], vec![true]));
    }
}
