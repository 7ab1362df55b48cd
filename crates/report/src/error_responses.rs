//! Responses that report errors, with the number of those that they are examples of.

use crate::{layout, names};
use loadline_metrics::{Key, Series};
use loadline_record::{ErrorResponse, Summary};

/// A response, as an example of all with its name and status.
pub(crate) struct Example<'a> {
    /// The key of its series; `None` if all requests have the same name.
    pub(crate) key: Option<&'a Key>,
    /// The name as tables have it; empty if all requests have the same.
    pub(crate) label: String,
    pub(crate) response: &'a ErrorResponse,
    /// True if a script rejected it, whatever its status.
    pub(crate) is_rejected: bool,
    /// The number of responses with this name and status; of rejected ones with this name.
    pub(crate) count: u64,
    /// The instant of its end, in nanoseconds from the begin of the measured part.
    pub(crate) after_ns: u64,
}

/// Returns the responses, those with the most severe statuses first.
pub(crate) fn examples(summary: &Summary) -> Vec<Example<'_>> {
    let total = &summary.total;
    if total.error_responses.is_empty() {
        return Vec::new();
    }
    let series = total.series.busiest();
    let labels = names::labels(&series);
    let label_of = |key: &Key| {
        let place = series.iter().position(|(own, _)| *own == key);
        place.map_or_else(
            || layout::harmless(&key.to_string()),
            |place| labels[place].clone(),
        )
    };
    let each = total.error_responses.iter().map(|(key, response)| {
        // An example of a series that was joined with the others counts what is known of it alone.
        let known = key.and_then(|key| total.series.get(key));
        Example {
            key,
            label: key.map(label_of).unwrap_or_default(),
            response,
            is_rejected: response.status < 400,
            count: count(summary, known, response.status).max(1),
            after_ns: response.end_ns.saturating_sub(total.start_ns),
        }
    });
    each.collect()
}

fn count(summary: &Summary, series: Option<&Series>, status: u16) -> u64 {
    let total = &summary.total;
    let count = match (series, status < 400) {
        (Some(series), true) => return series.rejected,
        (Some(series), false) => series.statuses.get(&status),
        (None, true) => total.rejected.get(&status),
        (None, false) => total.statuses.get(&status),
    };
    count.copied().unwrap_or(0)
}
