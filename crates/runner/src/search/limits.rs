//! Effects in a trial that the generator or its machine caused, and not the target.

use loadline_capacity::OwnLimit;
use loadline_plan::{Clocked, Metric};
use loadline_record::Summary;
use loadline_record::watched::mean_rate;
use loadline_verdict::{Cause, Finding, LATE_NS, RunResult, evaluate_all};
use std::time::Duration;

/// The share from which lateness determines the response time, or a loss of time a whole trial.
const MOST_OF_IT: f64 = 0.5;
/// The share of all cores above which other processes disturb the measurement.
const CROWDED: f64 = 0.2;

/// Returns the limit of the generator that was reached, if any. The search decides if it matters.
pub(super) fn own_limit(run: &RunResult, fastest_ns: u64) -> Option<OwnLimit> {
    exhausted(run)
        .or_else(|| busy(run))
        .or_else(|| late(run, fastest_ns))
}

/// Returns the limit if descriptors or ports ran out.
fn exhausted(run: &RunResult) -> Option<OwnLimit> {
    found(run, |finding| {
        let (Cause::Descriptors { failed, .. } | Cause::Ports { failed, .. }) = finding.cause
        else {
            return None;
        };
        Some(OwnLimit::Exhausted { failed })
    })
}

/// Returns the limit if a worker computed all the time.
fn busy(run: &RunResult) -> Option<OwnLimit> {
    found(run, |finding| {
        let (Cause::Busy { share } | Cause::Limit { share, .. }) = finding.cause else {
            return None;
        };
        Some(OwnLimit::Busy { share })
    })
}

fn found(run: &RunResult, limit: impl Fn(&Finding) -> Option<OwnLimit>) -> Option<OwnLimit> {
    run.findings.list.iter().find_map(limit)
}

/// Returns the limit if lateness was most of the response time, of however few requests, or a large
/// part of a figure whose check failed, and if all checks would have passed with responses as fast
/// as the fastest.
fn late(run: &RunResult, fastest_ns: u64) -> Option<OwnLimit> {
    let times = &run.summary.total.times;
    let late_ns = times.lateness.percentile_ns(99.0);
    let response_ns = times.response.percentile_ns(99.0);
    let is_most = late_ns > LATE_NS && late_ns as f64 > response_ns as f64 * MOST_OF_IT;
    let in_time = times.lateness.count_up_to_ns(LATE_NS) as f64;
    let share = 1.0 - in_time / times.lateness.len().max(1) as f64;
    let is_ours = is_most || has_failed_by_own_delay(run);
    (is_ours && holds_at_best(&run.summary, fastest_ns)).then_some(OwnLimit::Late { share })
}

/// True if a check failed on a figure that contains delay added by Loadline: more than a tenth of
/// it, and more than 50 µs.
fn has_failed_by_own_delay(run: &RunResult) -> bool {
    let checks = run.summary.plan.checks.iter().zip(&run.checks);
    let mut failed = checks.filter(|(_, result)| !result.estimate_holds);
    failed.any(|(check, _)| {
        let Metric::Time(Clocked::Response, statistic) = check.metric else {
            return false;
        };
        !check.is_of_part() && run.own_delay(statistic).is_some()
    })
}

/// Returns the disturbance that took time from the generator or its machine, if the checks would
/// have passed without it.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "a new cause is no disturbance"
)]
pub(super) fn disturbance(run: &RunResult, fastest_ns: u64) -> Option<OwnLimit> {
    let counts = &run.summary.total.counts;
    if counts.answered + counts.failed == 0 {
        return lost_most(run);
    }
    let ours = found(run, |finding| match finding.cause {
        Cause::Crowded { share, .. } => Some(OwnLimit::Crowded { share }),
        Cause::Stalled { longest_ns, .. } => Some(OwnLimit::Stalled { longest_ns }),
        Cause::Stolen { share } => Some(OwnLimit::Stolen { share }),
        _ => None,
    });
    let disturbance = ours.or_else(|| others(&run.summary));
    disturbance.filter(|_| holds_at_best(&run.summary, fastest_ns))
}

/// Returns the disturbance that took most of a trial: only this can be the reason for a trial
/// without any response.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "a new cause is no disturbance"
)]
fn lost_most(run: &RunResult) -> Option<OwnLimit> {
    let most_ns = run.summary.rated_ns() as f64 * MOST_OF_IT;
    found(run, |finding| match finding.cause {
        Cause::Stolen { share } if share > MOST_OF_IT => Some(OwnLimit::Stolen { share }),
        Cause::Stalled { longest_ns, .. } if longest_ns as f64 > most_ns => {
            Some(OwnLimit::Stalled { longest_ns })
        }
        _ => None,
    })
}

