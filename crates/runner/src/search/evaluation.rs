//! Evaluates trials: what a trial's run says about the target, whether it was just made or is read
//! from a file.

use super::limits::{cores_of, disturbance, lost_time, own_limit};
use loadline_capacity::{Descent, Observation, OwnLimit, Trial};
use loadline_record::watched::GENERATOR;
use loadline_record::{Counts, Model, Snapshot, Summary};
use loadline_verdict::{CheckResult, RunResult, evaluate_all, evaluate_together};
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
        let checks = result.checks.iter().map(holds).collect();
        let seen = seen(&Stretch::whole(summary), &result, level);
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
            checks,
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
        let see = |stretch: Stretch, level: f64| Observation {
            disturbance: disturbance(&RunResult::new(stretch.alone(summary)), self.fastest_ns),
            ..seen(&stretch, run, level)
        };
        Descent {
            over: see(Stretch::of(&[], above), over.0),
            back: see(Stretch::of(above, below), back),
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
struct Stretch {
    snapshot: Snapshot,
    duration: Duration,
    /// What had fallen due and not ended at its end.
    waiting: u64,
    /// By how much that had grown since its beginning: whatever was planned has been answered, has
    /// failed, or waits.
    grown: f64,
    /// What had been sent and not answered when the wait for it ended.
    in_flight: u64,
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

impl Stretch {
    /// All of it. What waited at the end of the window is that of its intervals: it may have been
    /// waited for behind that.
    fn whole(summary: &Summary) -> Stretch {
        let intervals = summary.rows.iter().map(|row| row.counts);
        Stretch {
            snapshot: summary.total.clone(),
            duration: Duration::from_nanos(summary.rated_ns()),
            waiting: waiting(intervals.clone()),
            grown: grown(intervals),
            in_flight: summary.unfinished.in_flight,
        }
    }

    /// These intervals, with those of the same run before them.
    fn of(before: &[Snapshot], intervals: &[Snapshot]) -> Stretch {
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
            snapshot,
        }
    }

    /// The run as if nothing else had been counted. What was seen of its machine is of all of it.
    fn alone(&self, summary: &Summary) -> Summary {
        Summary {
            total: self.snapshot.clone(),
            ..summary.clone()
        }
    }
}

/// What was seen in this part of a run.
fn seen(stretch: &Stretch, run: &RunResult, level: f64) -> Observation {
    let summary = &run.summary;
    let (counts, response) = (&stretch.snapshot.counts, &stretch.snapshot.times.response);
    let ended = counts.answered + counts.failed;
    let checks = evaluate_all(&summary.plan.checks, &stretch.snapshot, stretch.duration);
    Observation {
        checks: checks.iter().map(holds).collect(),
        answers_per_s: counts.completed as f64 / stretch.duration.as_secs_f64().max(1e-9),
        failed_share: counts.failed as f64 / ended.max(1) as f64,
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        mean_s: response.mean_ns() / 1e9,
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
