//! The measurements of k6's users, as metrics of Loadline's own outputs.
//!
//! A script's own metrics are there, its checks and groups, its iterations, whether responses were
//! those expected, and whatever its thresholds name. The times of requests are not, unless a
//! threshold names them: the engine records those of every request anyway.

use loadline_k6_metrics::{
    Contains, Metric, MetricId, Portion, RecorderSetup, Registry, Sink, builtin,
};
use loadline_metrics::{
    Counter, CustomMetric, CustomMetrics, ExactSum, Gauge, Key, MetricUnit, Rate, Trend, Values,
};
use std::collections::BTreeMap;

/// The built-in metrics that are there in any case.
const SHOWN: [MetricId; 5] = [
    builtin::ITERATIONS,
    builtin::DROPPED_ITERATIONS,
    builtin::CHECKS,
    builtin::GROUP_DURATION,
    builtin::HTTP_REQ_FAILED,
];

/// Adds what was measured to the metrics of an interval, in its window or after it.
pub(crate) fn add(
    portion: &Portion,
    setup: &RecorderSetup,
    is_window: bool,
    to: &mut CustomMetrics,
) {
    let registered = setup.registry.all();
    let tally = &portion.tally;
    for (id, sink) in tally.sinks.metrics() {
        if let Some(metric) = registered.get(id.index())
            && is_shown(id, &metric.name, setup)
        {
            let values = values(sink, is_window);
            put(to, &metric.name, BTreeMap::new(), unit(metric), values);
        }
    }
    for (index, submetric) in setup.submetrics.all().iter().enumerate() {
        let parent = registered.get(submetric.parent.index());
        if let (Some(sink), Some(metric)) = (tally.submetric(index), parent)
            && setup.submetrics.is_requested(&submetric.name)
        {
            let tags = submetric.tags.iter().cloned().collect();
            put(
                to,
                &metric.name,
                tags,
                unit(metric),
                values(sink, is_window),
            );
        }
    }
    for check in tally.checks() {
        let rate = Values::Rate(Rate {
            nonzero: check.passes,
            count: check.passes + check.fails,
        });
        let tags = [("check", &check.name), ("group", &check.group)];
        let given = tags.into_iter().filter(|(_, value)| !value.is_empty());
        let tags = given.map(|(tag, value)| (tag.to_owned(), value.clone()));
        put(to, "checks", tags.collect(), MetricUnit::None, rate);
    }
}

/// Adds what was measured outside of the load, in the same form. A rate per second has nothing of
/// it.
pub fn add_outside(portion: &Portion, setup: &RecorderSetup, to: &mut CustomMetrics) {
    add(portion, setup, false, to);
}

/// Adds how many users were active at most and are ready at an instant, if any was active.
pub(crate) fn add_users((active, ready, at_ns): (u32, u32, u64), to: &mut CustomMetrics) {
    if active == 0 {
        return;
    }
    for (name, users) in [("vus", active), ("vus_max", ready)] {
        let users = f64::from(users);
        let gauge = Values::Gauge(Some(Gauge {
            last: users,
            at_ns,
            min: users,
            max: users,
        }));
        put(to, name, BTreeMap::new(), MetricUnit::None, gauge);
    }
}

fn is_shown(id: MetricId, name: &str, setup: &RecorderSetup) -> bool {
    let is_own = !Registry::is_builtin(id) || SHOWN.contains(&id);
    is_own || setup.submetrics.is_requested(name)
}

fn put(
    to: &mut CustomMetrics,
    name: &str,
    tags: BTreeMap<String, String>,
    unit: MetricUnit,
    values: Values,
) {
    let metric = CustomMetric { unit, values };
    match Key::tagged(name, tags) {
        Ok(key) => to.add(&key, &metric),
        // A name or a tag that no report could show.
        Err(_) => to.leave_out(metric.count()),
    }
}

