//! The events of k6's web dashboard, for programs that follow them at `/events`: what k6 2 sends
//! (`internal/dashboard`), with its names, its order and its numbers.
//!
//! `config`, `param` and `start` come once, and `stop` at the end. Each period has `cumulative`,
//! the values since the begin; `threshold`, if one is crossed; and `snapshot`, the values of the
//! period. `metric` comes before the first values of a metric. Values are a list for each metric,
//! in the order of their names: the aggregates that `param` names, or none without a value. The
//! begin and the end have the metric `time` alone.
//!
//! What is kept is the events, as k6 does, so that whoever comes late gets all of them; they are
//! at most as many as those of [`MOST_PERIODS`].

use crate::go_json;
use crate::output::Described;
use loadline_k6_metrics::{
    Cell, Contains, MetricId, MetricType, Portion, Registry, Sink, Thresholds, Totals, average,
    builtin,
};
use loadline_web::Broadcast;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The most periods of a test: longer tests have longer periods.
const MOST_PERIODS: u32 = 2_880;
/// The events of a period with new metrics.
const EVENTS_OF_PERIOD: usize = 4;
/// The metric of the current time, in milliseconds since 1970.
const TIME: &str = "time";
/// The aggregates of each type of metric, in the order of values.
const AGGREGATES: [(MetricType, &[&str]); 4] = [
    (MetricType::Counter, &["count", "rate"]),
    (MetricType::Gauge, &["value"]),
    (MetricType::Rate, &["rate"]),
    (
        MetricType::Trend,
        &["avg", "max", "med", "min", "p(90)", "p(95)", "p(99)"],
    ),
];
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// A tag whose values have submetrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitBy {
    Group,
    Scenario,
}

impl SplitBy {
    /// Returns the tag of this name; `None` for one by whose values nothing is recorded.
    pub(super) fn named(name: &str) -> Option<SplitBy> {
        match name.trim() {
            "group" => Some(SplitBy::Group),
            "scenario" => Some(SplitBy::Scenario),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            SplitBy::Group => "group",
            SplitBy::Scenario => "scenario",
        }
    }

    fn value(self, cell: &Cell) -> &str {
        match self {
            SplitBy::Group => &cell.group,
            SplitBy::Scenario => &cell.scenario,
        }
    }
}

/// The settings of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventSettings {
    pub(crate) period: Duration,
    pub(crate) tags: Vec<SplitBy>,
}

/// The test that the events are of.
pub(crate) struct EventTest {
    /// The address of the script.
    pub(crate) script: String,
    pub(crate) scenarios: Vec<String>,
    /// The longest time that it can take; zero if it has no end.
    pub(crate) length: Duration,
}

/// An instant, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) at: Instant,
    pub(crate) unix_ms: u64,
}

impl Now {
    /// Reads the clocks.
    pub(crate) fn read() -> Now {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Now {
            at: Instant::now(),
            unix_ms: since.map_or(0, |since| since.as_millis() as u64),
        }
    }
}

/// The events of a test that goes on.
pub(crate) struct Events {
    stream: Broadcast,
    /// The number of the next event; the first is 0.
    number: u64,
    tags: Vec<SplitBy>,
    thresholds: Thresholds,
    period: Duration,
    begun: Instant,
    due: Instant,
    /// What was measured since the begin, and in this period.
    total: Totals,
    recent: Totals,
    /// The names that were announced.
    seen: BTreeSet<String>,
}

/// The values of a metric or submetric.
struct Found {
    kind: MetricType,
    contains: Contains,
    is_custom: bool,
    sink: Sink,
}

