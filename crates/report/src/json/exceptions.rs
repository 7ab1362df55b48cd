//! Exceptions of a script.

use crate::exceptions::after_ns;
use loadline_json as json;
use loadline_record::{Exception, Summary};
use loadline_units::rounding;

pub(super) fn exceptions(summary: &Summary) -> Vec<json::Exception> {
    let each = summary.total.exceptions.iter();
    each.map(|exception| one(exception, summary)).collect()
}

fn one(exception: &Exception, summary: &Summary) -> json::Exception {
    json::Exception {
        count: exception.count,
        kind: Some(exception.kind.clone()).filter(|kind| !kind.is_empty()),
        message: exception.message.clone(),
        trace: exception.trace.clone(),
        first_s: json::Seconds(rounding::seconds(after_ns(exception, summary))),
        parts: exception.parts.iter().cloned().collect(),
    }
}
