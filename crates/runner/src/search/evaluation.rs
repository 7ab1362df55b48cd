//! Evaluates trials: the findings of a trial's run about the target, whether it was just made or is
//! read from a file.

use super::limits::{cores_of, disturbance, lost_time, own_limit};
use loadline_capacity::{Descent, Observation, OwnLimit, Trial};
use loadline_record::watched::GENERATOR;
use loadline_record::{Censored, Counts, Ended, Model, Snapshot, Summary, Unfinished};
use loadline_verdict::{
    CheckOutcome, CheckResult, Observed, RunResult, evaluate_all, evaluate_observed,
    evaluate_together,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The factor to the time at the lowest load below which a response is considered as fast as
/// before.
const AS_EVER: u64 = 2;

/// Evaluates the trials of a search in their order: each also with the results of earlier trials.
#[derive(Debug)]
pub(super) struct Evaluation {
    /// The shortest median of the service time, in nanoseconds.
    service_at_ease_ns: u64,
    /// The shortest response time of all trials, in nanoseconds.
    fastest_ns: u64,
    /// The last trial, of which it is not yet known if it counts.
    last: Option<Summary>,
    /// The trials that count, by the bits of their level.
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
    /// Keeps the responses of the last observed trial, if it counts for the search.
    pub(super) fn keep(&mut self, trial: &Trial) {
        let last = self.last.take().filter(|_| trial.counts());
        let level = trial.level.to_bits();
        self.levels.entry(level).or_default().extend(last);
    }

    /// Returns for each check true if it holds on all responses of this level together.
    pub(super) fn together(&self, level: f64) -> Vec<bool> {
        let kept = self.levels.get(&level.to_bits());
        let runs: Vec<&Summary> = kept.into_iter().flatten().collect();
        let checks = runs
            .first()
            .map(|run| evaluate_together(&run.plan.checks, &runs));
        checks.unwrap_or_default().iter().map(holds).collect()
    }

    /// Returns the observation of the next trial, at this level.
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

    /// Returns the observations of a run that was at one level for a time, and then at another.
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

    /// Returns the limit of connections if it is reached: arrivals wait for connections that are in
    /// use, and each response comes as fast as at the lowest load, so that with more connections
    /// there would be more. At one instant, the last of the window, some connections may just have
    /// received their response. Requests that waited then are sent after the window.
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

/// A part of a run, or the whole run.
struct Stretch<'a> {
    snapshot: Snapshot,
    duration: Duration,
    /// The number of requests that had fallen due and not ended at its end.
    waiting: u64,
    /// The growth of that number since its beginning: every planned request has been answered, has
    /// failed, or waits.
    grown: f64,
    /// The number of requests that had been sent and not answered when the wait for them ended.
    in_flight: u64,
    /// The requests without a response at its end; `None` if the run continues after it, which
    /// answers them.
    unfinished: Option<&'a Unfinished>,
}

/// Returns the number of requests that had fallen due and not ended at the end of these intervals,
/// which are all from the beginning.
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
    /// Returns the whole run. The number waiting at the end of the window is computed from its
    /// intervals: responses may have been awaited after it.
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

    /// Returns the part with these intervals, given those of the same run before them.
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

    /// Returns the response times, with the ages of requests without a response.
    fn response(&self) -> Censored<'_> {
        let times = &self.snapshot.times.response;
        let censored = self.unfinished.map(|open| open.beside_response(times));
        censored.unwrap_or_else(|| Censored::from(times))
    }

    /// Evaluates the checks of the run on this part of it.
    fn evaluate(&self, summary: &Summary) -> Vec<CheckResult> {
        let observed = Observed {
            unfinished: self.unfinished,
            timeout: Some(summary.plan.connection.timeout),
            ..Observed::of_part(&self.snapshot, self.duration)
        };
        evaluate_observed(&summary.plan.checks, &observed)
    }

    /// Returns the run as if nothing else had been counted. The observations of its machine are of
    /// the whole run.
    fn alone(&self, summary: &Summary) -> Summary {
        Summary {
            total: self.snapshot.clone(),
            ..summary.clone()
        }
    }
}

/// Returns the observation of this part of a run, with these results of the checks.
fn seen(stretch: &Stretch<'_>, checks: &[CheckResult], run: &RunResult, level: f64) -> Observation {
    let summary = &run.summary;
    let counts = &stretch.snapshot.counts;
    let response = stretch.response();
    let (p50, p99) = (response.percentile(50.0), response.percentile(99.0));
    let undecided = |check: &CheckResult| check.outcome == CheckOutcome::Undecided;
    let has_failed = matches!(summary.ended, Ended::Failed(_));
    let unreached = !has_failed && unreached(summary).is_some();
    Observation {
        checks: checks.iter().map(holds).collect(),
        undecided: checks.iter().map(undecided).collect(),
        answers_per_s: counts.completed as f64 / stretch.duration.as_secs_f64().max(1e-9),
        failed_share: counts.failures() as f64 / counts.ended().max(1) as f64,
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
        is_void: has_failed || unreached,
        unreached,
        own_limit: None,
        disturbance: None,
    }
}

/// Returns the reason why nothing was answered, if that is that no connection could be opened: a
/// target that has ended, or is being restarted, has no capacity that could be measured.
pub(super) fn unreached(summary: &Summary) -> Option<String> {
    let total = &summary.total;
    let (dials, example) = total.failed_dials();
    let is_gone = total.counts.answered == 0 && 2 * dials > total.counts.failed;
    is_gone.then(|| match example {
        "" => "no connection could be opened.".to_owned(),
        example => format!("no connection could be opened: {example}."),
    })
}

/// True if a check holds as far as one trial can determine: the search makes it certain.
fn holds(check: &CheckResult) -> bool {
    check.estimate_holds
}

/// Returns the end of each interval, in seconds after the begin of the first, and true if all
/// checks hold in it.
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

/// Returns the cores that all watched processes except the generator used; `None` if there were
/// none.
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
    use loadline_record::{Environment, ErrorKind, Failures, Header};
    use std::time::SystemTime;

    const MS: u64 = 1_000_000;

    /// Returns a run of a second in which this many responses took 2 ms, and this many requests had
    /// waited for this age without a response at its end.
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
    fn a_trial_that_reached_nothing_is_void() {
        let failing = |answered, kind| {
            let mut run = cut(answered, 0, 0);
            let failures = Failures {
                count: 20,
                example: "Connection refused".to_owned(),
            };
            run.summary.total.errors = [(kind, failures)].into();
            run.summary.total.counts.failed = 20;
            run
        };
        let gone = failing(0, ErrorKind::Connect);
        let reason = "no connection could be opened: Connection refused.";
        assert_eq!(unreached(&gone.summary).as_deref(), Some(reason));
        assert!(Evaluation::default().observe(gone, 20.0).is_void);
        // What was reached at all, or hangs, is judged by its checks.
        for other in [
            failing(1, ErrorKind::Connect),
            failing(0, ErrorKind::Timeout),
        ] {
            assert!(!Evaluation::default().observe(other, 20.0).is_void);
        }
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
