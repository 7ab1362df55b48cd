//! What an interval of Loadline's own runs is as series.
//!
//! | metric | kind | labels | meaning |
//! |---|---|---|---|
//! | `requests` | counter | `outcome` | Arrivals and exchanges, see below. |
//! | `responses` | counter | `name`, `status` | Responses. |
//! | `failures` | counter | `kind` | Exchanges without a response, by error kind. |
//! | `failed_requests` | counter | `name` | The same, by the name of the request. |
//! | `response` | distribution | `name` | The response time: from the intended start. |
//! | `service` | distribution | – | The service time: from the start. |
//! | `lateness` | distribution | – | The delay added by Loadline. |
//! | `in_flight` | gauge | – | Exchanges in flight at the end of the interval. |
//! | `connections`, `reconnects` | counter | – | Connections opened, and replaced silently. |
//! | `received_bytes`, `sent_bytes` | counter | – | Bytes inside TLS. |
//!
//! Outcomes are `planned`, `sent`, `answered`, `failed`, `dropped` and `missed`. Tags of scenarios
//! are labels beside `name`. Metrics of scripts keep their names. Series of single agents have the
//! label `agent` besides, before a tag of that name; all but the planned arrivals, which are those
//! of the run.

use crate::{Batch, Exemplar, Histogram, Labels, Measured, SeriesKey, Unit, Value};
use loadline_metrics::{BITS, Key, MetricUnit, Series, Values, highest_of};
use loadline_reactor::let_workers_run;
use loadline_record::{Distribution, Snapshot};
use std::sync::Arc;

const NS: f64 = 1e-9;
/// The label with the name of an agent.
const AGENT: &str = "agent";

/// Names that hold while a run lasts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// The name of all requests, where they have only one.
    pub only_name: String,
    /// Labels that every series has, in the order of their names.
    pub labels: Vec<(String, String)>,
}

/// Returns what was measured in an interval that ended at this instant, in nanoseconds since 1970.
pub fn batch(snapshot: &Snapshot, naming: &Naming, at_ns: u64) -> Batch {
    let mut measured = Measured::default();
    let mut series = Adding::to(&mut measured, naming, snapshot, at_ns);
    series.planned(snapshot);
    series.all(snapshot);
    Batch {
        at_ns,
        measured,
        ..Batch::default()
    }
}

/// Returns what each agent of a run measured in an interval that ended at this instant, with its
/// name as the label `agent`. What is planned is in the snapshot of the whole run alone, and has no
/// such label.
pub fn batch_of_agents<'a>(
    whole: &Snapshot,
    agents: impl IntoIterator<Item = (&'a str, &'a Snapshot)>,
    naming: &Naming,
    at_ns: u64,
) -> Batch {
    let mut measured = Measured::default();
    Adding::to(&mut measured, naming, whole, at_ns).planned(whole);
    for (agent, snapshot) in agents {
        let mut series = Adding::to(&mut measured, naming, whole, at_ns);
        series.agent = Some(agent);
        series.all(snapshot);
    }
    Batch {
        at_ns,
        measured,
        ..Batch::default()
    }
}

struct Adding<'a> {
    measured: &'a mut Measured,
    naming: &'a Naming,
    /// The end of the interval, in nanoseconds since 1970.
    at_ns: u64,
    /// The begin of the run's measured part, in nanoseconds since 1970.
    zero_ns: u64,
    /// The agent whose series they are, if they are not those of all.
    agent: Option<&'a str>,
}

impl<'a> Adding<'a> {
    /// Adds to these series, of an interval of this run that ended at this instant.
    fn to(measured: &'a mut Measured, naming: &'a Naming, whole: &Snapshot, at_ns: u64) -> Self {
        Adding {
            measured,
            naming,
            at_ns,
            zero_ns: at_ns.saturating_sub(whole.end_ns),
            agent: None,
        }
    }

    fn planned(&mut self, snapshot: &Snapshot) {
        self.count(
            "requests",
            &[("outcome", "planned")],
            snapshot.counts.planned,
        );
    }

