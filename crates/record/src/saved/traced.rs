//! The slowest traced requests in a saved run's lines.

use crate::error::LineError;
use crate::traced::{Trace, Traced, TracedRequest};
use loadline_metrics::Key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A request with the identifiers of its trace as hexadecimal text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredTraced {
    trace_id: String,
    span_id: String,
    /// The name; absent if all requests have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    response_ns: u64,
    end_ns: u64,
    /// The status; absent if it timed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

impl StoredTraced {
    /// Encodes every request, the slowest first.
    pub(crate) fn encode_all(traced: &Traced) -> Vec<StoredTraced> {
        let all = traced.iter();
        all.map(|(key, request)| StoredTraced::encode(key, request))
            .collect()
    }

    /// Decodes the set of these requests.
    pub(crate) fn decode_all(stored: &[StoredTraced]) -> Result<Traced, LineError> {
        let decode = |one: &StoredTraced| {
            one.decode().ok_or_else(|| LineError::Trace {
                id: one.trace_id.clone(),
            })
        };
        let requests: Result<_, LineError> = stored.iter().map(decode).collect();
        requests.map(Traced::of_requests)
    }

    fn encode(key: Option<&Key>, request: &TracedRequest) -> StoredTraced {
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        StoredTraced {
            trace_id: format!("{:032x}", request.trace.id),
            span_id: format!("{:016x}", request.trace.span),
            name: key.map(|key| key.name().to_owned()),
            tags: key.map_or_else(BTreeMap::new, |key| key.tags().map(owned).collect()),
            response_ns: request.response_ns,
            end_ns: request.end_ns,
            status: request.status,
        }
    }

    fn decode(&self) -> Option<(Option<Key>, TracedRequest)> {
        let key = match &self.name {
            Some(name) => Some(Key::tagged(name, self.tags.clone()).ok()?),
            None => None,
        };
        let request = TracedRequest {
            trace: Trace {
                id: u128::from_str_radix(&self.trace_id, 16).ok()?,
                span: u64::from_str_radix(&self.span_id, 16).ok()?,
                is_sampled: true,
            },
            response_ns: self.response_ns,
            end_ns: self.end_ns,
            status: self.status,
        };
        Some((key, request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_back_as_they_were_saved() {
        let request = |id: u128, status| TracedRequest {
            trace: Trace {
                id,
                span: 7,
                is_sampled: true,
            },
            response_ns: 5,
            end_ns: 9,
            status,
        };
        let tags = [("user".to_owned(), "new".to_owned())];
        let key = Key::tagged("login", tags.into()).unwrap();
        let traced = Traced::of_requests(vec![
            (Some(key), request(u128::MAX, Some(503))),
            (None, request(1, None)),
        ]);
        let text = serde_json::to_string(&StoredTraced::encode_all(&traced)).unwrap();
        let read: Vec<StoredTraced> = serde_json::from_str(&text).unwrap();
        assert_eq!(StoredTraced::decode_all(&read).unwrap(), traced);
    }

    #[test]
    fn an_identifier_that_is_none_is_refused() {
        let text = r#"[{"trace_id":"xyz","span_id":"1","response_ns":1,"end_ns":2}]"#;
        let read: Vec<StoredTraced> = serde_json::from_str(text).unwrap();
        let refusal = StoredTraced::decode_all(&read).unwrap_err().to_string();
        assert!(refusal.contains("`xyz`"), "{refusal}");
    }
}
