use super::*;
use crate::exponential;
use crate::native::labels;
use proptest::prelude::*;

fn layout(is_delta: bool, has_fixed_bounds: bool) -> Otlp {
    let form = Form {
        prefix: "loadline.".to_owned(),
        scope: "loadline",
        encoding: Encoding::Protobuf,
        resource: vec![("service.name".to_owned(), "shop".to_owned())],
        is_delta,
        has_fixed_bounds,
        names: Names::Native,
    };
    Otlp::new(form, 5)
}

fn of(values: &[f64]) -> Histogram {
    let mut histogram = Histogram::default();
    values.iter().for_each(|value| histogram.add(*value, 1));
    histogram
}

fn batch(at_ns: u64) -> Batch {
    let mut measured = Measured::default();
    let key = |metric: &str, unit| SeriesKey {
        metric: metric.into(),
        unit,
        labels: labels([("name", "a"), ("group", "")]),
    };
    measured.add(key("requests", Unit::None), Value::Counter(2.0));
    measured.add(key("in_flight", Unit::None), Value::Gauge(7.0, at_ns));
    measured.add(key("checks", Unit::None), Value::Rate(1, 4));
    let times = Value::Histogram(Box::new(of(&[0.5, 1.0])));
    measured.add(key("response", Unit::Seconds), times);
    Batch {
        at_ns,
        measured,
        ..Batch::default()
    }
}

fn metrics(layout: &mut Otlp, at_ns: u64) -> Vec<Metric> {
    let message = layout.write(&[Arc::new(batch(at_ns))]).remove(0);
    let mut request = ExportRequest::decode(&message.body[..]).unwrap();
    let mut resource = request.resource_metrics.remove(0);
    let attributes = resource.resource.unwrap().attributes;
    assert_eq!(attributes, [text("service.name", "shop")]);
    resource.scope_metrics.remove(0).metrics
}

fn sum(metrics: &[Metric], name: &str) -> Vec<f64> {
    let metric = metrics.iter().find(|metric| metric.name == name);
    let Some(Data::Sum(sum)) = metric.and_then(|metric| metric.data.clone()) else {
        panic!("{name}: {metrics:?}");
    };
    let points = sum.data_points.iter();
    let values = points.map(|point| match point.value {
        Some(Number::Double(value)) => value,
        None => panic!("a value"),
    });
    values.collect()
}

#[test]
fn sums_grow_from_message_to_message_or_are_differences() {
    for (is_delta, second) in [(false, 4.0), (true, 2.0)] {
        let mut layout = layout(is_delta, false);
        assert_eq!(sum(&metrics(&mut layout, 10), "loadline.requests"), [2.0]);
        let later = metrics(&mut layout, 20);
        assert_eq!(sum(&later, "loadline.requests"), [second]);
        let Some(Data::Sum(sum)) = &later.iter().find(|one| one.unit.is_empty()).unwrap().data
        else {
            panic!("a sum comes first");
        };
        let since = if is_delta { 10 } else { 5 };
        assert_eq!(sum.data_points[0].start_time_unix_nano, since);
        assert_eq!(sum.aggregation_temporality, if is_delta { 1 } else { 2 });
    }
}

#[test]
fn a_rate_is_counted_by_its_condition() {
    let metrics = metrics(&mut layout(false, false), 10);
    assert_eq!(sum(&metrics, "loadline.checks.total"), [1.0, 3.0]);
}

#[test]
fn a_rate_of_k6_may_be_two_counters() {
    let mut layout = layout(false, false);
    layout.form.names = Names::K6 {
        has_two_counters: true,
    };
    let metrics = metrics(&mut layout, 10);
    assert_eq!(sum(&metrics, "loadline.checks.occurred"), [1.0]);
    assert_eq!(sum(&metrics, "loadline.checks.total"), [4.0]);
}

#[test]
fn values_that_a_receiver_rejected_are_counted() {
    assert_eq!(judge(&[]), Ok(()));
    let response = ExportResponse {
        partial_success: Some(message::PartialSuccess {
            rejected_points: 3,
            message: "no exponential histograms".to_owned(),
        }),
    };
    let refusal = judge(&response.encode_to_vec()).unwrap_err();
    assert_eq!(
        (refusal.reason.as_str(), refusal.may_retry),
        (
            "it rejected 3 of the values (no exponential histograms)",
            false
        )
    );
}

#[test]
fn a_response_in_json_is_read_as_well() {
    for accepted in ["", "{}", "{\"partialSuccess\":{}}", "no JSON"] {
        assert_eq!(judge_json(accepted.as_bytes()), Ok(()), "{accepted}");
    }
    for count in ["3", "\"3\""] {
        let reason = format!("{{\"partialSuccess\":{{\"rejectedDataPoints\":{count}}}}}");
        let refusal = judge_json(reason.as_bytes()).unwrap_err();
        assert_eq!(refusal.reason, "it rejected 3 of the values ()");
    }
}

