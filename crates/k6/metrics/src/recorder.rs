//! The recorder of a worker: receives values, and returns them in portions.
//!
//! A value is added to the sink of its metric and to those of the submetrics that its tags match;
//! it is stored elsewhere only for outputs or a full summary. No memory is allocated and no set of
//! tags is hashed for a request.

use crate::submetric::SubmetricSet;
use crate::tally::Portion;
use crate::{MetricId, MetricType, Registry, Sample, SampleTags, Tags, builtin};
use std::mem;
use std::sync::Arc;

/// The common setup of a run's recorders.
#[derive(Debug, Default)]
pub struct RecorderSetup {
    /// The metrics. A run has the registry of the script that it loaded.
    pub registry: Arc<Registry>,
    /// The submetrics.
    pub submetrics: SubmetricSet,
    /// True if portions contain all values with their tags, for outputs.
    pub keeps_samples: bool,
    /// True if values are recorded by group and scenario, for a full summary.
    pub by_group_and_scenario: bool,
}

/// The times of one request, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HttpTimes {
    /// The time from the request for a connection until it is available, including the dial of a
    /// new one.
    pub blocked: f64,
    /// The duration of TCP's handshake.
    pub connecting: f64,
    /// The duration of TLS's handshake.
    pub tls: f64,
    /// The time from the availability of the connection to the request's last byte.
    pub sending: f64,
    /// The time from the request's last byte to the response's first.
    pub waiting: f64,
    /// The time from the response's first byte to its last.
    pub receiving: f64,
}

impl HttpTimes {
    /// Returns the sum of sending, waiting and receiving.
    pub fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

/// Records the measurements of a worker's users.
#[derive(Debug)]
pub struct Recorder {
    setup: Arc<RecorderSetup>,
    /// The types of the metrics that this recorder has looked up; the registry has all of them.
    kinds: Vec<MetricType>,
    portion: Portion,
}

impl Recorder {
    /// Creates a recorder of this run.
    pub fn new(setup: Arc<RecorderSetup>) -> Self {
        let kinds = kinds_of(&setup.registry);
        Recorder {
            setup,
            kinds,
            portion: Portion::default(),
        }
    }

    /// Adds a value that was measured at this instant, in nanoseconds since 1970.
    pub fn add(&mut self, metric: MetricId, value: f64, at_ns: u64, tags: &impl Tags) {
        self.sink(metric, value, at_ns, tags);
        if metric == builtin::GROUP_DURATION
            && let Some(path) = tags.get("group")
        {
            self.portion.tally.enter(&path);
        }
        // The check may come from a script's own metric of this name, too.
        if metric == builtin::CHECKS
            && let Some(name) = tags.get("check")
        {
            self.count_check(&name, value != 0.0, tags);
        }
        if self.setup.by_group_and_scenario {
            self.by_place(&[(metric, value)], at_ns, tags);
        }
        if self.setup.keeps_samples {
            self.keep(&[(metric, value)], at_ns, tags);
        }
    }

    /// Adds the metrics of one hop of a request. `failed` is the value for `http_req_failed`;
    /// `None` adds no value to it.
    pub fn http(&mut self, times: &HttpTimes, failed: Option<bool>, at_ns: u64, tags: &impl Tags) {
        let all = values_of(times, failed);
        let values = &all[..all.len() - usize::from(failed.is_none())];
        for (metric, value) in values {
            self.sink(*metric, *value, at_ns, tags);
        }
        if self.setup.by_group_and_scenario {
            self.by_place(values, at_ns, tags);
        }
        if self.setup.keeps_samples {
            self.keep(values, at_ns, tags);
        }
    }

    /// Adds the result of a check. The tags do not contain the check's name.
    pub fn check(&mut self, name: &str, has_passed: bool, at_ns: u64, tags: &impl Tags) {
        let tags = CheckTags { name, tags };
        self.add(
            builtin::CHECKS,
            f64::from(u8::from(has_passed)),
            at_ns,
            &tags,
        );
    }