impl Events {
    /// Begins the events of a test.
    pub(crate) fn begin(
        settings: &EventSettings,
        test: EventTest,
        described: Described<'_>,
        now: Now,
    ) -> Events {
        let period = period_of(settings.period, test.length);
        let totals = || Totals::new(Arc::clone(described.recording));
        let mut events = Events {
            stream: Broadcast::kept(MOST_PERIODS as usize * EVENTS_OF_PERIOD),
            number: 0,
            tags: settings.tags.clone(),
            thresholds: described.thresholds.clone(),
            period,
            begun: now.at,
            due: now.at + period,
            total: totals(),
            recent: totals(),
            seen: BTreeSet::new(),
        };
        // k6's own page is laid out by it; there is none here.
        events.send("config", &json!({}));
        events.send("param", &parameters(&test, period, described.thresholds));
        events.seen.insert(TIME.to_owned());
        events.send(
            "metric",
            &json!({ TIME: { "type": "gauge", "contains": "time" } }),
        );
        events.send("start", &only_time(now));
        events
    }

    /// Returns what viewers follow.
    pub(crate) fn stream(&self) -> Broadcast {
        self.stream.clone()
    }

    /// Takes what users recorded.
    pub(crate) fn take(&mut self, portion: &Portion, now: Now) {
        self.total.add(portion);
        self.recent.add(portion);
        if now.at >= self.due {
            self.send_total(now);
            self.send_recent(now);
            while self.due <= now.at {
                self.due += self.period;
            }
        }
    }

    /// Ends the events with all values.
    pub(crate) fn end(mut self, now: Now) {
        self.send_total(now);
        let data = go_json::compact(&only_time(now));
        self.stream.send_last(self.number, "stop", &data);
    }

    fn send_total(&mut self, now: Now) {
        let total = found(&self.total, &self.tags);
        self.announce(&total);
        let length = now.at.saturating_duration_since(self.begun);
        self.send("cumulative", &self.values(&total, now, length));
        let outcomes = self
            .thresholds
            .evaluate(&self.total, length.as_nanos() as u64);
        let mut crossed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for outcome in outcomes.into_iter().filter(|outcome| !outcome.is_ok) {
            let of_metric = crossed.entry(outcome.metric).or_default();
            of_metric.push(outcome.expression);
        }
        if !crossed.is_empty() {
            self.send("threshold", &json!(crossed));
        }
    }

    fn send_recent(&mut self, now: Now) {
        let recent = found(&self.recent, &self.tags);
        self.send("snapshot", &self.values(&recent, now, self.period));
        self.recent = Totals::new(Arc::clone(self.recent.setup()));
    }

    /// Sends what the metrics are that were not known before.
    fn announce(&mut self, total: &BTreeMap<String, Found>) {
        let new = total.iter().filter(|(name, _)| !self.seen.contains(*name));
        let new: Map<String, Value> = new
            .map(|(name, found)| (name.clone(), found.described()))
            .collect();
        if !new.is_empty() {
            self.seen.extend(new.keys().cloned());
            self.send("metric", &Value::Object(new));
        }
    }

    /// Returns the values of all metrics that were announced.
    fn values(&self, found: &BTreeMap<String, Found>, now: Now, length: Duration) -> Value {
        let of_name = |name: &String| match (name.as_str(), found.get(name)) {
            (TIME, _) => json!([now.unix_ms]),
            (_, Some(found)) => json!(aggregated(&found.sink, length)),
            (_, None) => json!([]),
        };
        self.seen.iter().map(of_name).collect()
    }

    fn send(&mut self, name: &str, data: &Value) {
        let data = go_json::compact(data);
        self.stream.send(self.number, name, &data);
        self.number += 1;
    }
}

impl Drop for Events {
    /// Viewers of a test that could not go on have no more events.
    fn drop(&mut self) {
        self.stream.end();
    }
}

impl Found {
    /// What k6 leaves out is left out: the usual unit, and that a metric is not the script's.
    fn described(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("type".to_owned(), self.kind.name().into());
        if self.contains != Contains::Default {
            fields.insert("contains".to_owned(), self.contains.name().into());
        }
        if self.is_custom {
            fields.insert("custom".to_owned(), true.into());
        }
        Value::Object(fields)
    }
}

/// Returns the period of a test of this length: a multiple of the one that is set.
fn period_of(set: Duration, length: Duration) -> Duration {
    let fewest = length.as_nanos() / u128::from(MOST_PERIODS);
    let times = fewest.div_ceil(set.as_nanos().max(1)).max(1);
    set.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
}