/// The keys and the forms of values that the protocol's JSON has.
#[test]
fn json_has_the_same_values() {
    let mut layout = layout(false, false);
    layout.form.encoding = Encoding::Json;
    let mut batch = batch(10);
    let key = SeriesKey {
        metric: "service".into(),
        unit: Unit::Seconds,
        labels: labels([]),
    };
    let exemplar = crate::Exemplar {
        value: 0.5,
        at_ns: 9,
        trace_id: 0xab,
        span_id: 1,
    };
    let traced = of(&[0.5]).with_exemplars(&[exemplar]);
    batch.measured.add(key, Value::Histogram(Box::new(traced)));
    let body = layout.write(&[Arc::new(batch)]).remove(0).body;
    let request: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let resource = &request["resourceMetrics"][0];
    let attribute = serde_json::json!({"key": "service.name", "value": {"stringValue": "shop"}});
    assert_eq!(resource["resource"]["attributes"][0], attribute);
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let named = |name: &str| metrics.iter().find(|one| one["name"] == name).unwrap();
    let sum = &named("loadline.requests")["sum"];
    assert_eq!(sum["aggregationTemporality"], 2);
    assert_eq!(sum["isMonotonic"], true);
    assert_eq!(sum["dataPoints"][0]["asDouble"], 2.0);
    assert_eq!(sum["dataPoints"][0]["timeUnixNano"], "10");
    let gauge = &named("loadline.in_flight")["gauge"]["dataPoints"][0];
    assert_eq!(gauge["asDouble"], 7.0);
    let response = &named("loadline.response.duration")["exponentialHistogram"];
    let point = &response["dataPoints"][0];
    assert_eq!((&point["count"], &point["sum"]), (&"2".into(), &1.5.into()));
    let counts = point["positive"]["bucketCounts"].as_array().unwrap();
    assert_eq!(
        (&counts[0], counts.last().unwrap()),
        (&"1".into(), &"1".into())
    );
    let service = &named("http.client.request.duration")["exponentialHistogram"];
    let exemplar = &service["dataPoints"][0]["exemplars"][0];
    assert_eq!(exemplar["traceId"], "000000000000000000000000000000ab");
    assert_eq!(exemplar["spanId"], "0000000000000001");
    assert_eq!(exemplar["asDouble"], 0.5);
    assert_eq!(layout.total.iter().count(), 5);
    let again = layout.request(20);
    let text = serde_json::to_string(&again).unwrap();
    assert!(!text.contains("traceId"), "an exemplar is sent once");
}

#[test]
fn what_json_has_no_number_for_is_a_text() {
    let key = |metric: &str| SeriesKey {
        metric: metric.into(),
        unit: Unit::None,
        labels: labels([]),
    };
    let mut layout = layout(false, false);
    for (name, value) in [("a", f64::NAN), ("b", f64::INFINITY), ("c", -f64::INFINITY)] {
        layout.total.add(key(name), Value::Gauge(value, 1));
    }
    let text = serde_json::to_string(&layout.request(10)).unwrap();
    for expected in ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""] {
        assert!(text.contains(&format!("\"asDouble\":{expected}")), "{text}");
    }
}

#[test]
fn a_distribution_has_the_unit_of_its_values() {
    let metrics = metrics(&mut layout(false, false), 10);
    let found = metrics
        .iter()
        .find(|one| one.name == "loadline.response.duration");
    let metric = found.unwrap();
    assert_eq!(metric.unit, "s");
    let Some(Data::Exponential(histogram)) = &metric.data else {
        panic!("{metric:?}");
    };
    let point = &histogram.data_points[0];
    assert_eq!((point.count, point.sum), (2, Some(1.5)));
    assert_eq!((point.min, point.max), (Some(0.5), Some(1.0)));
    assert_eq!(point.attributes, [text("name", "a")]);
}

#[test]
fn fixed_bounds_count_what_lies_up_to_them() {
    let layout = layout(false, true);
    // A value at a bound itself may count above it: buckets are a 256th of an octave wide.
    let point = layout.fixed(&of(&[0.0, 4.98, 5.02, 20_000.0]), Vec::new(), 10);
    assert_eq!(point.bucket_counts.iter().sum::<u64>(), 4);
    assert_eq!(&point.bucket_counts[..3], [1, 1, 1]);
    assert_eq!(point.bucket_counts.last(), Some(&1));
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
}

proptest! {
    #[test]
    fn a_value_lies_in_the_bucket_that_its_receiver_reads(
        value in 1e-6..1e4_f64, other in 1e-6..1e4_f64,
    ) {
        let layout = layout(false, false);
        let point = layout.exponential(&of(&[value, other]), Vec::new(), 10);
        let buckets = point.positive.unwrap();
        prop_assert_eq!(buckets.bucket_counts.iter().sum::<u64>(), 2);
        prop_assert!(buckets.bucket_counts.len() <= MOST_BUCKETS as usize);
        let first = value.min(other);
        // The bucket with index i is from base^i to base^(i + 1).
        let low = exponential(point.scale, buckets.offset);
        let high = exponential(point.scale, buckets.offset + 1);
        prop_assert!(first > low * (1.0 - 1e-14) && first <= high * (1.0 + 1e-14));
    }
}
