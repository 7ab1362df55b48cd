use super::*;
use crate::exponential;
use proptest::prelude::*;

fn form() -> Form {
    Form {
        prefix: "k6_".to_owned(),
        stats: vec![Stat::parse("p(99)").unwrap(), Stat::parse("avg").unwrap()],
        histograms: true,
        schema: 3,
        marks_stale: true,
    }
}

fn key(metric: &str, unit: Unit, labels: &[(&str, &str)]) -> SeriesKey {
    let labels = labels.iter();
    SeriesKey {
        metric: metric.into(),
        unit,
        labels: labels
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

fn of(values: &[f64]) -> Histogram {
    let mut histogram = Histogram::default();
    values.iter().for_each(|value| histogram.add(*value, 1));
    histogram
}

fn batch(at_ms: u64) -> Batch {
    let mut measured = Measured::default();
    let labels = [("url", "http://a/"), ("group", ""), ("my-tag", "x")];
    measured.add(key("http_reqs", Unit::None, &labels), Value::Counter(2.0));
    measured.add(key("vus", Unit::None, &[]), Value::Gauge(7.0, at_ms));
    measured.add(key("checks", Unit::None, &[]), Value::Rate(1, 4));
    let times = Value::Histogram(Box::new(of(&[0.5, 1.0])));
    measured.add(key("http_req_duration", Unit::Seconds, &[]), times);
    Batch {
        at_ns: at_ms * 1_000_000,
        measured,
        ..Batch::default()
    }
}

fn read(message: &Message) -> Vec<TimeSeries> {
    let bytes = snap::raw::Decoder::new().decompress_vec(&message.body);
    let request = WriteRequest::decode(&bytes.unwrap()[..]);
    request.unwrap().timeseries
}

fn text(series: &TimeSeries) -> String {
    let labels = series.labels.iter();
    let labels: Vec<String> = labels
        .map(|one| format!("{}={}", one.name, one.value))
        .collect();
    let samples = series.samples.iter();
    let samples = samples.map(|one| format!(" {}@{}", one.value, one.timestamp));
    labels.join(",") + &samples.collect::<String>()
}

#[test]
fn names_and_values_are_those_of_k6() {
    let mut layout = RemoteWrite::new(form());
    let messages = layout.write(&[Arc::new(batch(1_000)), Arc::new(batch(2_000))]);
    let kinds: Vec<Kind> = messages.iter().map(|message| message.kind).collect();
    assert_eq!(kinds, [Kind::Values, Kind::Histograms]);
    let values: Vec<String> = read(&messages[0]).iter().map(text).collect();
    assert_eq!(
        values,
        [
            "__name__=k6_checks_rate 0.25@2000",
            "__name__=k6_http_req_duration_p99 1@2000",
            "__name__=k6_http_req_duration_avg 0.75@2000",
            "__name__=k6_http_reqs_total,my_tag=x,url=http://a/ 4@2000",
            "__name__=k6_vus 7@2000",
        ]
    );
    let histograms = read(&messages[1]);
    assert_eq!(
        text(&histograms[0]),
        "__name__=k6_http_req_duration_seconds"
    );
    let histogram = &histograms[0].histograms[0];
    assert_eq!(histogram.count, Some(Count::Int(4)));
    assert_eq!(
        (histogram.sum, histogram.schema, histogram.timestamp),
        (3.0, 3, 2_000)
    );
}

#[test]
fn traces_follow_their_histogram_once() {
    let mut layout = RemoteWrite::new(form());
    let mut batch = batch(1_000);
    let exemplar = |at_ms: u64, trace_id| crate::Exemplar {
        value: 0.5,
        at_ns: at_ms * 1_000_000,
        trace_id,
        span_id: 2,
    };
    let traced = of(&[0.5, 0.5]).with_exemplars(&[exemplar(900, 1), exemplar(800, 0xab)]);
    let key = key("http_req_duration", Unit::Seconds, &[]);
    batch.measured.add(key, Value::Histogram(Box::new(traced)));
    let series = read(&layout.write(&[Arc::new(batch)])[1]);
    let [histogram, traces] = &series[..] else {
        panic!("{series:?}");
    };
    assert_eq!(
        (histogram.histograms.len(), histogram.exemplars.len()),
        (1, 0)
    );
    assert_eq!(traces.labels, histogram.labels);
    let found: Vec<i64> = traces.exemplars.iter().map(|one| one.timestamp).collect();
    assert_eq!(found, [800, 900]);
    let labels = traces.exemplars[0].labels.iter();
    let labels: Vec<String> = labels
        .map(|one| format!("{}={}", one.name, one.value))
        .collect();
    let trace = "trace_id=000000000000000000000000000000ab";
    assert_eq!(labels, ["span_id=0000000000000002", trace]);
    let again = read(&layout.write(&[Arc::new(Batch::default())])[1]);
    assert_eq!(again.len(), 1, "an exemplar is sent once");
}

#[test]
fn every_series_ends_with_the_run() {
    let mut layout = RemoteWrite::new(form());
    layout.write(&[Arc::new(batch(1_000))]);
    let ends = layout.end();
    let series = read(&ends[0]);
    assert_eq!(series.len(), 6);
    for one in &series {
        assert_eq!(one.samples[0].value.to_bits(), STALE);
        assert_eq!(one.samples[0].timestamp, 1_001);
    }
}

#[test]
fn a_receiver_without_histograms_still_has_the_rest() {
    let mut layout = RemoteWrite::new(form());
    let reason = "it answered 500 (native histograms are disabled)";
    assert!(layout.go_without(Kind::Values, reason).is_none());
    assert!(
        layout
            .go_without(Kind::Histograms, "it answered 500")
            .is_none()
    );
    assert!(layout.go_without(Kind::Histograms, reason).is_some());
    let messages = layout.write(&[Arc::new(batch(1_000))]);
    assert_eq!(messages.len(), 1);
}

#[test]
fn statistics_are_named_as_in_k6() {
    let suffix = |name| Stat::parse(name).map(|stat| stat.suffix);
    assert_eq!(suffix("p(99.9)").as_deref(), Some("p999"));
    assert_eq!(suffix("med").as_deref(), Some("med"));
    for name in ["p99", "p(101)", "p()", "mean", ""] {
        assert_eq!(suffix(name), None, "{name}");
    }
}

#[test]
fn names_have_no_letter_that_prometheus_refuses() {
    assert_eq!(valid_name("a.b-c"), "a_b_c");
    assert_eq!(valid_name("1a"), "_1a");
    assert_eq!(valid_name(""), "_");
}

/// Returns the upper bounds and counts of a histogram's buckets as its receiver reads them.
fn received(histogram: &NativeHistogram) -> Vec<(f64, u64)> {
    let (mut index, mut count) = (0, 0);
    let mut deltas = histogram.positive_deltas.iter();
    let mut buckets = vec![(
        0.0,
        match histogram.zero_count {
            Some(ZeroCount::Int(zero)) => zero,
            None => 0,
        },
    )];
    for span in &histogram.positive_spans {
        index += span.offset;
        for _ in 0..span.length {
            count += deltas.next().unwrap();
            buckets.push((exponential(histogram.schema, index), count as u64));
            index += 1;
        }
    }
    assert_eq!(deltas.next(), None);
    buckets
}

proptest! {
    #[test]
    fn a_quantile_of_the_received_histogram_lies_in_the_bucket_of_the_true_rank(
        mut values in prop::collection::vec(prop_oneof![Just(0.0), 1e-6..60.0_f64], 1..300),
        quantile in 0.0..=1.0_f64,
        schema in 0..=8_i32,
    ) {
        let histogram = native(&of(&values), schema, 0);
        let buckets = received(&histogram);
        let all: u64 = buckets.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(Some(Count::Int(all)), histogram.count);
        values.sort_by(f64::total_cmp);
        let rank = (quantile * values.len() as f64).ceil().max(1.0);
        let exact = values[rank as usize - 1];
        let mut passed = 0;
        let reached = buckets.iter().find(|(_, count)| {
            passed += count;
            passed as f64 >= rank
        });
        let high = reached.unwrap().0;
        let low = high / (-f64::from(histogram.schema)).exp2().exp2();
        prop_assert!(exact <= high * (1.0 + 1e-14) && exact >= low * (1.0 - 1e-14));
    }
}
