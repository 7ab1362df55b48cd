//! Responses that report errors in a saved run's lines.

use crate::error::LineError;
use crate::error_response::{ErrorResponse, ErrorResponses};
use loadline_metrics::Key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A response with its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredErrorResponse {
    status: u16,
    end_ns: u64,
    body: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    /// The name; absent if all requests have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
}

impl StoredErrorResponse {
    /// Encodes every response, in their order.
    pub(crate) fn encode_all(responses: &ErrorResponses) -> Vec<StoredErrorResponse> {
        let all = responses.iter();
        all.map(|(key, response)| StoredErrorResponse::encode(key, response))
            .collect()
    }

    /// Decodes the set of these responses.
    pub(crate) fn decode_all(stored: &[StoredErrorResponse]) -> Result<ErrorResponses, LineError> {
        let decode = |one: &StoredErrorResponse| {
            one.decode().ok_or_else(|| LineError::Series {
                name: one.name.clone().unwrap_or_default(),
            })
        };
        let responses: Result<_, LineError> = stored.iter().map(decode).collect();
        responses.map(ErrorResponses::of_responses)
    }

    fn encode(key: Option<&Key>, response: &ErrorResponse) -> StoredErrorResponse {
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        StoredErrorResponse {
            status: response.status,
            end_ns: response.end_ns,
            body: response.body.clone(),
            is_cut: response.is_cut,
            name: key.map(|key| key.name().to_owned()),
            tags: key.into_iter().flat_map(Key::tags).map(owned).collect(),
        }
    }

    fn decode(&self) -> Option<(Option<Key>, ErrorResponse)> {
        let key = match &self.name {
            Some(name) => Some(Key::tagged(name, self.tags.clone()).ok()?),
            None => None,
        };
        let response = ErrorResponse {
            end_ns: self.end_ns,
            status: self.status,
            body: self.body.clone(),
            is_cut: self.is_cut,
        };
        Some((key, response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: &str) -> ErrorResponse {
        ErrorResponse {
            end_ns: 9,
            status,
            body: body.to_owned(),
            is_cut: status == 404,
        }
    }

    #[test]
    fn responses_are_read_back_as_they_were_saved() {
        let tags = [("user".to_owned(), "new".to_owned())];
        let key = Key::tagged("login", tags.into()).unwrap();
        let responses = ErrorResponses::of_responses(vec![
            (Some(key), response(503, "no room »here«\n")),
            (None, response(404, "")),
        ]);
        let text = serde_json::to_string(&StoredErrorResponse::encode_all(&responses)).unwrap();
        let read: Vec<StoredErrorResponse> = serde_json::from_str(&text).unwrap();
        assert_eq!(StoredErrorResponse::decode_all(&read).unwrap(), responses);
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        let text = r#"[{"status":500,"end_ns":1,"body":"x","name":""}]"#;
        let read: Vec<StoredErrorResponse> = serde_json::from_str(text).unwrap();
        assert!(StoredErrorResponse::decode_all(&read).is_err());
    }
}
