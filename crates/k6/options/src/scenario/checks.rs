//! Problems of a scenario, in k6's wording.

use super::raw::{Raw, time_of};
use crate::time::GoDuration;
use serde_json::Value;

/// The minimum duration of a scenario.
const LEAST: GoDuration = GoDuration::seconds(1);

/// Returns all problems of a scenario.
pub(crate) fn problems(name: &str, raw: &Raw<'_>) -> Vec<String> {
    let mut found = Problems::default();
    found.common(name, raw);
    match raw.executor() {
        "shared-iterations" => found.shared_iterations(raw),
        "per-vu-iterations" => found.per_vu_iterations(raw),
        "constant-vus" => found.constant_vus(raw),
        "ramping-vus" => found.ramping_vus(raw),
        "constant-arrival-rate" => found.constant_rate(raw),
        "ramping-arrival-rate" => found.ramping_rate(raw),
        _ => found.controlled(raw),
    }
    found.0
}

#[derive(Default)]
struct Problems(Vec<String>);

impl Problems {
    fn add_if(&mut self, is_wrong: bool, text: &str) {
        if is_wrong {
            self.0.push(text.to_owned());
        }
    }

    fn common(&mut self, name: &str, raw: &Raw<'_>) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        self.add_if(
            name.is_empty() || !name.chars().all(is_plain),
            "the scenario name should contain only numbers, latin letters, underscores, and dashes",
        );
        self.add_if(raw.text("exec") == Some(""), "exec value cannot be empty");
        let negative = |name: &str| raw.given_time(name).is_some_and(|time| time.0 < 0);
        self.add_if(negative("startTime"), "the startTime can't be negative");
        self.add_if(
            negative("gracefulStop"),
            "the gracefulStop timeout can't be negative",
        );
    }

    fn some_users(&mut self, raw: &Raw<'_>) {
        let vus = raw.count("vus").unwrap_or(1);
        self.add_if(vus <= 0, "the number of VUs must be more than 0");
    }

    fn long_enough(&mut self, what: &str, time: GoDuration) {
        if time < LEAST {
            self.0.push(format!(
                "the {what} must be at least {LEAST}, but is {time}"
            ));
        }
    }

    fn duration(&mut self, raw: &Raw<'_>) {
        match raw.given_time("duration") {
            Some(time) => self.long_enough("duration", time),
            None => self.add_if(true, "the duration is unspecified"),
        }
    }

    fn max_duration(&mut self, raw: &Raw<'_>) {
        self.long_enough("maxDuration", raw.time("maxDuration", super::MAX_DURATION));
    }

    fn shared_iterations(&mut self, raw: &Raw<'_>) {
        self.some_users(raw);
        let (vus, iterations) = (
            raw.count("vus").unwrap_or(1),
            raw.count("iterations").unwrap_or(1),
        );
        if iterations < vus {
            self.0.push(format!(
                "the number of iterations ({iterations}) can't be less than the number of VUs \
                 ({vus})"
            ));
        }
        self.max_duration(raw);
    }

    fn per_vu_iterations(&mut self, raw: &Raw<'_>) {
        self.some_users(raw);
        let iterations = raw.count("iterations").unwrap_or(1);
        self.add_if(
            iterations <= 0,
            "the number of iterations must be more than 0",
        );
        self.max_duration(raw);
    }

    fn constant_vus(&mut self, raw: &Raw<'_>) {
        self.some_users(raw);
        self.duration(raw);
    }

    fn ramping_vus(&mut self, raw: &Raw<'_>) {
        let start = raw.count("startVUs").unwrap_or(1);
        self.add_if(start < 0, "the number of start VUs can't be negative");
        let stages = stages(raw);
        let most = stages.iter().filter_map(target).fold(start, i64::max);
        self.add_if(
            most <= 0,
            "either startVUs or one of the stages' target values must be greater than 0",
        );
        self.stages(stages);
    }

    fn stages(&mut self, stages: &[Value]) {
        self.add_if(stages.is_empty(), "at least one stage has to be specified");
        for (index, stage) in stages.iter().enumerate() {
            let number = index + 1;
            if time_of(&stage["duration"]).is_some_and(|time| time.0 < 0) {
                self.0
                    .push(format!("the duration for stage {number} can't be negative"));
            }
            match target(stage) {
                None => self.0.push(format!("stage {number} doesn't have a target")),
                Some(target) if target < 0 => self
                    .0
                    .push(format!("the target for stage {number} can't be negative")),
                Some(_) => {}
            }
        }
    }

    fn rate_users(&mut self, raw: &Raw<'_>) {
        match raw.count("preAllocatedVUs") {
            None => self.add_if(true, "the number of preAllocatedVUs isn't specified"),
            Some(ready) => {
                self.add_if(ready < 0, "the number of preAllocatedVUs can't be negative");
                let most = raw.count("maxVUs").unwrap_or(ready);
                self.add_if(most < ready, "maxVUs can't be less than preAllocatedVUs");
            }
        }
    }

    fn time_unit(&mut self, raw: &Raw<'_>) {
        let unit = raw.time("timeUnit", GoDuration::seconds(1));
        self.add_if(unit.0 <= 0, "the timeUnit must be more than 0");
    }

    fn constant_rate(&mut self, raw: &Raw<'_>) {
        match raw.count("rate") {
            None => self.add_if(true, "the iteration rate isn't specified"),
            Some(rate) => self.add_if(rate <= 0, "the iteration rate must be more than 0"),
        }
        self.time_unit(raw);
        self.duration(raw);
        self.rate_users(raw);
    }

    fn ramping_rate(&mut self, raw: &Raw<'_>) {
        let start = raw.count("startRate").unwrap_or(0);
        self.add_if(start < 0, "the startRate value can't be negative");
        self.time_unit(raw);
        self.stages(stages(raw));
        self.rate_users(raw);
    }

    fn controlled(&mut self, raw: &Raw<'_>) {
        self.add_if(
            raw.get("gracefulStop").is_some(),
            "gracefulStop is not supported by the externally controlled executor",
        );
        let vus = raw.count("vus").unwrap_or(0);
        let most = raw.count("maxVUs").unwrap_or(vus);
        self.add_if(vus < 0, "the number of VUs can't be negative");
        if vus > most {
            self.0.push(format!(
                "the number of active VUs ({vus}) must be less than or equal to the number of \
                 maxVUs ({most})"
            ));
        }
        match raw.given_time("duration") {
            None => self.add_if(
                true,
                "the duration must be specified, for infinite duration use 0",
            ),
            Some(time) => self.add_if(
                time.0 < 0,
                "the duration can't be negative, for infinite duration use 0",
            ),
        }
    }
}

fn stages<'a>(raw: &Raw<'a>) -> &'a [Value] {
    let list = raw.get("stages").and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn target(stage: &Value) -> Option<i64> {
    stage["target"].as_i64()
}
