//! OpenTelemetry's protocol, read by the field numbers of its published definition.

use super::bodies::Bodies;
use super::{list, listed, run_with};
use crate::rig::{serve, url};

/// A field of a protobuf message.
#[derive(Clone, Debug)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Reads the fields of a message, by the encoding that protobuf documents.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes) as usize;
                Field::Bytes(take(&mut bytes, length).to_vec())
            }
            kind => panic!("a field of kind {kind}"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for index in 0.. {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 127) << (7 * index);
        if byte < 128 {
            break;
        }
    }
    number
}

/// The messages in the field with this number.
pub(super) fn messages(message: &[u8], number: u64) -> Vec<Vec<u8>> {
    let all = fields(message).into_iter();
    let found = all.filter_map(|(own, field)| match field {
        Field::Bytes(bytes) if own == number => Some(bytes),
        _ => None,
    });
    found.collect()
}

pub(super) fn text(message: &[u8], number: u64) -> String {
    let found = messages(message, number).into_iter().next();
    String::from_utf8(found.unwrap_or_default()).unwrap()
}

pub(super) fn number(message: &[u8], wanted: u64) -> u64 {
    let mut all = fields(message).into_iter();
    let found = all.find_map(|(own, field)| match field {
        Field::Number(number) if own == wanted => Some(number),
        _ => None,
    });
    found.unwrap_or_default()
}

/// The metrics of a request: ExportMetricsServiceRequest, ResourceMetrics, ScopeMetrics.
pub(super) fn metrics(request: &[u8]) -> Vec<Vec<u8>> {
    let resources = messages(request, 1);
    let scopes = resources.iter().flat_map(|resource| messages(resource, 2));
    scopes.flat_map(|scope| messages(&scope, 2)).collect()
}

fn named(request: &[u8], name: &str) -> Vec<u8> {
    let all = metrics(request);
    let names: Vec<String> = all.iter().map(|metric| text(metric, 1)).collect();
    let found = all.into_iter().find(|metric| text(metric, 1) == name);
    found.unwrap_or_else(|| panic!("{name} is not in {names:?}"))
}

/// The attributes of a point or a resource, as a text.
pub(super) fn attributes(message: &[u8], number: u64) -> Vec<String> {
    let pairs = messages(message, number).into_iter();
    let pairs = pairs.map(|pair| {
        let value = messages(&pair, 2).remove(0);
        format!("{}={}", text(&pair, 1), text(&value, 1))
    });
    pairs.collect()
}

#[test]
fn a_run_arrives_as_sums_and_exponential_histograms() {
    let (server, receiver) = (serve(), Bodies::listen());
    let folder = tempfile::tempdir().unwrap();
    let urls = list(&folder, &[("one", url(&server, "delay=20ms"))]);
    let output = format!("otlp=http://{}", receiver.address);
    let said = run_with(
        &listed(&urls, "3s", &output),
        &[
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-scope=7"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1000"),
        ],
    );
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let taken = receiver.taken();
    assert!(taken.len() >= 2, "{}", taken.len());
    let (head, last) = taken.last().unwrap();
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nx-scope: 7\r\n"), "{head}");
    let resource = messages(&messages(last, 1)[0], 1).remove(0);
    assert_eq!(
        attributes(&resource, 1),
        ["deployment.environment=test", "service.name=loadline"]
    );
    let sum = messages(&named(last, "loadline.requests"), 7).remove(0);
    assert_eq!(
        (number(&sum, 2), number(&sum, 3)),
        (2, 1),
        "cumulative and monotonic"
    );
    let answered = messages(&sum, 1).into_iter();
    let answered = answered.filter(|point| attributes(point, 7) == ["outcome=answered"]);
    let answered: Vec<f64> = answered
        .map(|point| f64::from_bits(number(&point, 4)))
        .collect();
    assert!(answered[0] > 200.0, "{answered:?}");
    let metric = named(last, "loadline.response.duration");
    assert_eq!(text(&metric, 3), "s");
    let histogram = messages(&metric, 10).remove(0);
    let point = messages(&histogram, 1).remove(0);
    assert_eq!(attributes(&point, 1), ["name=one"]);
    assert_eq!(number(&point, 4) as f64, answered[0]);
    assert_in_bucket(&point, 0.02, 0.2);
    named(last, "http.client.request.duration");
}

/// Asserts that all values lie between these, by the buckets of the point.
fn assert_in_bucket(point: &[u8], low: f64, high: f64) {
    let zigzag = |number: u64| (number >> 1) as i64 ^ -((number & 1) as i64);
    let scale = zigzag(number(point, 6));
    let buckets = messages(point, 8).remove(0);
    let offset = zigzag(number(&buckets, 1));
    let packed = messages(&buckets, 2).remove(0);
    let mut rest = &packed[..];
    let (mut index, mut sum) = (offset, 0);
    while !rest.is_empty() {
        let count = varint(&mut rest);
        let base = |index: i64| (index as f64 * (-scale as f64).exp2()).exp2();
        if count > 0 {
            assert!(
                base(index + 1) >= low && base(index) <= high,
                "bucket {index}"
            );
        }
        sum += count;
        index += 1;
    }
    assert_eq!(sum, number(point, 4));
}
