//! The requirements of a run, and the descriptions of its scenarios that are printed before it.

use crate::scenario::{Executor, Scenario, Stage};
use crate::segment::Segment;
use crate::time::GoDuration;
use std::time::Duration;

/// The requirements of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The maximum number of concurrent virtual users.
    pub max_vus: u32,
    /// The number of virtual users that are ready at the beginning.
    pub ready_vus: u32,
    /// The maximum duration, including graceful stops; endless scenarios and those without users
    /// are not counted.
    pub length: Duration,
}

/// Returns the requirements of these scenarios together.
pub fn needs(scenarios: &[Scenario]) -> Needs {
    let with_users = scenarios.iter().filter(|one| one.executor.max_vus() > 0);
    let ends = with_users.map(Scenario::end);
    Needs {
        max_vus: peak(scenarios, Executor::max_vus),
        ready_vus: peak(scenarios, Executor::ready_vus),
        length: ends.flatten().max().unwrap_or_default(),
    }
}

/// Returns the maximum that scenarios need at the same time. The need of a scenario changes at the
/// ends of its stages, so it is computed at these instants.
fn peak(scenarios: &[Scenario], of: fn(&Executor) -> u32) -> u32 {
    let instants = scenarios.iter().flat_map(Scenario::corners);
    let need = |at: Duration| -> u32 {
        let each = scenarios.iter().map(|scenario| scenario.need(at, of));
        each.fold(0, u32::saturating_add)
    };
    instants.map(need).max().unwrap_or(0)
}

impl Scenario {
    /// Returns the time at which the last iteration has ended, if the scenario has an end.
    pub fn end(&self) -> Option<Duration> {
        let grace = match &self.executor {
            // Users that leave in the last stage do so before its end.
            Executor::RampingVus {
                stages,
                graceful_ramp_down,
                ..
            } if stages.last().is_some_and(|last| last.target == 0) => {
                self.graceful_stop.min(*graceful_ramp_down)
            }
            Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ConstantArrivalRate { .. }
            | Executor::RampingArrivalRate { .. }
            | Executor::ExternallyControlled { .. } => self.graceful_stop,
        };
        Some(self.start_time + self.executor.length()? + grace)
    }

    /// Returns the instants at which its need may be highest.
    fn corners(&self) -> Vec<Duration> {
        let mut corners = vec![self.start_time];
        if let Executor::RampingVus { stages, .. } = &self.executor {
            for stage in stages {
                let last = corners.last().copied().unwrap_or_default();
                corners.push(last + stage.duration);
            }
        }
        corners
    }

    fn need(&self, at: Duration, of: fn(&Executor) -> u32) -> u32 {
        if at < self.start_time || self.end().is_some_and(|end| at >= end) {
            return 0;
        }
        match &self.executor {
            Executor::RampingVus {
                start_vus,
                stages,
                graceful_ramp_down,
            } => {
                let at = at - self.start_time;
                most_of(
                    *start_vus,
                    stages,
                    at.saturating_sub(*graceful_ramp_down),
                    at,
                )
            }
            executor @ (Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::ConstantArrivalRate { .. }
            | Executor::RampingArrivalRate { .. }
            | Executor::ExternallyControlled { .. }) => of(executor),
        }
    }