/// True if the machine lost time that none of its processes used.
pub(super) fn lost_time(run: &RunResult) -> bool {
    let lost =
        |finding: &Finding| matches!(finding.cause, Cause::Stolen { .. } | Cause::Stalled { .. });
    run.findings.list.iter().any(lost)
}

/// Returns the disturbance if processes that are neither the generator's nor the target's used more
/// than a fifth of the machine. What happens on this machine does not matter to agents.
fn others(summary: &Summary) -> Option<OwnLimit> {
    if !summary.agents.is_empty() {
        return None;
    }
    let watch = &summary.watch;
    let looks = watch.usage_of_host();
    let busy = mean_rate(looks.map(|(usage, length_ns)| (usage.cpu_ns, length_ns)))?;
    let here = (0..watch.trees.len()).filter(|tree| watch.trees[*tree].machine.is_none());
    let trees = here.filter_map(|tree| cores_of(summary, tree));
    let cores = busy - trees.sum::<f64>();
    (cores > watch.host.cores? as f64 * CROWDED).then_some(OwnLimit::Others { cores })
}

/// True if all checks would hold with every request as fast as the fastest of all trials: a
/// disturbance of the machine makes responses late, but not wrong, and the fastest one not slower.
fn holds_at_best(summary: &Summary, fastest_ns: u64) -> bool {
    let mut best = summary.total.clone();
    let times = &mut best.times;
    for times in [
        &mut times.response,
        &mut times.service,
        &mut times.blocked,
        &mut times.lateness,
        &mut times.first_byte,
        &mut times.rest,
        &mut times.wakeup,
    ] {
        let (best_ns, count) = (times.min_ns().min(fastest_ns), times.len());
        times.reset();
        times.record_many_ns(best_ns, count);
    }
    let duration = Duration::from_nanos(summary.rated_ns());
    let checks = evaluate_all(&summary.plan.checks, &best, duration);
    checks.iter().all(|check| check.estimate_holds)
}

