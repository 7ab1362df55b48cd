//! The responses of an interval that report errors.

use super::error::CarryError;
use super::names::{KnownNames, SentNames};
use crate::{ErrorResponse, ErrorResponses};
use serde::{Deserialize, Serialize};

/// The responses, in their order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CarriedErrorResponses(Vec<OneResponse>);

#[derive(Debug, Serialize, Deserialize)]
struct OneResponse {
    /// The number of its name; `None` if all requests have the same.
    name: Option<u32>,
    end_ns: u64,
    status: u16,
    body: String,
    is_cut: bool,
}

impl CarriedErrorResponses {
    pub(super) fn of(responses: &ErrorResponses, names: &mut SentNames) -> Self {
        let carried = responses.iter().map(|(key, response)| OneResponse {
            name: key.map(|key| names.number(key)),
            end_ns: response.end_ns,
            status: response.status,
            body: response.body.clone(),
            is_cut: response.is_cut,
        });
        CarriedErrorResponses(carried.collect())
    }

    /// Returns the responses that were sent.
    ///
    /// # Errors
    /// If a name was not sent before.
    pub(super) fn responses(self, names: &KnownNames) -> Result<ErrorResponses, CarryError> {
        let mut responses = Vec::new();
        for one in self.0 {
            let key = match one.name {
                Some(number) => Some(names.name(number)?.clone()),
                None => None,
            };
            let response = ErrorResponse {
                end_ns: one.end_ns,
                status: one.status,
                body: one.body,
                is_cut: one.is_cut,
            };
            responses.push((key, response));
        }
        Ok(ErrorResponses::of_responses(responses))
    }
}
