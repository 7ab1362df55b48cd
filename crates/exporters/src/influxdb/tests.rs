use super::*;
use crate::native::labels;
use crate::{Measured, Unit};

fn lines(fields: Vec<Field>, most_bytes: usize) -> Lines {
    Lines {
        fields,
        precision_ns: 1,
        prefix: "loadline_".to_owned(),
        most_bytes,
        instants: Instants::default(),
        has_overflowed: false,
    }
}

fn text(messages: &[Message]) -> String {
    let bodies = messages.iter().map(|message| message.body.clone());
    String::from_utf8(bodies.collect::<Vec<_>>().concat()).unwrap()
}

fn point(labels: crate::Labels, weight: f64) -> Batch {
    Batch {
        points: vec![Point {
            metric: "http_req_duration".into(),
            at_ns: 1_500_000_000_123_456_789,
            value: 12.5,
            labels,
            weight,
        }],
        ..Batch::default()
    }
}

#[test]
fn a_value_of_k6_is_a_point_with_some_tags_as_fields() {
    let fields = vec![
        Field {
            tag: "url".to_owned(),
            kind: FieldKind::Text,
        },
        Field {
            tag: "vu".to_owned(),
            kind: FieldKind::Integer,
        },
    ];
    let tags = labels([
        ("method", "GET"),
        ("name", "a b,c=d"),
        ("group", ""),
        ("url", "http://a/\"x\\"),
        ("vu", "7"),
    ]);
    let written = lines(fields, MOST_BYTES).write(&[Arc::new(point(tags, 1.0))]);
    assert_eq!(
        text(&written),
        "http_req_duration,method=GET,name=a\\ b\\,c\\=d url=\"http://a/\\\"x\\\\\",vu=7i,\
         value=12.5 1500000000123456789\n"
    );
}

#[test]
fn a_value_that_stands_for_several_says_so() {
    let written = lines(Vec::new(), MOST_BYTES).write(&[Arc::new(point(labels([]), 3.0))]);
    assert!(text(&written).contains(" weight=3,value=12.5 "));
}

#[test]
fn an_interval_makes_one_point_of_each_series() {
    let mut histogram = Histogram::default();
    for value in [0.25, 0.5, 1.0, 2.0] {
        histogram.add(value, 1);
    }
    let mut measured = Measured::default();
    let key = |metric: &str| SeriesKey {
        metric: metric.into(),
        unit: Unit::Seconds,
        labels: labels([("name", "a")]),
    };
    measured.add(key("requests"), Value::Counter(3.0));
    measured.add(key("response"), Value::Histogram(Box::new(histogram)));
    measured.add(key("nothing"), Value::Histogram(Box::default()));
    let batch = Batch {
        at_ns: 9,
        measured,
        ..Batch::default()
    };
    let written = lines(Vec::new(), MOST_BYTES).write(&[Arc::new(batch)]);
    assert_eq!(
        text(&written),
        "loadline_requests,name=a value=3 9\n\
         loadline_response,name=a count=4i,sum=3.75,mean=0.9375,min=0.25,p50=0.5,p90=2,p95=2,\
         p99=2,max=2 9\n"
    );
}

#[test]
fn messages_end_at_lines_and_are_no_longer_than_allowed() {
    let many: Vec<Arc<Batch>> = (0..50)
        .map(|_| Arc::new(point(labels([("name", "a")]), 1.0)))
        .collect();
    let written = lines(Vec::new(), 512).write(&many);
    assert!(written.len() > 1);
    for message in &written {
        assert!(message.body.len() <= 512 && message.body.ends_with(b"\n"));
    }
    assert_eq!(text(&written).lines().count(), 50);
}

#[test]
fn no_text_breaks_its_line() {
    assert_eq!(escaped("a\nb\\", &[',', ' ']), "a_b");
    assert_eq!(escaped("ü", &[',']), "ü");
}
