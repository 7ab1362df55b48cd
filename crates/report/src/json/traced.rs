//! The slowest requests whose traces are known.

use super::us;
use loadline_json as json;
use loadline_metrics::Key;
use loadline_record::{Summary, TracedRequest};
use loadline_units::rounding;

pub(super) fn traced(summary: &Summary) -> Vec<json::TracedRequest> {
    let slowest = summary.total.traced.slowest();
    let start_ns = summary.total.start_ns;
    slowest
        .map(|(key, request)| one(key, request, start_ns))
        .collect()
}

fn one(key: Option<&Key>, request: &TracedRequest, start_ns: u64) -> json::TracedRequest {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    let after_ns = request.end_ns.saturating_sub(start_ns);
    json::TracedRequest {
        trace_id: format!("{:032x}", request.trace.id),
        span_id: format!("{:016x}", request.trace.span),
        response_us: us(request.response_ns as f64),
        end_s: json::Seconds(rounding::seconds(after_ns)),
        status: request.status,
        name: key.map(|key| key.name().to_owned()),
        tags: key.into_iter().flat_map(Key::tags).map(owned).collect(),
    }
}