/// Returns the cores that a watched tree used.
pub(super) fn cores_of(summary: &Summary, tree: usize) -> Option<f64> {
    let looks = summary.watch.usage_of(tree);
    mean_rate(looks.map(|(usage, length_ns)| (usage.cpu_ns, length_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_plan::Plan;
    use loadline_record::watched::{HostUsage, Watched, WatchedHost};
    use loadline_record::{Environment, Header, Snapshot, WorkerTimes};
    use std::time::SystemTime;

    const MS: u64 = 1_000_000;

    fn own_limit(summary: &Summary, fastest_ns: u64) -> Option<OwnLimit> {
        super::own_limit(&RunResult::new(summary.clone()), fastest_ns)
    }

    fn disturbance(summary: &Summary, fastest_ns: u64) -> Option<OwnLimit> {
        super::disturbance(&RunResult::new(summary.clone()), fastest_ns)
    }

    fn lost_time(summary: &Summary) -> bool {
        super::lost_time(&RunResult::new(summary.clone()))
    }

    /// Returns the summary of twenty requests at a rate, each with this lateness and service time.
    fn summary(check: &str, lateness_ns: u64, service_ns: u64) -> Summary {
        let plan = Plan {
            checks: vec![check.parse().expect("a check")],
            ..samples::plan()
        };
        let environment = Environment::default();
        let mut summary = Summary::new(Header::new(&plan, environment, SystemTime::UNIX_EPOCH));
        let mut second = Snapshot::empty(0);
        second.end_ns = 1_000 * MS;
        let times = &mut second.times;
        times.lateness.record_many_ns(lateness_ns, 19);
        times.response.record_many_ns(lateness_ns + service_ns, 19);
        // One of the requests had a core when it was due.
        times.lateness.record_ns(1_000);
        times.response.record_ns(service_ns);
        times.service.record_many_ns(service_ns, 20);
        second.counts.answered = 20;
        second.statuses.insert(503, 20);
        summary.observe(&second);
        summary
    }

    #[test]
    fn lateness_that_is_most_of_the_response_is_our_own_end() {
        let late = summary("p99<10ms", 25 * MS, MS);
        assert_eq!(own_limit(&late, MS), Some(OwnLimit::Late { share: 0.95 }));
        let slow = summary("p99<10ms", 5 * MS, 80 * MS);
        assert_eq!(own_limit(&slow, MS), None);
    }

    #[test]
    fn a_check_that_breaks_on_a_figure_of_which_a_part_is_our_delay_is_our_own_end() {
        let with = |ours_ns: u64| {
            let mut summary = summary("p99<10ms", ours_ns, 9 * MS);
            let undelayed = &mut summary.total.times.undelayed;
            undelayed.record_many_ns(9 * MS, 20);
            own_limit(&summary, MS)
        };
        assert!(
            matches!(with(2 * MS), Some(OwnLimit::Late { .. })),
            "18 % of 11 ms"
        );
        assert_eq!(with(MS / 2), None, "it did not break");
        let mut slow = summary("p99<10ms", 2 * MS, 80 * MS);
        slow.total.times.undelayed.record_many_ns(80 * MS, 20);
        assert_eq!(own_limit(&slow, MS), None, "2 % of 82 ms");
    }

    #[test]
    fn what_a_machine_at_its_best_breaks_is_the_targets() {
        let wrong = summary("non2xx<1%", 25 * MS, MS);
        assert_eq!(
            own_limit(&wrong, MS),
            None,
            "a late request is no wrong answer"
        );
        let slow = summary("p99<10ms", 25 * MS, 20 * MS);
        let none = own_limit(&slow, 20 * MS);
        assert_eq!(none, None, "the fastest took too long, too");
        let of_another_trial = own_limit(&slow, MS);
        assert_eq!(of_another_trial, Some(OwnLimit::Late { share: 0.95 }));
    }

    fn crowded(check: &str) -> Summary {
        let mut summary = summary(check, 100, MS);
        let worker = WorkerTimes {
            wall_ns: 1_000 * MS,
            queued_ns: 400 * MS,
            ..WorkerTimes::default()
        };
        summary.total.workers.insert(0, worker);
        summary
    }

    #[test]
    fn a_crowded_core_disturbs_what_would_hold_without_it() {
        let found = disturbance(&crowded("p99<10ms"), MS);
        assert_eq!(found, Some(OwnLimit::Crowded { share: 0.4 }));
        assert_eq!(own_limit(&crowded("p99<10ms"), MS), None);
        assert_eq!(disturbance(&crowded("non2xx<1%"), MS), None);
    }

    /// Returns the summary with this percentage of the second's time taken by the hypervisor.
    fn stolen(mut summary: Summary, percent: u64) -> Summary {
        summary.host.cpu_ticks = 100;
        summary.host.steal_ticks = percent;
        summary
    }

    #[test]
    fn time_is_lost_whatever_came_of_it() {
        assert!(lost_time(&stolen(summary("p99<10ms", 100, MS), 30)));
        assert!(lost_time(&stolen(summary("non2xx<1%", 100, MS), 30)));
        assert!(!lost_time(&stolen(summary("p99<10ms", 100, MS), 1)));
        assert!(!lost_time(&crowded("p99<10ms")), "somebody had that");
    }

    #[test]
    fn no_answer_at_all_is_excused_by_a_loss_of_most_of_the_time_alone() {
        let mut nothing = crowded("p99<10ms");
        let mut empty = Snapshot::empty(0);
        empty.end_ns = 1_000 * MS;
        empty.workers = nothing.total.workers.clone();
        nothing.total = empty;
        assert_eq!(disturbance(&nothing, MS), None);
        assert_eq!(disturbance(&stolen(nothing.clone(), 30), MS), None);
        let share = 0.9;
        let most = disturbance(&stolen(nothing, 90), MS);
        assert_eq!(most, Some(OwnLimit::Stolen { share }));
    }

    #[test]
    fn what_other_processes_use_disturbs_from_a_fifth_of_the_machine_on() {
        let watched = |cpu_ns| {
            let mut summary = summary("p99<10ms", 100, MS);
            let usage = HostUsage {
                cpu_ns: Some(cpu_ns),
                ..HostUsage::default()
            };
            let host = WatchedHost {
                cores: Some(2),
                usage,
                ..WatchedHost::default()
            };
            let look = Watched {
                length_ns: 1_000 * MS,
                host,
                trees: Vec::new(),
            };
            summary.watch.observe(&look, 1_000 * MS);
            disturbance(&summary, MS)
        };
        assert_eq!(watched(300 * MS), None);
        assert_eq!(watched(900 * MS), Some(OwnLimit::Others { cores: 0.9 }));
    }
}
