//! The events of a made-up test of some seconds.

use super::*;
use loadline_k6_metrics::{Recorder, RecorderSetup, Tags, ThresholdSource};
use std::borrow::Cow;
use std::task::{Context, Poll, Waker};

/// The tags of a value.
struct Of(&'static [(&'static str, &'static str)]);

impl Tags for Of {
    fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        let mut tags = self.0.iter();
        let found = tags.find(|(name, _)| *name == key);
        found.map(|(_, value)| Cow::Borrowed(*value))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.0.iter().for_each(|(name, value)| visit(name, value));
    }
}

fn recording() -> Arc<RecorderSetup> {
    Arc::new(RecorderSetup {
        by_group_and_scenario: true,
        ..RecorderSetup::default()
    })
}

/// One second after another.
fn at(begun: Instant, seconds: u64) -> Now {
    Now {
        at: begun + Duration::from_secs(seconds),
        unix_ms: 1_700_000_000_000 + seconds * 1_000,
    }
}

fn begun(recording: &Arc<RecorderSetup>, now: Now) -> Events {
    let source = ThresholdSource {
        expression: "p(95)<200".to_owned(),
        ..ThresholdSource::default()
    };
    let sources = [("http_req_duration".to_owned(), vec![source])];
    let thresholds = Thresholds::new(sources, &recording.registry).unwrap();
    let described = Described {
        recording,
        thresholds: &thresholds,
        system_tags: &[],
    };
    let settings = EventSettings {
        period: Duration::from_secs(2),
        tags: vec![SplitBy::Group],
    };
    let test = EventTest {
        script: "file:///shop/test.js".to_owned(),
        scenarios: vec!["default".to_owned()],
        length: Duration::from_secs(30),
    };
    Events::begin(&settings, test, described, now)
}

/// A second with requests that took so long, in a group, and a number of users.
fn second(recording: &Arc<RecorderSetup>, times_ms: &[f64], at_ns: u64) -> Portion {
    let mut recorder = Recorder::new(Arc::clone(recording));
    let inside = Of(&[("group", "::pay"), ("scenario", "default")]);
    for time in times_ms {
        recorder.add(builtin::HTTP_REQ_DURATION, *time, at_ns, &inside);
        recorder.add(builtin::HTTP_REQS, 1.0, at_ns, &inside);
    }
    recorder.add(builtin::VUS, 3.0, at_ns, &Of(&[]));
    recorder.take()
}

/// The events that a viewer gets, each as its name and data.
fn read(stream: &Broadcast) -> Vec<(String, Value)> {
    let (mut stream, cx) = (stream.stream(None), Context::from_waker(Waker::noop()));
    let mut text = String::new();
    while let Poll::Ready(Some(event)) = stream.poll_next(&cx) {
        text += str::from_utf8(&event).unwrap();
    }
    let field = |event: &str, name: &str| {
        let mut lines = event.lines();
        let found = lines.find_map(|line| line.strip_prefix(name).map(str::to_owned));
        found.expect("each event has it")
    };
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    events
        .map(|event| {
            let data = serde_json::from_str(&field(event, "data: ")).unwrap();
            (field(event, "event: "), data)
        })
        .collect()
}