    fn count_check(&mut self, name: &str, has_passed: bool, tags: &impl Tags) {
        let scenario = tags.get("scenario").unwrap_or_default();
        let group = tags.get("group").unwrap_or_default();
        let (passes, fails) = (u64::from(has_passed), u64::from(!has_passed));
        let tally = &mut self.portion.tally;
        tally.count(&scenario, &group, name, passes, fails);
    }

    /// True if the time of a value is needed. For a gauge it always is, since its last value
    /// counts.
    pub fn needs_times(&self) -> bool {
        self.setup.keeps_samples
    }

    /// Returns the records since the last call.
    pub fn take(&mut self) -> Portion {
        mem::take(&mut self.portion)
    }

    fn sink(&mut self, metric: MetricId, value: f64, at_ns: u64, tags: &impl Tags) {
        let kind = self.kind(metric);
        let tally = &mut self.portion.tally;
        tally.sinks.add(metric.index(), kind, value, at_ns);
        for index in self.setup.submetrics.matching(metric, tags) {
            tally.submetrics.add(index, kind, value, at_ns);
        }
    }

    fn by_place(&mut self, values: &[(MetricId, f64)], at_ns: u64, tags: &impl Tags) {
        let scenario = tags.get("scenario").unwrap_or_default();
        let group = tags.get("group").unwrap_or_default();
        let Some(at) = self.portion.tally.cell(&scenario, &group) else {
            return self.portion.tally.leave_out();
        };
        for (metric, value) in values {
            let kind = self.kind(*metric);
            let sinks = self.portion.tally.cell_sinks(at);
            sinks.add(metric.index(), kind, *value, at_ns);
        }
    }

    fn keep(&mut self, values: &[(MetricId, f64)], at_ns: u64, tags: &impl Tags) {
        let tags = SampleTags::of(tags);
        let sample = |(metric, value): &(MetricId, f64)| Sample {
            metric: *metric,
            at_ns,
            value: *value,
            tags: Arc::clone(&tags),
        };
        self.portion.samples.extend(values.iter().map(sample));
    }

    #[inline]
    fn kind(&mut self, metric: MetricId) -> MetricType {
        match self.kinds.get(metric.index()) {
            Some(kind) => *kind,
            None => self.new_kind(metric),
        }
    }

    /// Returns the type of a metric that has been created since the last lookup.
    #[cold]
    fn new_kind(&mut self, metric: MetricId) -> MetricType {
        self.kinds = kinds_of(&self.setup.registry);
        let known = self.kinds.get(metric.index());
        // An index of another registry counts as a counter.
        known.copied().unwrap_or(MetricType::Counter)
    }
}

fn kinds_of(registry: &Registry) -> Vec<MetricType> {
    registry
        .all()
        .into_iter()
        .map(|metric| metric.kind)
        .collect()
}

/// Returns the metrics of a hop, in the order of k6's outputs.
fn values_of(times: &HttpTimes, failed: Option<bool>) -> [(MetricId, f64); 9] {
    [
        (builtin::HTTP_REQS, 1.0),
        (builtin::HTTP_REQ_DURATION, times.duration()),
        (builtin::HTTP_REQ_BLOCKED, times.blocked),
        (builtin::HTTP_REQ_CONNECTING, times.connecting),
        (builtin::HTTP_REQ_TLS_HANDSHAKING, times.tls),
        (builtin::HTTP_REQ_SENDING, times.sending),
        (builtin::HTTP_REQ_WAITING, times.waiting),
        (builtin::HTTP_REQ_RECEIVING, times.receiving),
        (
            builtin::HTTP_REQ_FAILED,
            f64::from(u8::from(failed == Some(true))),
        ),
    ]
}

/// The tags of a check's value, including the check's name.
struct CheckTags<'a, T> {
    name: &'a str,
    tags: &'a T,
}

