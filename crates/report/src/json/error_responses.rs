//! Responses that report errors.

use crate::error_responses::{Example, examples};
use loadline_json as json;
use loadline_metrics::Key;
use loadline_record::Summary;
use loadline_units::rounding;

pub(super) fn error_responses(summary: &Summary) -> Vec<json::ErrorResponse> {
    examples(summary).iter().map(one).collect()
}

fn one(example: &Example<'_>) -> json::ErrorResponse {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    let Example { key, response, .. } = example;
    json::ErrorResponse {
        status: response.status,
        count: example.count,
        end_s: json::Seconds(rounding::seconds(example.after_ns)),
        body: response.body.clone(),
        is_cut: response.is_cut,
        name: key.map(|key| key.name().to_owned()),
        tags: (*key).into_iter().flat_map(Key::tags).map(owned).collect(),
    }
}