    /// Adds all but what is planned.
    fn all(&mut self, snapshot: &Snapshot) {
        self.counts(snapshot);
        self.names(snapshot);
        self.times(snapshot);
        self.of_scripts(snapshot);
        let in_flight = Value::Gauge(snapshot.counts.in_flight as f64, self.at_ns);
        self.add("in_flight", Unit::None, &[], in_flight);
    }

    fn add(&mut self, metric: &str, unit: Unit, labels: &[(&str, &str)], value: Value) {
        let agent = self.agent.map(|agent| (AGENT, agent));
        let is_left = |(name, _): &&(&str, &str)| agent.is_none() || *name != AGENT;
        let own = labels.iter().filter(is_left).copied().chain(agent);
        let is_new = |(name, _): &&(String, String)| {
            let mut own = own.clone();
            own.all(|(own, _)| own != name)
        };
        let common = self.naming.labels.iter().filter(is_new).cloned();
        let own = own.clone();
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut labels: Vec<(String, String)> = own.chain(common).collect();
        labels.sort();
        let key = SeriesKey {
            metric: metric.into(),
            unit,
            labels: Labels::from(labels),
        };
        self.measured.add(key, value);
        let_workers_run();
    }

    fn count(&mut self, metric: &str, labels: &[(&str, &str)], count: u64) {
        self.add(metric, Unit::None, labels, Value::Counter(count as f64));
    }

    fn counts(&mut self, snapshot: &Snapshot) {
        let counts = &snapshot.counts;
        for (outcome, count) in [
            ("sent", counts.sent),
            ("answered", counts.answered),
            ("failed", counts.failed),
            ("dropped", counts.dropped),
            ("missed", counts.missed),
        ] {
            self.count("requests", &[("outcome", outcome)], count);
        }
        for (kind, failures) in &snapshot.errors {
            self.count("failures", &[("kind", kind.name())], failures.count);
        }
        for (metric, count) in [
            ("connections", counts.connections),
            ("reconnects", counts.reconnects),
            ("received_bytes", counts.bytes_in),
            ("sent_bytes", counts.bytes_out),
        ] {
            self.count(metric, &[], count);
        }
    }

    fn names(&mut self, snapshot: &Snapshot) {
        if !snapshot.series.is_empty() {
            for (key, series) in snapshot.series.iter() {
                let exemplars = self.exemplars(snapshot, Some(key));
                self.named(key, series, &exemplars);
            }
            return;
        }
        let naming = self.naming;
        let name = ("name", naming.only_name.as_str());
        for (status, count) in &snapshot.statuses {
            let status = status.to_string();
            self.count("responses", &[name, ("status", &status)], *count);
        }
        self.count("failed_requests", &[name], snapshot.counts.failed);
        let exemplars = self.exemplars(snapshot, None);
        let response = histogram_of(&snapshot.times.response);
        let value = Value::Histogram(Box::new(response.with_exemplars(&exemplars)));
        self.add("response", Unit::Seconds, &[name], value);
    }

    /// Returns the slowest requests of a series whose traces are known.
    fn exemplars(&self, snapshot: &Snapshot, key: Option<&Key>) -> Vec<Exemplar> {
        let traced = snapshot.traced.of(key);
        traced.map(|one| Exemplar::of(one, self.zero_ns)).collect()
    }

    fn named(&mut self, key: &Key, series: &Series, exemplars: &[Exemplar]) {
        let mut labels = vec![("name", key.name())];
        labels.extend(key.tags().filter(|(tag, _)| *tag != "name"));
        for (status, count) in &series.statuses {
            let status = status.to_string();
            let labels = [&labels[..], &[("status", &status)]].concat();
            self.count("responses", &labels, *count);
        }
        self.count("failed_requests", &labels, series.failed);
        let mut histogram = Histogram::default();
        for (bucket, count) in series.times.counts() {
            let longest_ns = highest_of(bucket, BITS).min(series.max_ns);
            histogram.add(longest_ns as f64 * NS, count);
        }
        let histogram = histogram
            .with_sum(series.sum_ns as f64 * NS)
            .with_exemplars(exemplars);
        let value = Value::Histogram(Box::new(histogram));
        self.add("response", Unit::Seconds, &labels, value);
    }