fn parameters(test: &EventTest, period: Duration, thresholds: &Thresholds) -> Value {
    let aggregates = AGGREGATES.iter();
    let aggregates: Map<String, Value> = aggregates
        .map(|(kind, names)| (kind.name().to_owned(), json!(names)))
        .collect();
    let of_metric = |name: &str| {
        let own = thresholds.of(name);
        let expressions: Vec<&str> = own.map(|source| source.expression.as_str()).collect();
        (name.to_owned(), json!(expressions))
    };
    let thresholds: Map<String, Value> = thresholds.metrics().map(of_metric).collect();
    let mut fields = json!({
        "scenarios": test.scenarios,
        "endOffset": test.length.as_millis() as u64,
        "period": period.as_millis() as u64,
        "scriptPath": test.script,
        "aggregates": aggregates,
    });
    if !thresholds.is_empty() {
        fields["thresholds"] = Value::Object(thresholds);
    }
    fields
}

fn only_time(now: Now) -> Value {
    json!([[now.unix_ms]])
}

/// Returns all metrics that have values, and those of the values of these tags.
fn found(totals: &Totals, tags: &[SplitBy]) -> BTreeMap<String, Found> {
    let known = totals.setup().registry.all();
    let mut all: BTreeMap<String, Found> = BTreeMap::new();
    let mut add = |id: MetricId, tag: Option<(&str, &str)>, sink: &Sink| {
        let metric = &known[id.index()];
        let name = match tag {
            None => metric.name.clone(),
            Some((tag, value)) => format!("{}{{{tag}:{value}}}", metric.name),
        };
        match all.get_mut(&name) {
            Some(found) => found.sink.merge(sink),
            None => {
                let found = Found {
                    kind: metric.kind,
                    contains: metric.contains,
                    // k6 does not have the last of ours.
                    is_custom: !Registry::is_builtin(id) || id >= builtin::ITERATION_DELAY,
                    sink: sink.clone(),
                };
                all.insert(name, found);
            }
        }
    };
    for (id, sink) in totals.tally.sinks.metrics() {
        add(id, None, sink);
    }
    for cell in totals.tally.cells() {
        let tags = tags.iter().map(|tag| (tag.name(), tag.value(cell)));
        for tag in tags.filter(|(_, value)| !value.is_empty()) {
            let sinks = cell.sinks.metrics();
            sinks.for_each(|(id, sink)| add(id, Some(tag), sink));
        }
    }
    all
}

/// Returns the aggregates of a sink, in the order of [`AGGREGATES`].
fn aggregated(sink: &Sink, length: Duration) -> Vec<f64> {
    let values = match sink {
        Sink::Counter(counter) => {
            let seconds = length.as_secs_f64();
            let rate = if seconds > 0.0 {
                counter.count / seconds
            } else {
                0.0
            };
            vec![counter.count, rate]
        }
        Sink::Gauge(gauge) => vec![gauge.value],
        Sink::Rate(rate) => vec![rate.share()],
        Sink::Trend(trend) => {
            let percentiles: Vec<f64> = trend.interpolated(&PERCENTILES).into_iter().collect();
            let [med, p90, p95, p99] = percentiles[..] else {
                return Vec::new();
            };
            let (min, max) = (trend.min().unwrap_or(0.0), trend.max().unwrap_or(0.0));
            vec![average(trend), max, med, min, p90, p95, p99]
        }
    };
    values.into_iter().map(significant).collect()
}

/// Cuts digits off as k6 does: the larger a number, the fewer decimal places it has.
fn significant(number: f64) -> f64 {
    let places = match number {
        whole if whole.fract() == 0.0 => return whole,
        number if number > 10_000.0 => 0,
        number if number > 1_000.0 => 1,
        number if number > 100.0 => 2,
        number if number > 10.0 => 3,
        number if number > 1.0 => 4,
        _ => 5,
    };
    let scale = 10_f64.powi(places);
    (number * scale).trunc() / scale
}

#[cfg(test)]
mod tests;
