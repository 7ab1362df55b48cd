//! The slowest requests of an interval that carried a trace.

use super::error::CarryError;
use super::names::{KnownNames, SentNames};
use crate::traced::{Trace, Traced, TracedRequest};
use serde::{Deserialize, Serialize};

/// The requests, the slowest first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CarriedTraced(Vec<OneRequest>);

#[derive(Debug, Serialize, Deserialize)]
struct OneRequest {
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
        let requests = traced.iter().map(|(key, request)| OneRequest {
            name: key.map(|key| names.number(key)),
            id: request.trace.id,
            span: request.trace.span,
            is_sampled: request.trace.is_sampled,
            response_ns: request.response_ns,
            end_ns: request.end_ns,
            status: request.status,
        });
        CarriedTraced(requests.collect())
    }

    /// Returns the requests that were sent.
    ///
    /// # Errors
    /// If a name was not sent.
    pub(super) fn traced(self, names: &KnownNames) -> Result<Traced, CarryError> {
        let request = |one: OneRequest| {
            let name = one.name.map(|number| names.name(number).cloned());
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
            Ok((name.transpose()?, request))
        };
        let requests: Result<_, _> = self.0.into_iter().map(request).collect();
        Ok(Traced::of_requests(requests?))
    }
}