    fn times(&mut self, snapshot: &Snapshot) {
        self.time("service", &snapshot.times.service);
        self.time("lateness", &snapshot.times.lateness);
    }

    fn time(&mut self, metric: &str, times: &Distribution) {
        let value = Value::Histogram(Box::new(histogram_of(times)));
        self.add(metric, Unit::Seconds, &[], value);
    }

    fn of_scripts(&mut self, snapshot: &Snapshot) {
        for (key, metric) in snapshot.metrics.iter() {
            let labels: Vec<(&str, &str)> = key.tags().collect();
            let (unit, factor) = match metric.unit {
                MetricUnit::None => (Unit::None, 1.0),
                MetricUnit::Milliseconds => (Unit::Seconds, 1e-3),
                MetricUnit::Bytes => (Unit::Bytes, 1.0),
            };
            let value = match &metric.values {
                Values::Trend(trend) => {
                    let mut histogram = Histogram::default();
                    for (value, count) in trend.steps() {
                        histogram.add(value * factor, count);
                    }
                    let sum = trend.exact_sum().value() * factor;
                    Value::Histogram(Box::new(histogram.with_sum(sum)))
                }
                Values::Counter(counter) => Value::Counter(counter.sum.value()),
                Values::Rate(rate) => Value::Rate(rate.nonzero, rate.count),
                Values::Gauge(Some(gauge)) => Value::Gauge(gauge.last * factor, gauge.at_ns),
                Values::Gauge(None) => continue,
            };
            self.add(key.name(), unit, &labels, value);
        }
    }
}

/// Returns times in seconds, each with its bucket.
fn histogram_of(times: &Distribution) -> Histogram {
    let mut histogram = Histogram::default();
    for (value_ns, count) in times.steps() {
        histogram.add(value_ns as f64 * NS, count);
    }
    histogram.with_sum(times.mean_ns() * times.len() as f64 * NS)
}

