//! The slowest requests of an interval that carried a trace.

use super::error::CarryError;
use super::names::{KnownNames, SentNames};
use crate::{Trace, Traced, TracedRequest};
use serde::{Deserialize, Serialize};

/// The requests, the slowest first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CarriedTraced(Vec<OneTraced>);

#[derive(Debug, Serialize, Deserialize)]
struct OneTraced {
    /// The number of its name; `None` if all requests have the same.
    name: Option<u32>,
    id: u128,
    span: u64,
    is_sampled: bool,
    response_ns: u64,
    end_ns: u64,
    status: Option<u16>,
}

impl CarriedTraced {
    pub(super) fn of(traced: &Traced, names: &mut SentNames) -> Self {
        let carried = traced.iter().map(|(key, request)| OneTraced {
            name: key.map(|key| names.number(key)),
            id: request.trace.id,
            span: request.trace.span,
            is_sampled: request.trace.is_sampled,
            response_ns: request.response_ns,
            end_ns: request.end_ns,
            status: request.status,
        });
        CarriedTraced(carried.collect())
    }

    /// Returns the requests that were sent.
    ///
    /// # Errors
    /// If a name was not sent before.
    pub(super) fn traced(self, names: &KnownNames) -> Result<Traced, CarryError> {
        let mut requests = Vec::new();
        for one in self.0 {
            let key = match one.name {
                Some(number) => Some(names.name(number)?.clone()),
                None => None,
            };
            let trace = Trace {
                id: one.id,
                span: one.span,
                is_sampled: one.is_sampled,
            };
            let request = TracedRequest {
                trace,
                response_ns: one.response_ns,
                end_ns: one.end_ns,
                status: one.status,
            };
            requests.push((key, request));
        }
        Ok(Traced::of_requests(requests))
    }
}