fn unit(metric: &Metric) -> MetricUnit {
    match metric.contains {
        Contains::Default => MetricUnit::None,
        Contains::Time => MetricUnit::Milliseconds,
        Contains::Data => MetricUnit::Bytes,
    }
}

fn values(sink: &Sink, is_window: bool) -> Values {
    match sink {
        Sink::Counter(counter) => {
            let mut sum = ExactSum::default();
            sum.add(counter.count);
            Values::Counter(Counter {
                count: counter.values,
                sum,
                in_window: if is_window { sum } else { ExactSum::default() },
            })
        }
        Sink::Gauge(gauge) => Values::Gauge(Some(Gauge {
            last: gauge.value,
            at_ns: gauge.at_ns(),
            min: gauge.min,
            max: gauge.max,
        })),
        Sink::Rate(rate) => Values::Rate(Rate {
            nonzero: rate.passes,
            count: rate.total,
        }),
        Sink::Trend(trend) if trend.is_finite() => Values::Trend(trend.clone()),
        Sink::Trend(trend) => Values::Trend(Trend::of_values(trend.steps())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_k6_metrics::{HttpTimes, MetricType, Recorder, SubmetricSet, Tags};
    use std::borrow::Cow;
    use std::sync::Arc;

    struct Own(&'static [(&'static str, &'static str)]);

    impl Tags for Own {
        fn get(&self, key: &str) -> Option<Cow<'_, str>> {
            let found = self.0.iter().find(|(name, _)| *name == key)?;
            Some(found.1.into())
        }

        fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
            self.0.iter().for_each(|(name, value)| visit(name, value));
        }
    }

    fn setup() -> RecorderSetup {
        let registry = Arc::new(Registry::new());
        let asked = ["http_req_duration{status:200}"];
        RecorderSetup {
            submetrics: SubmetricSet::new(asked, &registry).unwrap(),
            registry,
            ..RecorderSetup::default()
        }
    }

    #[test]
    fn a_scripts_metrics_checks_and_thresholds_are_metrics_of_the_interval() {
        let setup = Arc::new(setup());
        let mut recorder = Recorder::new(Arc::clone(&setup));
        let size = setup
            .registry
            .register("size", MetricType::Trend, Contains::Data);
        let orders = setup
            .registry
            .register("orders", MetricType::Counter, Contains::Default);
        let tags = Own(&[("status", "200"), ("group", "::cart")]);
        for value in [1_000.0, 3_000.0, f64::INFINITY] {
            recorder.add(size.clone().unwrap(), value, 1, &tags);
        }
        recorder.add(orders.clone().unwrap(), 2.5, 1, &tags);
        recorder.add(orders.unwrap(), 4.0, 1, &tags);
        recorder.http(&HttpTimes::default(), Some(true), 1, &tags);
        recorder.check("is fine", true, 1, &tags);
        recorder.check("is fine", false, 1, &tags);
        let mut metrics = CustomMetrics::default();
        add(&recorder.take(), &setup, true, &mut metrics);
        let given: Vec<(String, u64)> = metrics
            .iter()
            .map(|(key, metric)| (key.to_string(), metric.count()))
            .collect();
        let given: Vec<(&str, u64)> = given.iter().map(|(key, n)| (key.as_str(), *n)).collect();
        let expected = [
            ("checks", 2),
            ("checks{check:is fine,group:::cart}", 2),
            ("http_req_duration{status:200}", 1),
            ("http_req_failed", 1),
            ("orders", 2),
            ("size", 2),
        ];
        assert_eq!(given, expected);
        let sum = |name: &str| match &metrics.get(&Key::new(name).unwrap()).unwrap().values {
            Values::Counter(counter) => (counter.sum.value(), counter.in_window.value()),
            Values::Trend(trend) => (trend.sum(), trend.max().unwrap()),
            other => panic!("{other:?}"),
        };
        assert_eq!(sum("orders"), (6.5, 6.5));
        assert_eq!(sum("size"), (4_000.0, 3_000.0));
    }
}