/// Returns labels from texts, in the order of their names.
pub fn labels<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Labels {
    let pairs = pairs.into_iter();
    let mut pairs: Vec<_> = pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    pairs.sort();
    Arc::from(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{RequestOutcome, SeriesId, SeriesRecorder, SeriesTable};
    use loadline_record::{ErrorKind, Failures};

    fn of(batch: &Batch, metric: &str, wanted: &[(&str, &str)]) -> Value {
        let wanted = labels(wanted.iter().copied());
        let mut all = batch.measured.iter();
        let found = all.find(|(key, _)| &*key.metric == metric && key.labels == wanted);
        found.expect("a series").1.clone()
    }

    fn named() -> Snapshot {
        let mut table = SeriesTable::new(2);
        for name in ["a", "b"] {
            table.intern(&Key::new(name).expect("a name"));
        }
        let mut recorder = SeriesRecorder::new(table);
        for ms in 1..=100 {
            let outcome = RequestOutcome::Answered { status: 200 };
            recorder.record(SeriesId(0), outcome, ms * 1_000_000, true);
        }
        recorder.record(SeriesId(1), RequestOutcome::Failed, 7, true);
        Snapshot {
            series: recorder.take(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn each_name_has_its_responses_and_times() {
        let naming = Naming {
            labels: vec![("testid".to_owned(), "7".to_owned())],
            ..Naming::default()
        };
        let batch = batch(&named(), &naming, 9);
        let a = [("name", "a"), ("testid", "7")];
        let answered = [("name", "a"), ("status", "200"), ("testid", "7")];
        assert_eq!(of(&batch, "responses", &answered), Value::Counter(100.0));
        let b = [("name", "b"), ("testid", "7")];
        assert_eq!(of(&batch, "failed_requests", &b), Value::Counter(1.0));
        let Value::Histogram(times) = of(&batch, "response", &a) else {
            panic!("a distribution");
        };
        assert_eq!(times.count(), 100);
        assert!((times.sum() - 5.05).abs() < 1e-9, "{}", times.sum());
        let p99 = times.percentile(99.0).unwrap();
        assert!((0.099..0.1).contains(&p99), "{p99}");
    }

    #[test]
    fn each_agent_has_its_series_and_what_is_planned_is_of_all() {
        let of_agent = |sent| {
            let mut snapshot = Snapshot::default();
            snapshot.counts.sent = sent;
            snapshot.times.response.record_ns(1_000_000);
            snapshot
        };
        let (one, two) = (of_agent(3), of_agent(4));
        let mut whole = one.clone();
        whole.merge(&two);
        whole.counts.planned = 9;
        let naming = Naming {
            only_name: "http://a/".to_owned(),
            ..Naming::default()
        };
        let batch = batch_of_agents(&whole, [("one", &one), ("two", &two)], &naming, 9);
        let planned = of(&batch, "requests", &[("outcome", "planned")]);
        assert_eq!(planned, Value::Counter(9.0));
        for (agent, sent) in [("one", 3.0), ("two", 4.0)] {
            let labels = [("agent", agent), ("outcome", "sent")];
            assert_eq!(of(&batch, "requests", &labels), Value::Counter(sent));
            let labels = [("agent", agent), ("name", "http://a/")];
            let Value::Histogram(times) = of(&batch, "response", &labels) else {
                panic!("a distribution");
            };
            assert_eq!(times.count(), 1);
        }
        let has_agent = |key: &SeriesKey| key.labels.iter().any(|(name, _)| name == "agent");
        let without = batch.measured.iter().filter(|(key, _)| !has_agent(key));
        assert_eq!(without.count(), 1, "what is planned");
    }

    #[test]
    fn the_name_of_an_agent_comes_before_a_tag_and_a_common_label_of_that_name() {
        let mut table = SeriesTable::new(1);
        let tags = [("agent".to_owned(), "tag".to_owned())].into();
        let id = table.intern(&Key::tagged("a", tags).expect("a tag"));
        let mut recorder = SeriesRecorder::new(table);
        recorder.record(id, RequestOutcome::Failed, 7, true);
        let snapshot = Snapshot {
            series: recorder.take(),
            ..Snapshot::default()
        };
        let naming = Naming {
            labels: vec![("agent".to_owned(), "label".to_owned())],
            ..Naming::default()
        };
        let one = batch_of_agents(&snapshot, [("one", &snapshot)], &naming, 9);
        let labels = [("agent", "one"), ("name", "a")];
        assert_eq!(of(&one, "failed_requests", &labels), Value::Counter(1.0));
        let labels = [("agent", "tag"), ("name", "a")];
        let all = batch(&snapshot, &naming, 9);
        assert_eq!(of(&all, "failed_requests", &labels), Value::Counter(1.0));
    }

    #[test]
    fn requests_of_one_name_have_the_figures_of_all() {
        let mut snapshot = Snapshot::default();
        snapshot.counts.sent = 3;
        snapshot.counts.in_flight = 2;
        snapshot.statuses.insert(404, 1);
        snapshot.times.response.record_ns(2_000_000_000);
        let failures = Failures {
            count: 2,
            example: String::new(),
        };
        snapshot.errors.insert(ErrorKind::Timeout, failures);
        let naming = Naming {
            only_name: "http://a/".to_owned(),
            ..Naming::default()
        };
        let batch = batch(&snapshot, &naming, 9);
        let sent = of(&batch, "requests", &[("outcome", "sent")]);
        assert_eq!(sent, Value::Counter(3.0));
        let timeouts = of(&batch, "failures", &[("kind", "timeout")]);
        assert_eq!(timeouts, Value::Counter(2.0));
        let found = [("name", "http://a/"), ("status", "404")];
        assert_eq!(of(&batch, "responses", &found), Value::Counter(1.0));
        assert_eq!(of(&batch, "in_flight", &[]), Value::Gauge(2.0, 9));
        let Value::Histogram(times) = of(&batch, "response", &[("name", "http://a/")]) else {
            panic!("a distribution");
        };
        assert_eq!(times.count(), 1);
        // Both are of a time that is kept to three digits; the longest is rounded up.
        let longest = times.max().expect("a time");
        assert!((1.0..1.001).contains(&(longest / times.sum())), "{longest}");
    }
}