    /// Returns the part of the scenario that a segment runs; `None` if that part is empty.
    pub(crate) fn share(mut self, segment: Segment) -> Option<Scenario> {
        self.arrivals = self.executor.arrivals().map(|all| segment.share(all));
        let arrivals = self.arrivals;
        let users = |vus: &mut u32| *vus = segment.share(u64::from(*vus)) as u32;
        match &mut self.executor {
            Executor::SharedIterations {
                vus, iterations, ..
            } => {
                users(vus);
                *iterations = segment.share(*iterations);
            }
            Executor::PerVuIterations { vus, .. } | Executor::ConstantVus { vus, .. } => users(vus),
            Executor::RampingVus {
                start_vus, stages, ..
            } => {
                users(start_vus);
                let of = |stage: &mut Stage| stage.target = segment.share(stage.target);
                stages.iter_mut().for_each(of);
            }
            Executor::ConstantArrivalRate {
                rate,
                time_unit,
                duration,
                pre_allocated_vus,
                max_vus,
            } => {
                // The same count in a longer unit of time. All segments together must have all
                // arrivals, so one may need more than its unit of time gives it.
                *time_unit = time_unit.div_f64(segment.size());
                if let Some(arrivals) = arrivals.filter(|arrivals| *arrivals > 0) {
                    let unit = duration.mul_f64(*rate as f64 / arrivals as f64);
                    *time_unit = unit.min(*time_unit);
                }
                users(pre_allocated_vus);
                users(max_vus);
            }
            Executor::RampingArrivalRate {
                time_unit,
                pre_allocated_vus,
                max_vus,
                ..
            } => {
                // The same count in a longer unit of time, so that nothing is lost by rounding.
                *time_unit = time_unit.div_f64(segment.size());
                users(pre_allocated_vus);
                users(max_vus);
            }
            Executor::ExternallyControlled { vus, max_vus, .. } => {
                users(vus);
                users(max_vus);
            }
        }
        let is_any = self.executor.max_vus() > 0 && self.arrivals != Some(0);
        is_any.then_some(self)
    }
}

/// Returns the maximum number of users within a span of a ramp.
fn most_of(start: u32, stages: &[Stage], from: Duration, to: Duration) -> u32 {
    let (mut at, mut level) = (Duration::ZERO, f64::from(start));
    let mut most: f64 = if from.is_zero() { level } else { 0.0 };
    for stage in stages {
        let end = at + stage.duration;
        let target = stage.target as f64;
        let value = |instant: Duration| {
            let whole = stage.duration.as_secs_f64();
            let share = (instant.saturating_sub(at)).as_secs_f64() / whole.max(1e-9);
            level + (target - level) * share.clamp(0.0, 1.0)
        };
        if from <= end && to >= at {
            most = most.max(value(from.max(at))).max(value(to.min(end)));
        }
        (at, level) = (end, target);
    }
    if from > at || stages.is_empty() {
        most = most.max(level);
    }
    most.ceil() as u32
}

/// Returns the description of a scenario, in k6's wording.
pub fn describe(scenario: &Scenario) -> String {
    let mut details = Vec::new();
    let base = match &scenario.executor {
        Executor::SharedIterations {
            vus,
            iterations,
            max_duration,
        } => {
            details.push(format!("maxDuration: {}", go(*max_duration)));
            format!("{iterations} iterations shared among {vus} VUs")
        }
        Executor::PerVuIterations {
            vus,
            iterations,
            max_duration,
        } => {
            details.push(format!("maxDuration: {}", go(*max_duration)));
            format!("{iterations} iterations for each of {vus} VUs")
        }
        Executor::ConstantVus { vus, duration } => {
            format!("{vus} looping VUs for {}", go(*duration))
        }
        Executor::RampingVus {
            stages,
            graceful_ramp_down,
            ..
        } => {
            details.push(format!("gracefulRampDown: {}", go(*graceful_ramp_down)));
            format!(
                "Up to {} looping VUs for {} over {} stages",
                scenario.executor.max_vus(),
                go(scenario.executor.length().unwrap_or_default()),
                stages.len()
            )
        }
        Executor::ConstantArrivalRate {
            rate,
            time_unit,
            duration,
            pre_allocated_vus,
            max_vus,
        } => {
            details.push(users(*pre_allocated_vus, *max_vus));
            format!(
                "{} for {}",
                per_second(*rate as f64, *time_unit),
                go(*duration)
            )
        }
        Executor::RampingArrivalRate {
            start_rate,
            time_unit,
            stages,
            pre_allocated_vus,
            max_vus,
        } => {
            details.push(users(*pre_allocated_vus, *max_vus));
            let targets = stages.iter().map(|stage| stage.target);
            let most = targets.fold(*start_rate, u64::max);
            format!(
                "Up to {} for {} over {} stages",
                per_second(most as f64, *time_unit),
                go(scenario.executor.length().unwrap_or_default()),
                stages.len()
            )
        }
        Executor::ExternallyControlled {
            vus,
            max_vus,
            duration,
        } => {
            let length = duration.map_or("infinite".to_owned(), go);
            format!(
                "Externally controlled execution with {vus} VUs, {max_vus} max VUs, {length} \
                 duration"
            )
        }
    };
    if scenario.exec != "default" {
        details.push(format!("exec: {}", scenario.exec));
    }
    if !scenario.start_time.is_zero() {
        details.push(format!("startTime: {}", go(scenario.start_time)));
    }
    if !scenario.graceful_stop.is_zero() {
        details.push(format!("gracefulStop: {}", go(scenario.graceful_stop)));
    }
    match details.is_empty() {
        true => base,
        false => format!("{base} ({})", details.join(", ")),
    }
}