#[test]
fn a_test_has_k6s_events_in_their_order() {
    let (recording, start) = (recording(), Instant::now());
    let mut events = begun(&recording, at(start, 0));
    let stream = events.stream();
    events.take(&second(&recording, &[100.0, 300.0], 1), at(start, 1));
    events.take(&second(&recording, &[123.456_789], 2), at(start, 2));
    events.take(&second(&recording, &[], 3), at(start, 4));
    events.end(at(start, 5));
    let all = read(&stream);
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "config",
            "param",
            "metric",
            "start",
            "metric",
            "cumulative",
            "threshold",
            "snapshot",
            "cumulative",
            "threshold",
            "snapshot",
            "cumulative",
            "threshold",
            "stop",
        ]
    );
    let data = |index: usize| &all[index].1;
    assert_eq!(data(1)["period"], 2_000);
    assert_eq!(data(1)["endOffset"], 30_000);
    assert_eq!(data(1)["scriptPath"], "file:///shop/test.js");
    assert_eq!(
        data(1)["thresholds"]["http_req_duration"],
        json!(["p(95)<200"])
    );
    assert_eq!(data(1)["aggregates"]["counter"], json!(["count", "rate"]));
    assert_eq!(
        data(2),
        &json!({ "time": { "type": "gauge", "contains": "time" } })
    );
    assert_eq!(data(3), &json!([[1_700_000_000_000_u64]]));
    let metrics = data(4).as_object().unwrap();
    assert_eq!(
        metrics.keys().collect::<Vec<_>>(),
        [
            "http_req_duration",
            "http_req_duration{group:::pay}",
            "http_reqs",
            "http_reqs{group:::pay}",
            "vus",
        ]
    );
    assert_eq!(metrics["http_reqs"], json!({ "type": "counter" }));
    assert_eq!(
        metrics["http_req_duration{group:::pay}"],
        json!({ "type": "trend", "contains": "time" })
    );
    assert_eq!(data(6), &json!({ "http_req_duration": ["p(95)<200"] }));
    assert_eq!(data(13), &json!([[1_700_000_005_000_u64]]));
}

#[test]
fn values_are_lists_in_the_order_of_names_and_without_a_value_empty() {
    let (recording, start) = (recording(), Instant::now());
    let mut events = begun(&recording, at(start, 0));
    let stream = events.stream();
    events.take(&second(&recording, &[100.0, 300.0], 1), at(start, 2));
    events.take(&second(&recording, &[], 3), at(start, 4));
    let all = read(&stream);
    let last = |name: &str| {
        let mut events = all.iter().rev();
        &events.find(|(event, _)| event == name).unwrap().1
    };
    let trend = json!([200, 300, 200, 100, 280, 290, 298]);
    // http_req_duration and that of the group, http_reqs and that of the group, time, vus.
    let total = json!([
        trend,
        trend,
        [2, 0.5],
        [2, 0.5],
        [1_700_000_004_000_u64],
        [3]
    ]);
    assert_eq!(last("cumulative"), &total);
    let recent = json!([[], [], [], [], [1_700_000_004_000_u64], [3]]);
    assert_eq!(last("snapshot"), &recent);
}

#[test]
fn numbers_lose_the_digits_that_k6_cuts_off() {
    let cut = [
        (12_345.678, 12_345.0),
        (1_234.567_8, 1_234.5),
        (123.456_7, 123.45),
        (12.345_67, 12.345),
        (1.234_567, 1.234_5),
        (0.123_456_7, 0.123_45),
        (7.0, 7.0),
        (0.0, 0.0),
    ];
    for (number, expected) in cut {
        assert_eq!(significant(number), expected);
    }
}

#[test]
fn a_long_test_has_longer_periods() {
    let (set, hours) = (Duration::from_secs(10), |hours: u64| {
        Duration::from_secs(hours * 3_600)
    });
    assert_eq!(period_of(set, hours(8)), set);
    assert_eq!(period_of(set, hours(9)), 2 * set);
    assert_eq!(period_of(set, Duration::ZERO), set, "it has no end");
}

#[test]
fn a_metric_of_the_script_is_called_custom() {
    let recording = recording();
    let own = recording
        .registry
        .register("cart_size", MetricType::Gauge, Contains::Data)
        .unwrap();
    let mut totals = Totals::new(Arc::clone(&recording));
    let mut recorder = Recorder::new(Arc::clone(&recording));
    recorder.add(own, 5.0, 1, &Of(&[]));
    recorder.add(builtin::ITERATION_DELAY, 5.0, 1, &Of(&[]));
    totals.add(&recorder.take());
    let all = found(&totals, &[]);
    assert_eq!(
        all["cart_size"].described(),
        json!({ "type": "gauge", "contains": "data", "custom": true })
    );
    assert!(all["iteration_delay"].is_custom, "k6 does not know it");
}