impl<T: Tags> Tags for CheckTags<'_, T> {
    fn get(&self, key: &str) -> Option<std::borrow::Cow<'_, str>> {
        match key {
            "check" => Some(self.name.into()),
            _ => self.tags.get(key),
        }
    }

    fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
        visit("check", self.name);
        self.tags.for_each(&mut |name, value| {
            if name != "check" {
                visit(name, value);
            }
        });
    }

    fn metadata(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.tags.metadata(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contains, Sink, Totals};
    use std::borrow::Cow;

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

    fn count(totals: &Totals, metric: MetricId) -> u64 {
        match totals.tally.sinks.get(metric) {
            Some(Sink::Counter(counter)) => counter.count as u64,
            Some(Sink::Rate(rate)) => rate.total,
            Some(Sink::Trend(trend)) => trend.count(),
            other => panic!("{other:?}"),
        }
    }

    /// The tags of a request with its own URL.
    struct Of(String);

    impl Tags for Of {
        fn get(&self, key: &str) -> Option<Cow<'_, str>> {
            matches!(key, "url" | "name").then(|| self.0.as_str().into())
        }

        fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
            visit("url", &self.0);
            visit("name", &self.0);
        }
    }

    #[test]
    fn a_million_urls_leave_what_one_url_leaves() {
        let of = |distinct: u32| {
            let setup = Arc::new(RecorderSetup {
                by_group_and_scenario: true,
                ..RecorderSetup::default()
            });
            let mut recorder = Recorder::new(Arc::clone(&setup));
            let mut totals = Totals::new(setup);
            for number in 0..1_000_000 {
                let tags = Of(format!("http://host/{}", number % distinct));
                let times = HttpTimes {
                    waiting: f64::from(number % 1_000),
                    ..HttpTimes::default()
                };
                recorder.http(&times, Some(false), u64::from(number), &tags);
                if number % 10_000 == 0 {
                    totals.add(&recorder.take());
                }
            }
            totals.add(&recorder.take());
            totals.tally
        };
        assert!(of(1) == of(1_000_000));
    }

    #[test]
    fn a_hop_adds_to_nine_metrics_and_to_the_submetric_of_expected_responses() {
        let setup = Arc::new(RecorderSetup::default());
        let mut recorder = Recorder::new(Arc::clone(&setup));
        let times = HttpTimes::default();
        recorder.http(
            &times,
            Some(false),
            1,
            &Own(&[("expected_response", "true")]),
        );
        recorder.http(&times, None, 2, &Own(&[("expected_response", "false")]));
        let mut totals = Totals::new(setup);
        totals.add(&recorder.take());
        totals.add(&recorder.take());
        assert_eq!(count(&totals, builtin::HTTP_REQS), 2);
        assert_eq!(count(&totals, builtin::HTTP_REQ_RECEIVING), 2);
        assert_eq!(count(&totals, builtin::HTTP_REQ_FAILED), 1);
        match totals.tally.submetric(0) {
            Some(Sink::Trend(trend)) => assert_eq!(trend.count(), 1),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn checks_are_counted_by_scenario_group_and_name() {
        let setup = Arc::new(RecorderSetup {
            keeps_samples: true,
            ..RecorderSetup::default()
        });
        let mut recorder = Recorder::new(setup);
        let tags = Own(&[("group", "::a"), ("scenario", "s")]);
        for passed in [true, false, true] {
            recorder.check("ok", passed, 5, &tags);
        }
        let portion = recorder.take();
        let check = &portion.tally.checks()[0];
        assert_eq!((check.passes, check.fails), (2, 1));
        assert_eq!((&*check.group, &*check.scenario), ("::a", "s"));
        assert_eq!(portion.samples[1].tags.tag("check"), Some("ok"));
        assert_eq!(portion.samples[1].value, 0.0);
    }

    #[test]
    fn a_portion_comes_back_from_another_process_as_it_was() {
        let setup = Arc::new(RecorderSetup {
            keeps_samples: true,
            by_group_and_scenario: true,
            ..RecorderSetup::default()
        });
        let mut recorder = Recorder::new(setup);
        let tags = Own(&[("group", "::a"), ("scenario", "s")]);
        recorder.http(&HttpTimes::default(), Some(true), 5, &tags);
        recorder.check("ok", false, 6, &tags);
        recorder.add(builtin::GROUP_DURATION, 7.5, 7, &tags);
        let portion = recorder.take();
        let sent = postcard::to_stdvec(&portion).unwrap();
        let mut came: crate::Portion = postcard::from_bytes(&sent).unwrap();
        assert_eq!(postcard::to_stdvec(&came).unwrap(), sent);
        assert_eq!(came.samples, portion.samples);
        // Equal names are the same checks and groups after the transfer, too.
        came.merge(portion);
        assert_eq!(came.tally.checks()[0].fails, 2);
        assert_eq!(
            (came.tally.groups().len(), came.tally.cells().len()),
            (1, 1)
        );
    }

    #[test]
    fn a_portion_of_another_registry_has_the_same_metrics_by_name() {
        let register = |setup: &RecorderSetup, names: &[&str]| -> Vec<MetricId> {
            let one = |name: &&str| {
                let registry = &setup.registry;
                registry.register(name, MetricType::Counter, Contains::Default)
            };
            names.iter().map(|name| one(name).unwrap()).collect()
        };
        let setup = || RecorderSetup {
            keeps_samples: true,
            by_group_and_scenario: true,
            ..RecorderSetup::default()
        };
        let (ours, theirs) = (setup(), Arc::new(setup()));
        let own = register(&ours, &["aa", "bb"]);
        let other = register(&theirs, &["bb", "aa"]);
        let mut recorder = Recorder::new(Arc::clone(&theirs));
        let tags = Own(&[("group", "::a")]);
        recorder.add(other[0], 3.0, 1, &tags);
        recorder.add(builtin::ITERATIONS, 1.0, 1, &tags);
        let mut portion = recorder.take();
        let renumbering = ours.registry.adopt(&theirs.registry.of_scripts()).unwrap();
        portion.renumber(&renumbering);
        for sinks in [&portion.tally.sinks, &portion.tally.cells()[0].sinks] {
            let values = |metric| sinks.get(metric).map(Sink::values);
            assert_eq!(values(own[1]), Some(1));
            assert_eq!(values(own[0]), None);
            assert_eq!(values(builtin::ITERATIONS), Some(1));
        }
        assert_eq!(portion.samples[0].metric, own[1]);
    }

    #[test]
    fn a_value_of_checks_that_names_one_is_a_check() {
        let mut recorder = Recorder::new(Arc::new(RecorderSetup::default()));
        let named = Own(&[("check", "mine"), ("group", "")]);
        recorder.add(builtin::CHECKS, 1.0, 1, &named);
        recorder.check("mine", false, 1, &Own(&[("group", "")]));
        recorder.add(builtin::CHECKS, 1.0, 1, &Own(&[]));
        let tally = recorder.take().tally;
        let [check] = tally.checks() else {
            panic!("{:?}", tally.checks());
        };
        assert_eq!((&*check.name, check.passes, check.fails), ("mine", 1, 1));
    }

    #[test]
    fn a_metric_that_is_registered_later_has_its_type() {
        let setup = Arc::new(RecorderSetup::default());
        let mut recorder = Recorder::new(Arc::clone(&setup));
        let late = setup
            .registry
            .register("late", MetricType::Gauge, Contains::Default);
        let late = late.unwrap();
        recorder.add(late, 3.0, 1, &Own(&[]));
        let portion = recorder.take();
        let sink = portion.tally.sinks.get(late).unwrap();
        assert_eq!(sink.kind(), MetricType::Gauge);
    }

    #[test]
    fn names_beyond_ten_thousand_are_counted_as_left_out() {
        let mut recorder = Recorder::new(Arc::new(RecorderSetup::default()));
        for number in 0..10_002 {
            recorder.check(&number.to_string(), true, 1, &Own(&[]));
        }
        let tally = recorder.take().tally;
        assert_eq!((tally.checks().len(), tally.left_out()), (10_000, 2));
    }
}