fn go(time: Duration) -> String {
    GoDuration(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)).to_string()
}

fn users(ready: u32, most: u32) -> String {
    match most > ready {
        true => format!("maxVUs: {ready}-{most}"),
        false => format!("maxVUs: {ready}"),
    }
}

fn per_second(count: f64, unit: Duration) -> String {
    format!("{:.2} iterations/s", count / unit.as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tier, consolidate};

    fn scenarios(json: &str) -> Vec<Scenario> {
        let tier = Tier::from_json(json).expect("options");
        let consolidated = consolidate(vec![("script", tier)], |_| true);
        consolidated.expect("scenarios").scenarios
    }

    const ALL: &str = r#"{"scenarios": {
        "a": {"executor": "ramping-vus", "gracefulStop": "1s", "gracefulRampDown": "0s",
              "stages": [{"duration": "1s", "target": 5}, {"duration": "1m", "target": 2}]},
        "b": {"executor": "constant-arrival-rate", "rate": 5, "duration": "1s", "exec": "f",
              "preAllocatedVUs": 1, "maxVUs": 3, "startTime": "2s"},
        "b2": {"executor": "constant-arrival-rate", "rate": 5, "timeUnit": "3s", "duration": "1s",
               "preAllocatedVUs": 1},
        "b3": {"executor": "constant-arrival-rate", "rate": 60, "timeUnit": "1m",
               "duration": "1s", "preAllocatedVUs": 2, "gracefulStop": "0s"},
        "c": {"executor": "shared-iterations"},
        "c2": {"executor": "shared-iterations", "vus": 3, "iterations": 6, "maxDuration": "1m",
               "exec": "f", "startTime": "1s"},
        "d": {"executor": "per-vu-iterations", "vus": 2, "iterations": 4},
        "e": {"executor": "constant-vus", "duration": "90s", "vus": 2},
        "f": {"executor": "ramping-arrival-rate", "preAllocatedVUs": 1, "timeUnit": "1m",
              "startRate": 30, "stages": [{"duration": "1s", "target": 2},
                                          {"duration": "300ms", "target": 600}]},
        "g": {"executor": "externally-controlled", "vus": 1, "maxVUs": 2, "duration": "1s"},
        "h": {"executor": "externally-controlled", "vus": 1, "maxVUs": 1, "duration": "0s"}}}"#;

    // The output of k6 1.8.1 for these options.
    #[test]
    fn scenarios_are_described_in_k6s_words_and_order() {
        let described: Vec<String> = scenarios(ALL)
            .iter()
            .map(|one| format!("{}: {}", one.name, describe(one)))
            .collect();
        let expected = [
            "a: Up to 5 looping VUs for 1m1s over 2 stages (gracefulRampDown: 0s, \
             gracefulStop: 1s)",
            "b2: 1.67 iterations/s for 1s (maxVUs: 1, gracefulStop: 30s)",
            "b3: 1.00 iterations/s for 1s (maxVUs: 2)",
            "c: 1 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
            "d: 4 iterations for each of 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
            "e: 2 looping VUs for 1m30s (gracefulStop: 30s)",
            "f: Up to 10.00 iterations/s for 1.3s over 2 stages (maxVUs: 1, gracefulStop: 30s)",
            "g: Externally controlled execution with 1 VUs, 2 max VUs, 1s duration",
            "h: Externally controlled execution with 1 VUs, 1 max VUs, infinite duration",
            "c2: 6 iterations shared among 3 VUs (maxDuration: 1m0s, exec: f, startTime: 1s, \
             gracefulStop: 30s)",
            "b: 5.00 iterations/s for 1s (maxVUs: 1-3, exec: f, startTime: 2s, gracefulStop: 30s)",
        ];
        assert_eq!(described, expected);
    }

    // The output of k6 1.8.1 for `inspect --execution-requirements`.
    #[test]
    fn a_scenario_without_users_needs_no_time() {
        let length = |vus: &str| {
            let json = format!(
                r#"{{"scenarios": {{"a": {{"executor": "externally-controlled", {vus}
                    "duration": "5m"}}}}}}"#
            );
            needs(&scenarios(&json)).length.as_secs()
        };
        assert_eq!(length(""), 0);
        assert_eq!(length(r#""vus": 0, "maxVUs": 0,"#), 0);
        assert_eq!(length(r#""vus": 0, "maxVUs": 3,"#), 300);
        assert_eq!(length(r#""vus": 2, "maxVUs": 3,"#), 300);
    }

    #[test]
    fn a_run_needs_what_its_scenarios_need_at_the_same_time() {
        let needs_of = |json: &str| needs(&scenarios(json));
        let all = needs_of(ALL);
        assert_eq!((all.max_vus, all.length), (19, Duration::from_secs(630)));
        let one_behind_the_other = needs_of(
            r#"{"scenarios": {
                "a": {"executor": "constant-vus", "vus": 3, "duration": "10s"},
                "b": {"executor": "ramping-vus", "startTime": "45s", "stages": [
                    {"duration": "10s", "target": 5}, {"duration": "10s", "target": 0}]},
                "c": {"executor": "constant-vus", "vus": 1, "duration": "10s",
                      "startTime": "50s"}}}"#,
        );
        assert_eq!(one_behind_the_other.max_vus, 6);
        assert_eq!(one_behind_the_other.length, Duration::from_secs(95));
        let down_to_nobody = needs_of(
            r#"{"scenarios": {"a": {"executor": "ramping-vus", "gracefulRampDown": "2s", "stages": [
                {"duration": "30s", "target": 0}]}}}"#,
        );
        assert_eq!(down_to_nobody.length, Duration::from_secs(32));
    }

    #[test]
    fn segments_have_all_arrivals_together() {
        for (rate, seconds, unit, borders) in [
            (50, 1, 1, "0,1/3,2/3,1"),
            (50, 1, 3, "0,1/3,2/3,1"),
            (7, 10, 1, "0,0.1,0.25,0.9,1"),
            (1_000, 60, 7, "0,1/7,1/2,1"),
        ] {
            let json = format!(
                r#"{{"scenarios": {{"a": {{"executor": "constant-arrival-rate", "rate": {rate},
                    "timeUnit": "{unit}s", "duration": "{seconds}s", "preAllocatedVUs": 50}}}}}}"#
            );
            let whole = &scenarios(&json)[0];
            let all = whole.executor.arrivals().expect("a rate");
            let segments = Segment::parse_sequence(borders).expect("segments");
            let mut together = 0;
            for segment in segments {
                let share = whole.clone().share(segment).expect("some");
                let arrivals = share.arrivals.expect("a share");
                // The segment's own rate gives as many arrivals, or more, which are cut off.
                assert!(
                    share.executor.arrivals() >= Some(arrivals),
                    "{json} {segment:?}"
                );
                together += arrivals;
            }
            assert_eq!(together, all, "{json}");
        }
    }
}
